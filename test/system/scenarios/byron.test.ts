/**
 * Byron wallets with address pools over HTTP, of the styles icarus, trezor and ledger: from words, from an account's
 * public key, and random ones from the key of an old wallet. Another library derives their addresses too, and the
 * ledger judges their bootstrap witnesses.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { masterKey } from "#src/cardano/keys/master.ts";
import { hashPassphrase } from "#src/cardano/keys/seal.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { byronAddress } from "../../support/chain/byron.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { ADA, PASSPHRASE, PROVIDERS, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";

const BYRON = "byron-wallets";
const NEW_PASSPHRASE = "Another Passphrase";
const NOT_RANDOM = "I cannot derive new address for this wallet type. Make sure to use Byron random wallet id.";

type CreateBody = Parameters<WalletClient["createByron"]>[0];
/** A form of creation: members of the body, and the root key that the service must derive. */
interface Form {
  readonly body: Record<string, string>;
  readonly root: (words: readonly string[]) => csl.Bip32PrivateKey;
}

/** The root key that Emurgo's library derives from the bytes of a mnemonic. */
function icarusRoot(words: readonly string[]): csl.Bip32PrivateKey {
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  return csl.Bip32PrivateKey.from_bip39_entropy(entropy.value, new Uint8Array());
}
/** A root key that golden vectors check, since the library does not know its derivation. */
const ownRoot = (style: "trezor" | "ledger") => (words: readonly string[]) => {
  const root = masterKey({ style, words });
  if (!root.ok) throw new Error(root.error.message);
  return csl.Bip32PrivateKey.from_bytes(new Uint8Array([...root.value.key, ...root.value.chainCode]));
};

const FORMS: Readonly<Record<string, Form>> = {
  icarus: { body: { style: "icarus" }, root: icarusRoot },
  "trezor, as Icarus": { body: { style: "trezor" }, root: icarusRoot },
  "trezor, as the device": { body: { style: "trezor", trezor_derivation: "device" }, root: ownRoot("trezor") },
  ledger: { body: { style: "ledger" }, root: ownRoot("ledger") },
};

const account = (root: csl.Bip32PrivateKey) => root.derive(HARD + 44).derive(HARD + 1815).derive(HARD);
const addressOf = (root: csl.Bip32PrivateKey, role: number, index: number) =>
  csl.ByronAddress.icarus_from_key(account(root).derive(role).derive(index).to_public(), 42).to_base58();

describe.each(PROVIDERS)("Byron wallets with address pools, with the chain from a %s", (provider) => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await Scenario.start({ provider });
  });
  afterAll(() => scenario?.stop());

  const held = async (id: string) => BigInt((await scenario.client.byronWallet(id)).balance.available.quantity);
  const has = (id: string, amount: bigint) => until(`it has ${amount}`, async () => await held(id) === amount, 60_000);
  const listed = async (id: string, query: Record<string, string> = {}) =>
    await scenario.client.addresses(id, query, BYRON);
  const ready = (id: string) =>
    until("it is ready", async () => (await scenario.client.byronWallet(id)).state.status === "ready", 60_000);

  it.each(Object.keys(FORMS))("%s: is paid, pays, survives a rollback, is restored and migrates", async (name) => {
    const { client } = scenario;
    const { body, root: rootOf } = FORMS[name]!;
    const words = newMnemonic(24);
    const root = rootOf(words);
    const create = () =>
      client.createByron({ name, mnemonic_sentence: words, passphrase: PASSPHRASE, ...body } as CreateBody);
    const { id, ...shown } = await create();
    expect(shown).toMatchObject({
      name,
      discovery: "sequential",
      balance: { available: lovelace(0), total: lovelace(0) },
      passphrase: { last_updated_at: expect.any(String) },
    });
    expect(await scenario.refused(create())).toEqual([409, "wallet_already_exists"]);
    expect(await scenario.refused(client.wallet(id))).toEqual([404, "no_such_wallet"]);
    await ready(id);
    const addresses = await listed(id);
    expect(addresses).toEqual(Array.from({ length: 20 }, (_, i) => ({
      id: addressOf(root, 0, i),
      state: "unused",
      derivation_path: ["44H", "1815H", "0H", "0", `${i}`],
    })));
    expect(await client.inspect(addresses[0]!.id)).toMatchObject({ address_style: "Icarus", network_tag: 42 });

    await scenario.faucet(addresses[0]!.id, 4n * ADA);
    await scenario.faucet(addresses[19]!.id, 3n * ADA);
    await has(id, 7n * ADA);
    expect(await listed(id)).toHaveLength(40);
    expect((await listed(id, { state: "used" })).map((one) => one.id)).toEqual([addresses[0]!.id, addresses[19]!.id]);
    expect((await client.statistics(id, BYRON)).distribution).toMatchObject({ "10000000": 2 });
    expect((await client.utxos(id, BYRON)).entries.map(({ ada }) => BigInt(ada.quantity)).sort())
      .toEqual([3n * ADA, 4n * ADA]);

    const other = await scenario.createWallet();
    const target = await scenario.address(other.id);
    const payments = [{ address: target, amount: lovelace(5n * ADA) }];
    const change = addressOf(root, 1, 0);
    const selected = await client.selectCoins(id, { payments }, BYRON);
    expect(selected.change).toMatchObject([{ address: change, derivation_path: ["44H", "1815H", "0H", "1", "0"] }]);
    const fees = await client.fees(id, { payments }, BYRON);
    const pay = (passphrase: string) => client.pay(id, { payments, passphrase }, { prefix: BYRON });
    expect(await scenario.refused(pay(NEW_PASSPHRASE))).toEqual([403, "wrong_encryption_passphrase"]);
    const sent = await pay(PASSPHRASE);
    expect(sent).toMatchObject({ status: "pending", direction: "outgoing" });
    expect(sent.inputs).toHaveLength(2);
    const fee = BigInt(sent.fee.quantity);
    expect(fee).toBeGreaterThanOrEqual(BigInt(fees.estimated_min.quantity));
    expect(fee).toBeLessThanOrEqual(BigInt(fees.estimated_max.quantity));
    const { inserted_at: place } = await scenario.untilInLedger(id, sent.id, BYRON);
    await has(id, 2n * ADA - fee);
    await scenario.untilAvailable(other.id, 5n * ADA);
    expect((await listed(id, { state: "used" })).map((one) => one.id)).toContain(change);
    await scenario.rollbackFrom(place!);
    await scenario.untilInLedger(id, sent.id, BYRON);
    await has(id, 2n * ADA - fee);
    const withdrawing = { payments, withdrawal: "self", passphrase: PASSPHRASE };
    expect(await scenario.refused(client.send("POST", `/${BYRON}/${id}/transactions`, withdrawing)))
      .toEqual([403, "invalid_wallet_type"]);

    const path = `/${BYRON}/${id}/addresses`;
    const requests = [["POST", path, { passphrase: PASSPHRASE }], ["PUT", path, { addresses: [addresses[3]!.id] }], [
      "PUT",
      `${path}/${addresses[3]!.id}`,
    ]] as const;
    for (const [method, at, content] of requests) {
      expect(await scenario.refusal(client.send(method, at, content)))
        .toMatchObject({ status: 403, code: "invalid_wallet_type", message: NOT_RANDOM });
    }

    const passphrases = { old_passphrase: PASSPHRASE, new_passphrase: NEW_PASSPHRASE };
    await client.send("PUT", `/${BYRON}/${id}/passphrase`, passphrases);
    expect(await scenario.refused(client.send("PUT", `/${BYRON}/${id}/passphrase`, passphrases)))
      .toEqual([403, "wrong_encryption_passphrase"]);
    expect(await client.send("PUT", `/${BYRON}/${id}`, { name: "Older" })).toMatchObject({ id, name: "Older" });

    await client.delete(id, BYRON);
    expect(await scenario.refused(client.byronWallet(id))).toEqual([404, "no_such_wallet"]);
    expect((await create()).id).toBe(id);
    await has(id, 2n * ADA - fee);
    expect((await client.transactions(id, { order: "ascending" }, BYRON)).map((one) => one.direction))
      .toEqual(["incoming", "incoming", "outgoing"]);

    const plan = await client.migrationPlan(id, [target], BYRON);
    expect(plan.selections[0]!.inputs.map((one) => one.address)).toEqual([change]);
    const moved = await client.migrate(id, { addresses: [target], passphrase: PASSPHRASE }, { prefix: BYRON });
    for (const one of moved) await scenario.untilInLedger(id, one.id, BYRON);
    await has(id, 0n);
    await scenario.untilAvailable(other.id, 7n * ADA - fee - BigInt(moved[0]!.fee.quantity));
    expect(await scenario.refused(client.migrationPlan(id, [target], BYRON))).toEqual([403, "nothing_to_migrate"]);
  });

  it("from an account's public key: shows its funds and signs nothing", async () => {
    const { client } = scenario;
    const root = icarusRoot(newMnemonic(15));
    const key = toHex(account(root).to_public().as_bytes());
    await scenario.faucet(addressOf(root, 0, 54), 4n * ADA);
    const { id, ...shown } = await client.createByron({
      name: "Watched",
      account_public_key: key,
      address_pool_gap: 55,
    });
    expect([shown.discovery, shown.passphrase]).toEqual(["sequential", undefined]);
    await has(id, 4n * ADA);
    expect(await listed(id)).toHaveLength(55 + 55);
    const payments = [{ address: addressOf(root, 0, 1), amount: lovelace(2n * ADA) }];
    expect((await client.selectCoins(id, { payments }, BYRON)).inputs).toHaveLength(1);
    expect((await client.fees(id, { payments }, BYRON)).estimated_min.quantity).toBeGreaterThan(0);
    expect(await scenario.refused(client.pay(id, { payments, passphrase: PASSPHRASE }, { prefix: BYRON })))
      .toEqual([403, "no_root_key"]);
    const passphrases = { old_passphrase: PASSPHRASE, new_passphrase: NEW_PASSPHRASE };
    expect(await scenario.refused(client.send("PUT", `/${BYRON}/${id}/passphrase`, passphrases)))
      .toEqual([403, "no_root_key"]);
    // so many addresses are derived in parts
    const many = icarusRoot(newMnemonic(12));
    const late = await client.createByron({
      name: "Late",
      account_public_key: toHex(account(many).to_public().as_bytes()),
      address_pool_gap: 1_001,
      restoration_mode: "from_tip",
    });
    expect(late.tip.absolute_slot_number).toBeGreaterThan(0);
    expect((await listed(late.id)).flatMap((one, i) => i % 500 === 0 ? [one.id] : []))
      .toEqual([0, 500, 1_000].map((index) => addressOf(many, 0, index)));
  });

  it("with the words of a Shelley wallet: both live beside each other", async () => {
    const { client } = scenario;
    const words = newMnemonic(15);
    const modern = await scenario.createWallet({ words });
    const create = () =>
      client.createByron({ style: "icarus", name: "Yoroi", mnemonic_sentence: words, passphrase: PASSPHRASE });
    const { id } = await create();
    expect(id).not.toBe(modern.id);
    expect(await scenario.refused(create())).toEqual([409, "wallet_already_exists"]);
    expect(await scenario.refused(client.wallet(id))).toEqual([404, "no_such_wallet"]);
    expect(await scenario.refused(client.byronWallet(modern.id))).toEqual([404, "no_such_wallet"]);
    await ready(id);
    await scenario.faucet(addressOf(icarusRoot(words), 0, 0), 4n * ADA);
    await has(id, 4n * ADA);
    const addresses = [await scenario.address(modern.id)];
    const [moved] = await client.migrate(id, { addresses, passphrase: PASSPHRASE }, { prefix: BYRON });
    await scenario.untilAvailable(modern.id, 4n * ADA - BigInt(moved!.fee.quantity));
    await client.delete(modern.id);
    expect(await scenario.refused(create())).toEqual([409, "wallet_already_exists"]);
    expect((await scenario.createWallet({ words })).id).toBe(modern.id);
    await scenario.untilAvailable(modern.id, 4n * ADA - BigInt(moved!.fee.quantity));
  });

  it("hold nothing at addresses that only share the root of one of theirs, once they sign", async () => {
    const { client } = scenario;
    const words = newMnemonic(15);
    const { id } = await client.createByron({
      style: "icarus",
      name: "Robbed",
      mnemonic_sentence: words,
      passphrase: PASSPHRASE,
    });
    await ready(id);
    const [mine] = await listed(id);
    const read = parseAddress(mine!.id);
    if (!read.ok || read.value.kind !== "byron") throw new Error(`${mine!.id} is none of Byron`);
    const attributes = { 1: encode(new Uint8Array(20)) };
    const forged = readAddressHex(byronAddress({ root: fromHex(read.value.byron.root), attributes }));
    if (!forged.ok) throw new Error(forged.error.message);
    await scenario.faucet(mine!.id, 20n * ADA);
    await scenario.faucet(addressText(forged.value), 50n * ADA);
    await has(id, 70n * ADA);
    const payments = [{ address: mine!.id, amount: lovelace(60n * ADA) }];
    const pay = client.pay(id, { payments, passphrase: PASSPHRASE }, { prefix: BYRON });
    expect(await scenario.refused(pay)).toEqual([403, "not_enough_money"]);
    await has(id, 20n * ADA);
  });

  it("random ones from the key of an old wallet: its passphrase, also an empty one, opens it", async () => {
    const { client } = scenario;
    const [{ input, expected }] = walletVectors("byron-xprv") as [ReturnType<typeof walletVectors>[number]];
    const { id, ...shown } = await client.createByron({ style: "random", name: "Old", ...input });
    expect([shown.discovery, shown.passphrase]).toEqual(["random", undefined]);
    expect((await client.get<{ id: string; passphrase?: unknown }[]>(`/${BYRON}`)).find((one) => one.id === id))
      .not.toHaveProperty("passphrase");
    const make = (passphrase: string) =>
      client.send<{ id: string }>("POST", `/${BYRON}/${id}/addresses`, { passphrase });
    expect(await scenario.refused(make(PASSPHRASE))).toEqual([403, "wrong_encryption_passphrase"]);
    const address = await make(expected.passphrase);
    await scenario.faucet(address.id, 4n * ADA);
    await has(id, 4n * ADA);
    await client.send("PUT", `/${BYRON}/${id}/passphrase`, { new_passphrase: NEW_PASSPHRASE });
    expect(await scenario.refused(make(expected.passphrase))).toEqual([403, "wrong_encryption_passphrase"]);
    // whose method, argon2id-v2, is none that clients know for these wallets
    const shownNow = await until("the passphrase is shown", async () => (await client.byronWallet(id)).passphrase);
    expect(shownNow).not.toHaveProperty("encryption_method");
    const payments = [{ address: address.id, amount: lovelace(2n * ADA) }];
    const sent = await client.pay(id, { payments, passphrase: NEW_PASSPHRASE }, { prefix: BYRON });
    await scenario.untilInLedger(id, sent.id, BYRON);

    // a key whose hash is of PBKDF2, and a hash that no passphrase has
    const key = (byte: string) => byte.repeat(192) + input.encrypted_root_private_key.slice(192);
    const pbkdf2 = toHex(hashPassphrase(PASSPHRASE, new Uint8Array(16)));
    for (
      const [fill, hash, method] of [["0", pbkdf2, "pbkdf2-hmac-sha512"], ["1", toHex(utf8("none")), "scrypt"]] as const
    ) {
      const made = await client.createByron({
        name: "Older",
        encrypted_root_private_key: key(fill),
        passphrase_hash: hash,
      });
      expect(made.passphrase?.encryption_method).toBe(method);
      const wrong = client.send("POST", `/${BYRON}/${made.id}/addresses`, { passphrase: PASSPHRASE });
      expect(await scenario.refused(wrong)).toEqual([403, "wrong_encryption_passphrase"]);
    }
  });

  it("malformed forms are refused at the field that is wrong", async () => {
    const { client } = scenario;
    // no message has "sausage" by itself, as it may have a random word
    const words = "legal winner thank year wave sausage worth useful legal winner thank yellow".split(" ");
    const whole = { name: "A", mnemonic_sentence: words, passphrase: PASSPHRASE };
    const refused = async (body: unknown) => {
      const { status, message } = await scenario.refusal(client.send("POST", `/${BYRON}`, body));
      expect([status, message.includes("sausage")]).toEqual([400, false]);
      return message;
    };
    expect(await refused({ ...whole, style: "radom" })).toContain("unrecognized wallet's style.");
    expect(await refused({ ...whole, style: "icarus", mnemonic_sentence: newMnemonic(9) }))
      .toBe("Error in $['mnemonic_sentence']: Invalid number of words: 12, 15, 18, 21 or 24 words are expected.");
    expect(await refused({ name: "A", style: "ledger", passphrase: PASSPHRASE }))
      .toBe("Error in $: key 'mnemonic_sentence' not found");
    expect(await refused({ name: "A", account_public_key: "00" })).toBe(
      "Error in $['account_public_key']: Invalid account public key: expecting a hex-encoded value that is 64 bytes in length.",
    );
    // no point of the curve has this y
    const none = { name: "A", account_public_key: `02${"00".repeat(63)}` };
    const sentence =
      "Error in $['account_public_key']: Invalid account public key: its first 32 bytes are no key of Ed25519.";
    expect(await refused(none)).toBe(sentence);
    expect((await scenario.refusal(client.send("POST", "/wallets", none))).message).toBe(sentence);
    expect(await refused({ name: "A", account_public_key: "00".repeat(64), address_pool_gap: 9 }))
      .toBe("Error in $['address_pool_gap']: An address pool gap must be a natural number between 10 and 100000.");
    expect(await refused({ name: "A", style: "random", encrypted_root_private_key: "00", passphrase_hash: "00" }))
      .toContain("Error in $['encrypted_root_private_key']: ");
    expect(await refused({ ...whole, style: "ledger", trezor_derivation: "device" }))
      .toContain("Error in $['trezor_derivation']: ");
  });
});

it("a wallet with address pools is as it was after a restart", async () => {
  const infra = await sharedInfra();
  const words = newMnemonic(12);
  const root = icarusRoot(words);
  let arbor = await Arbor.start({ infra });
  try {
    let client = new WalletClient(arbor.wallets);
    const { id } = await client.createByron({
      style: "icarus",
      name: "Lasting",
      mnemonic_sentence: words,
      passphrase: PASSPHRASE,
    });
    const has = (amount: bigint) =>
      until(
        `it has ${amount}`,
        async () => BigInt((await client.byronWallet(id)).balance.available.quantity) === amount,
        60_000,
      );
    const faucet = (index: number) =>
      http(arbor.devnet, "POST", "/faucet", { address: addressOf(root, 0, index), lovelace: Number(3n * ADA) });
    await faucet(2);
    await has(3n * ADA);
    await arbor.end();
    arbor = await Arbor.start({ infra });
    client = new WalletClient(arbor.wallets);
    await has(3n * ADA);
    await faucet(22);
    await has(6n * ADA);
    const payments = [{ address: addressOf(root, 0, 0), amount: lovelace(4n * ADA) }];
    const sent = await client.pay(id, { payments, passphrase: PASSPHRASE }, { prefix: BYRON });
    await has(6n * ADA - BigInt(sent.fee.quantity));
    expect(await client.addresses(id, {}, BYRON)).toHaveLength(43 + 1);
  } finally {
    await arbor.end();
    await infra.stop();
  }
});
