/** API/Shelley/Withdrawals.hs, and the same scenarios of API/Shelley/TransactionsNew.hs */
import { expect } from "vitest";
import { flow, type Row, type Table } from "../table.ts";

export const withdrawalRows: readonly Row[] = [
  flow("TRANS_NEW_CREATE_03a", async (world) => {
    const { id, balance } = await world.fixtureWallet();
    const { built, signed } = await world.send(id, { withdrawal: "self" });
    expect([built.coin_selection.metadata, built.coin_selection.withdrawals ?? []]).toEqual([undefined, []]);
    expect((await world.decode(id, signed)).withdrawals).toEqual([]);
    const left = BigInt(balance.available.quantity) - BigInt(built.fee.quantity);
    expect((await world.untilAvailable(id, left)).balance.reward.quantity).toBe(0);
  }),
  flow("TRANS_NEW_CREATE_03a (2)", async (world) => {
    const { id } = await world.rewardWallet();
    const before = BigInt((await world.wallet(id)).balance.available.quantity);
    await world.epochBegins();
    const { id: hash, built, signed } = await world.send(id, { withdrawal: "self" });
    expect(built.coin_selection.withdrawals).toHaveLength(1);
    const [withdrawal] = (await world.decode(id, signed)).withdrawals;
    expect(withdrawal).toMatchObject({ context: "ours" });
    const amount = BigInt(withdrawal.amount.quantity);
    expect(amount).toBeGreaterThan(0n);
    await world.untilInLedger(id, hash);
    await world.untilAvailable(id, before + amount - BigInt(built.fee.quantity));
    await world.rewardsBelow(id, amount);
    const other = await world.decode((await world.sharedFixture()).id, signed);
    expect(other.withdrawals).toEqual([{ ...withdrawal, context: "external" }]);
  }),
];

export const withdrawals: Table = { file: "Shelley.Withdrawals", rows: withdrawalRows };
