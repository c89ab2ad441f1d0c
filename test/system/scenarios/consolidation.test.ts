/** Small outputs of wallets merged into few: planned, done, and again under a key. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, type Prefix, type WalletAddress, type WalletClient } from "#src/client/wallets.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

describe("a consolidation", () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  type Body = Parameters<WalletClient["consolidationPlan"]>[1];
  const at = (path: string) => {
    const [, prefix, id] = path.split("/");
    return { prefix: prefix as Prefix, id: id! };
  };
  const plan = (path: string, body: Body = {}) => scenario.client.consolidationPlan(at(path).id, body, at(path).prefix);
  const merge = (path: string, body: Body = {}, key?: string) =>
    scenario.client.consolidate(at(path).id, { ...body, passphrase: PASSPHRASE }, {
      prefix: at(path).prefix,
      ...(key === undefined ? {} : { key }),
    });
  const unspent = async (path: string) =>
    (await scenario.client.get<{ entries: { ada: { quantity: number } }[] }>(`${path}/utxo`)).entries
      .map(({ ada }) => ada.quantity);

  it("merges the small outputs of a wallet, and leaves the others and those of pending payments", async () => {
    const { id } = await scenario.createWallet({
      gap: 30,
      coins: [...Array.from({ length: 12 }, () => 2n * ADA), 60n * ADA, 70n * ADA],
    });
    const path = `/wallets/${id}`;
    const planned = await plan(path);
    expect([planned.merged, planned.into, planned.selections.length]).toEqual([12, 1, 1]);
    // the owner's payment spends one of them
    const [small] = planned.selections[0]!.inputs;
    const { client } = scenario;
    const paid = await client.pay(id, {
      payments: [{ address: await scenario.address(id), amount: lovelace(ADA) }],
      coin_control: { inputs: [{ id: small!.id, index: small!.index }], only: true },
      passphrase: PASSPHRASE,
    } as never);
    expect((await plan(path)).merged).toBe(11);
    const before = BigInt((await client.wallet(id)).balance.total.quantity);
    const [one, ...others] = await merge(path, {}, "once");
    expect(others).toEqual([]);
    expect(one!.inputs).toHaveLength(11);
    expect(one!.inputs.some(({ id, index }) => id === small!.id && index === small!.index)).toBe(false);
    // its only loss is the fee
    expect(one!.amount).toEqual(one!.fee);
    expect((await merge(path, {}, "once")).map(({ id }) => id)).toEqual([one!.id]);
    await scenario.blocks();
    for (const hash of [one!.id, paid.id]) await scenario.untilInLedger(id, hash);
    await scenario.untilAvailable(id, before - BigInt(one!.fee.quantity));
    expect((await unspent(path)).filter((coin) => coin < 5_000_000).length).toBeLessThanOrEqual(1);
    expect((await unspent(path)).filter((coin) => coin >= 60_000_000)).toHaveLength(2);
    expect(await scenario.refused(merge(path, { below: lovelace(1_000) }))).toEqual([403, "nothing_to_consolidate"]);
    // all of it, into one
    expect(await plan(path, { below: lovelace(100n * ADA), max_transactions: 1 })).toMatchObject({ into: 1 });
    expect(await scenario.refused(plan(path, { max_transactions: 0 }))).toEqual([400, "bad_request"]);
    const wrong = client.send("POST", `${path}/consolidations`, {
      passphrase: "Another Passphrase",
      below: lovelace(90n * ADA),
    });
    expect(await scenario.refused(wrong)).toEqual([403, "wrong_encryption_passphrase"]);
    expect(await scenario.refused(plan("/wallets/" + "0".repeat(40)))).toEqual([404, "no_such_wallet"]);
  });

  it("merges those of a Byron wallet", async () => {
    const { old } = await scenario.createOtherKinds();
    const path = `/byron-wallets/${old.id}`;
    expect(await scenario.refused(plan(`/byron-wallets/${"0".repeat(40)}`))).toEqual([404, "no_such_wallet"]);
    expect(await scenario.refused(plan(path))).toEqual([403, "nothing_to_consolidate"]);
    for (let i = 0; i < 4; i++) {
      const { id } = await scenario.client.send<WalletAddress>("POST", `${path}/addresses`, { passphrase: PASSPHRASE });
      await scenario.faucet(id, 2n * ADA);
    }
    await scenario.blocks();
    await until("it is paid", async () => (await unspent(path)).length === 4);
    expect(await plan(path)).toMatchObject({ merged: 4, into: 1 });
    const [one] = await merge(path);
    await scenario.blocks();
    await scenario.untilInLedger(old.id, one!.id, "byron-wallets");
    expect(await unspent(path)).toEqual([8_000_000 - Number(one!.fee.quantity)]);
  });
});
