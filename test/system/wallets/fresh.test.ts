/** A wallet's own transaction stays its own while the block of its inputs is rolled back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { lovelace } from "#src/client/wallets.ts";

describe("a transaction that its wallet has signed", () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await Scenario.start({ provider: "devnet", blockMs: 0 });
  }, 60_000);
  afterAll(() => scenario?.stop());

  it("stays its own after a rollback of its coin, and is accepted once the coin is back", async () => {
    const { client } = scenario;
    const { id } = await scenario.createWallet();
    const other = await scenario.createWallet();
    await scenario.blocks(2);
    await scenario.fund(id, [30n * ADA]);
    const payments = [{ address: await scenario.address(other.id), amount: lovelace(2n * ADA) }];
    const built = await client.construct(id, { payments });
    const { transaction } = await client.sign(id, built.transaction, PASSPHRASE);
    await scenario.rollback(1);
    await until("the coin is gone", async () => await scenario.available(id) === 0n);
    // the mempool has the faucet's payment again, so that the network accepts its spend; it was always the wallet's
    const sent = await client.submit(id, transaction).then(({ id }) => id, ({ code }: { code: string }) => code);
    expect(sent).not.toBe("foreign_transaction");
    expect(await scenario.refused(client.submit(other.id, transaction))).toEqual([403, "foreign_transaction"]);
    await scenario.blocks();
    if (sent === "created_invalid_transaction") await client.submit(id, transaction);
    await scenario.blocks();
    await scenario.untilAvailable(other.id, 2n * ADA);
  });
});
