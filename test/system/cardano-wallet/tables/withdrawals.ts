/** API/Shelley/Withdrawals.hs; API/Shelley/TransactionsNew.hs has the same scenarios */
import { expect } from "vitest";
import { flow, type Table } from "../table.ts";

export const withdrawals: Table = {
  file: "Shelley.Withdrawals",
  rows: [
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
      const { built, signed } = await world.withdrawing(id, () => world.send(id, { withdrawal: "self" }));
      expect(built.coin_selection.withdrawals).toHaveLength(1);
      const [withdrawal] = (await world.decode(id, signed)).withdrawals;
      expect(withdrawal).toMatchObject({ context: "ours" });
      const amount = BigInt(withdrawal.amount.quantity);
      expect(amount).toBeGreaterThan(0n);
      await world.untilAvailable(id, before + amount - BigInt(built.fee.quantity));
      await world.rewardsBelow(id, amount);
      const other = await world.decode((await world.sharedFixture()).id, signed);
      expect(other.withdrawals).toEqual([{ ...withdrawal, context: "external" }]);
    }),
  ],
};
