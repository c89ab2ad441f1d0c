/**
 * A random wallet of the Byron era over HTTP: its addresses created one by one and imported, found on the chain by
 * their encrypted paths, and spent from with bootstrap witnesses that the ledger accepts.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, type WalletAddress } from "#src/client/wallets.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const BYRON = "byron-wallets";
const HARD = 2_147_483_648;
const NEW_PASSPHRASE = "Another Passphrase";

describe("a random wallet", () => {
  const words = newMnemonic(12);
  let scenario: Scenario;
  let id: string;
  let first: WalletAddress;
  let second: WalletAddress;

  const create = () =>
    scenario.client.createByron({ style: "random", name: "Old", mnemonic_sentence: words, passphrase: PASSPHRASE });
  const make = (body: object) => scenario.client.send<WalletAddress>("POST", `/${BYRON}/${id}/addresses`, body);
  const ids = async (query: Record<string, string> = {}) =>
    (await scenario.client.addresses(id, query, BYRON)).map((one) => one.id);
  const available = async () => BigInt((await scenario.client.byronWallet(id)).balance.available.quantity);
  const has = (amount: bigint) => until(`it has ${amount}`, async () => await available() === amount, 60_000);
  /** The unspent lovelace at an address, according to the network. */
  const unspent = async (address: string) =>
    (await http(scenario.devnet, "GET", `/utxos/${address}`)).body.utxos.map((one: { lovelace: number }) =>
      BigInt(one.lovelace)
    );

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
    id = (await create()).id;
    await until("it is ready", async () => (await scenario.client.byronWallet(id)).state.status === "ready", 60_000);
  });
  afterAll(() => scenario?.stop());

  it("is created from a mnemonic, and makes an address on request", async () => {
    const { client } = scenario;
    expect(await client.byronWallet(id)).toMatchObject({
      name: "Old",
      discovery: "random",
      balance: { available: { quantity: 0 }, total: { quantity: 0 } },
    });
    expect(await scenario.refused(create())).toEqual([409, "wallet_already_exists"]);
    expect(await scenario.refused(client.wallet(id))).toEqual([404, "no_such_wallet"]);
    expect((await client.get<{ id: string }[]>(`/${BYRON}`)).map((one) => one.id)).toEqual([id]);

    expect(await ids()).toEqual([]);
    first = await make({ passphrase: PASSPHRASE, address_index: HARD });
    expect(first).toMatchObject({ state: "unused", derivation_path: ["0H", "0H"] });
    const body = { passphrase: PASSPHRASE, address_index: HARD };
    expect(await scenario.refused(make(body))).toEqual([409, "address_already_exists"]);
    expect(await scenario.refused(make({ ...body, address_index: 5 }))).toEqual([403, "hardened_derivation_required"]);
    expect(await scenario.refused(make({ passphrase: NEW_PASSPHRASE }))).toEqual([403, "wrong_encryption_passphrase"]);
    second = await make({ passphrase: PASSPHRASE });
    expect((await ids()).sort()).toEqual([first.id, second.id].sort());
    for (const one of [first, second]) {
      const read = csl.ByronAddress.from_base58(one.id);
      expect([read.byron_protocol_magic(), read.byron_address_kind(), read.attributes().length > 0])
        .toEqual([42, csl.ByronAddressType.ATPubKey, true]);
      expect(await client.inspect(one.id)).toMatchObject({ address_style: "Byron", network_tag: 42 });
    }
  });

  it("is paid, and pays from both of its addresses at once", async () => {
    const { client } = scenario;
    await scenario.faucet(first.id, 4n * ADA);
    await scenario.faucet(second.id, 3n * ADA);
    await scenario.blocks();
    await has(7n * ADA);
    expect((await ids({ state: "used" })).sort()).toEqual([first.id, second.id].sort());
    const { entries } = await client.utxos(id, BYRON);
    expect(entries.map(({ ada }) => BigInt(ada.quantity)).sort()).toEqual([3n * ADA, 4n * ADA]);
    expect((await client.statistics(id, BYRON)).distribution).toMatchObject({ "10000000": 2 });

    const other = await scenario.createWallet({ name: "New" });
    const address = await scenario.address(other.id);
    // neither coin suffices for the output, and each is witnessed by its own key
    const body = { payments: [{ address, amount: lovelace(5n * ADA) }] };
    const fees = await client.fees(id, body, BYRON);
    expect(Number(fees.estimated_min.quantity)).toBeGreaterThan(165_000);
    const wrong = client.pay(id, { ...body, passphrase: NEW_PASSPHRASE }, { prefix: BYRON });
    expect(await scenario.refused(wrong)).toEqual([403, "wrong_encryption_passphrase"]);
    const sent = await client.pay(id, { ...body, passphrase: PASSPHRASE }, { prefix: BYRON, key: "once" });
    expect((await client.pay(id, { ...body, passphrase: PASSPHRASE }, { prefix: BYRON, key: "once" })).id).toBe(
      sent.id,
    );
    expect(sent).toMatchObject({ status: "pending", direction: "outgoing" });
    expect(sent.inputs).toHaveLength(2);
    const fee = BigInt(sent.fee.quantity);
    expect(fee).toBeGreaterThanOrEqual(BigInt(fees.estimated_min.quantity));
    expect(fee).toBeLessThanOrEqual(BigInt(fees.estimated_max.quantity));
    await scenario.blocks();
    const listed = await scenario.untilInLedger(id, sent.id, BYRON);
    expect(BigInt(listed.amount.quantity)).toBe(5n * ADA + fee);
    expect(await unspent(address)).toEqual([5n * ADA]);
    await scenario.untilAvailable(other.id, 5n * ADA);
    await has(2n * ADA - fee);
    expect((await client.transactions(id, { order: "ascending" }, BYRON)).map((one) => one.direction))
      .toEqual(["incoming", "incoming", "outgoing"]);
    const payments = [{ address, amount: lovelace(50n * ADA) }];
    expect(await scenario.refused(client.fees(id, { payments }, BYRON))).toEqual([403, "not_enough_money"]);
    for (const withdrawal of ["self", newMnemonic(15)]) {
      const withdrawing = { payments, withdrawal, passphrase: PASSPHRASE };
      for (const path of ["payment-fees", "transactions", "coin-selections/random"]) {
        expect(await scenario.refused(client.send("POST", `/${BYRON}/${id}/${path}`, withdrawing)))
          .toEqual([403, "invalid_wallet_type"]);
      }
    }
    const selected = client.selectCoins(id, { payments: [{ address, amount: lovelace(ADA) }] }, BYRON);
    expect(await scenario.refusal(selected)).toMatchObject({
      status: 403,
      code: "invalid_wallet_type",
      message:
        "I cannot derive new address for this wallet type. Make sure to use a sequential wallet style, like Icarus.",
    });
    // the extension previews the service's own payment
    const previewed = { payments: [{ address, amount: lovelace(ADA) }], coin_control: {} };
    const preview = await client.send<{ inputs: { id: string }[] }>(
      "POST",
      `/${BYRON}/${id}/coin-selections/random`,
      previewed,
    );
    expect(preview.inputs.map((one) => one.id)).toEqual([sent.id]);
  });

  it("is restored from its words; created and unused addresses are imported", async () => {
    const { client } = scenario;
    const left = await available();
    const third = await make({ passphrase: PASSPHRASE });
    await client.delete(id, BYRON);
    expect(await scenario.refused(client.byronWallet(id))).toEqual([404, "no_such_wallet"]);
    expect((await create()).id).toBe(id);
    await has(left);
    expect(await client.transactions(id, {}, BYRON)).toHaveLength(3);
    expect(await ids()).not.toContain(third.id);
    await client.send("PUT", `/${BYRON}/${id}/addresses/${third.id}`);
    expect(await ids({ state: "unused" })).toEqual([third.id]);
    await client.send("PUT", `/${BYRON}/${id}/addresses`, { addresses: [third.id, first.id] });
    expect(await ids({ state: "unused" })).toEqual([third.id]);
    const [foreign] = (await client.wallets()).map((one) => one.id);
    const addresses = [await scenario.address(foreign!)];
    expect(await scenario.refused(client.send("PUT", `/${BYRON}/${id}/addresses`, { addresses })))
      .toEqual([403, "key_not_found_for_address"]);
    await scenario.faucet(third.id, 2n * ADA);
    await scenario.blocks();
    await has(left + 2n * ADA);
  });

  it("accepts another name and passphrase, and signs only with that", async () => {
    const { client } = scenario;
    expect(await client.send("PUT", `/${BYRON}/${id}`, { name: "Older" })).toMatchObject({ id, name: "Older" });
    const change = { old_passphrase: PASSPHRASE, new_passphrase: NEW_PASSPHRASE };
    await client.send("PUT", `/${BYRON}/${id}/passphrase`, change);
    expect(await scenario.refused(client.send("PUT", `/${BYRON}/${id}/passphrase`, change)))
      .toEqual([403, "wrong_encryption_passphrase"]);
    expect(await scenario.refused(make({ passphrase: PASSPHRASE }))).toEqual([403, "wrong_encryption_passphrase"]);
    expect((await make({ passphrase: NEW_PASSPHRASE })).state).toBe("unused");
  });
});
