/** Transactions of the new workflow: what is built is what was asked for, at the least fee, and the ledger takes it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace } from "#src/client/wallets.ts";
import { leastFee, readByCsl } from "../../support/read_by_csl.ts";
import { ADA, Scenario } from "../../support/scenario.ts";

describe("transactions", () => {
  let scenario: Scenario;
  let mine: string;
  let other: string;

  beforeAll(async () => {
    scenario = await Scenario.start();
    [mine, other] = await Promise.all([
      scenario.createWallet({ coins: [20n, 20n, 20n, 20n].map((ada) => ada * ADA) }).then(({ id }) => id),
      scenario.createWallet().then(({ id }) => id),
    ]);
  });
  afterAll(() => scenario?.stop());

  it("pays several, each output out of a coin of its own, and a change for each", async () => {
    const addresses = (await scenario.client.addresses(other)).slice(0, 3).map(({ id }) => id);
    const payments = addresses.map((address, i) => ({ address, amount: lovelace(BigInt(i + 2) * ADA) }));
    const { signed, built, id, told } = await scenario.land(mine, { payments });
    const read = readByCsl(signed);
    expect(read.id).toBe(id);
    expect(read.inputs).toHaveLength(3);
    expect(read.outputs).toHaveLength(6);
    for (const { address, amount } of payments) {
      expect(read.outputs).toContainEqual({ address, lovelace: amount.quantity, assets: {}, datum: false });
    }
    expect(built.coin_selection.change).toHaveLength(3);
    expect(read.fee).toBe(leastFee(signed));
    expect(BigInt(built.fee.quantity)).toBe(read.fee);
    expect(read.signedBy).toHaveLength(3);
    expect(BigInt(told.amount.quantity)).toBe(9n * ADA + read.fee);
    await scenario.untilAvailable(other, 9n * ADA);
  });
});
