/**
 * Tests of a dApp with vitest: one devnet for all of them, and each begins from the same snapshot.
 *
 *     npx vitest run devnet.test.ts
 */
import { type SnapshotHandle, startDevnet, type TestDevnet } from "@arbor-cardano/devnet";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let devnet: TestDevnet;
let begin: SnapshotHandle;
beforeAll(async () => {
  devnet = await startDevnet();
  begin = await devnet.snapshot("begin");
}, 120_000);
beforeEach(() => begin.restore());
afterAll(() => devnet?.stop());

/** Lovelace of the first account, as the Blockfrost API says. */
async function balance(): Promise<bigint> {
  const answer = await fetch(`${devnet.urls.blockfrost}/addresses/${devnet.accounts[0]!.address}`);
  const { amount } = await answer.json() as { amount: { unit: string; quantity: string }[] };
  return BigInt(amount.find(({ unit }) => unit === "lovelace")!.quantity);
}

test("a payment arrives", async () => {
  await devnet.fund(devnet.accounts[0]!.address, 5_000_000n);
  expect(await balance()).toBe(10_005_000_000n);
});

test("the payment of the test before is gone", async () => {
  expect(await balance()).toBe(10_000_000_000n);
});

test("a payment survives a rollback: it returns to the mempool and into the next block", async () => {
  await devnet.fund(devnet.accounts[0]!.address, 7_000_000n);
  await devnet.rollback(1);
  await devnet.block();
  expect(await balance()).toBe(10_007_000_000n);
});
