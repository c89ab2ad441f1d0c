/**
 * A test of a dApp with bun:
 *
 *     bun test devnet.bun.test.js
 */
import { startDevnet } from "@arbor-cardano/devnet";
import { afterAll, beforeAll, expect, test } from "bun:test";

let devnet;
beforeAll(async () => devnet = await startDevnet({ mining: "manual" }), 120_000);
afterAll(() => devnet?.stop());

test("an hour passes at once", async () => {
  const before = await devnet.now();
  const { blocks } = await devnet.advance({ hours: 1 });
  expect(blocks).toBeGreaterThan(0);
  expect((await devnet.now()).getTime() - before.getTime()).toBeGreaterThanOrEqual(3_600_000);
});
