/**
 * Several accounts of one mnemonic, each a wallet of its own. Keys, addresses and ids are derived again by a library
 * that the product does not use.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { toHex } from "#src/base/bytes.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, type Wallet, WalletClient } from "#src/client/wallets.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

describe("accounts of one mnemonic", () => {
  const words = newMnemonic(15);
  const accounts = [0, 1, 2147483647].map((index) => ({ index, expected: new CslAccount(words, undefined, index) }));
  let scenario: Scenario;
  let client: WalletClient;
  const created: Wallet[] = [];

  const create = (index?: number) =>
    client.create({
      name: `Account ${index ?? 0}`,
      mnemonic_sentence: [...words],
      passphrase: `${PASSPHRASE} ${index ?? 0}`,
      ...(index === undefined ? {} : { account_index: `${index}H` }),
    });

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  it("have ids that follow from the words and the index, and addresses of their own", async () => {
    for (const { index, expected } of accounts) {
      const wallet = await create(index);
      created.push(wallet);
      expect(wallet.id).toBe(index === 0 ? expected.walletId : expected.watchedId);
      expect(wallet.account_index).toBe(index === 0 ? undefined : `${index}H`);
      await scenario.untilReady(wallet.id);
      const [first] = await client.addresses(wallet.id);
      expect(first).toEqual({
        id: expected.address(0),
        state: "unused",
        derivation_path: ["1852H", "1815H", `${index}H`, "0", "0"],
      });
      const key = fromBech32(await client.accountKey(wallet.id, "extended"))!.bytes;
      expect(toHex(key)).toBe(expected.publicKey);
      const child = fromBech32(await client.key(wallet.id, "utxo_internal", "3"))!.bytes;
      expect(toHex(child)).toBe(toHex(expected.key(1, 3).as_bytes()));
    }
    expect(await scenario.refused(create())).toEqual([409, "wallet_already_exists"]);
    expect(await scenario.refused(create(1))).toEqual([409, "wallet_already_exists"]);
    const soft = { name: "No", mnemonic_sentence: [...words], passphrase: PASSPHRASE, account_index: "1" };
    expect(await scenario.refused(client.create(soft))).toEqual([400, "bad_request"]);
    // the policy key belongs to the root
    const keys = await Promise.all(created.map(({ id }) => client.policyKey(id)));
    expect(new Set(keys).size).toBe(1);
    const made = created.map(({ id }) => id);
    expect((await client.wallets()).map(({ id }) => id).filter((id) => made.includes(id))).toEqual(made);
  });

  it("hold, pay, sign and lock separately", async () => {
    const [first, second] = created;
    await scenario.fund(second!.id, [20n * ADA, 20n * ADA]);
    expect(await scenario.available(first!.id)).toBe(0n);
    const built = await client.construct(second!.id, {
      payments: [{ address: accounts[0]!.expected.address(0), amount: lovelace(3n * ADA) }],
    });
    const own = `${PASSPHRASE} 1`;
    expect(await scenario.refused(client.sign(second!.id, built.transaction, `${PASSPHRASE} 0`)))
      .toEqual([403, "wrong_encryption_passphrase"]);
    const { transaction } = await client.sign(second!.id, built.transaction, own);
    const spent = built.coin_selection.inputs.map(({ derivation_path: path }) => Number(path.at(-1)));
    expect([...readByCsl(transaction).signedBy].sort()).toEqual(
      [...new Set(spent)].map((index) => accounts[1]!.expected.key(0, index).hash().to_hex()).sort(),
    );
    const { id } = await client.submit(second!.id, transaction);
    await scenario.blocks();
    await scenario.untilInLedger(second!.id, id);
    await scenario.untilAvailable(first!.id, 3n * ADA);

    // metadata is signed with the account's key
    const response = await fetch(`${scenario.arbor.wallets}/wallets/${second!.id}/signatures/utxo_external/0`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ passphrase: own, metadata: { 0: { int: 1 } } }),
    });
    expect(response.status).toBe(200);
    const signature = csl.Ed25519Signature.from_bytes(new Uint8Array(await response.arrayBuffer()));
    const { blake2b } = await import("@noble/hashes/blake2.js");
    const message = blake2b(Uint8Array.of(0xa1, 0x00, 0x01), { dkLen: 32 });
    expect(accounts[1]!.expected.key(0, 0).verify(message, signature)).toBe(true);
  });

  it.skipIf(!ANSWERS_POOLS)("delegate separately", async () => {
    const [first, second] = created;
    const [pool] = await client.stakePools(ADA);
    const joined = await client.joinPool(second!.id, pool!.id, `${PASSPHRASE} 1`);
    await scenario.blocks();
    const listed = await scenario.untilInLedger(second!.id, joined.id);
    for (const certificates of [joined.certificates, listed.certificates]) {
      expect(certificates).toHaveLength(3);
      for (const one of certificates) {
        expect(one).toMatchObject({ reward_account_path: ["1852H", "1815H", "1H", "2", "0"] });
      }
    }
    const [stake] = (await client.stakeKeys(second!.id)).ours;
    expect((await http(scenario.devnet, "GET", `/accounts/${stake!.key}`)).body).toMatchObject({ registered: true });
    expect((await client.wallet(first!.id)).delegation.next).toEqual([]);
    expect((await client.wallet(second!.id)).delegation.next).toMatchObject([{ target: pool!.id }]);
  });

  it("are found again with their funds, and watched without the words", async () => {
    const [, { id }] = created as [Wallet, Wallet];
    const before = await scenario.available(id);
    await client.send("DELETE", `/wallets/${id}`);
    const again = await create(1);
    expect(again.id).toBe(id);
    await scenario.untilReady(id);
    await until("it has its funds", async () => await scenario.available(id) === before);
    expect((await client.wallet(id)).delegation.next).toHaveLength(ANSWERS_POOLS ? 1 : 0);

    // the public key of another account: the same id as with the words, and the paths of that account
    const key = fromBech32(
      await client.send<string>("POST", `/wallets/${id}/keys/5H`, {
        passphrase: `${PASSPHRASE} 1`,
        format: "extended",
      }),
    )!.bytes;
    const watched = await client.create({ name: "Watched", account_public_key: toHex(key), account_index: "5H" });
    expect(watched.id).toBe(new CslAccount(words, undefined, 5).watchedId);
    expect(watched.account_index).toBe("5H");
    await scenario.untilReady(watched.id);
    const [address] = await client.addresses(watched.id);
    expect(address!.derivation_path).toEqual(["1852H", "1815H", "5H", "0", "0"]);
    expect(await scenario.refused(create(5))).toEqual([409, "wallet_already_exists"]);
  });
});
