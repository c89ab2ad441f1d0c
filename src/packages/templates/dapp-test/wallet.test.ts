/** Tests on a devnet of their own: each begins from the same snapshot. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type SnapshotHandle, startDevnet, type TestDevnet } from "@arbor-cardano/devnet";
import { lovelaceOf } from "./wallet.ts";

let devnet: TestDevnet;
let begin: SnapshotHandle;
let address: string;
before(async () => {
  devnet = await startDevnet({ mining: "submit" });
  begin = await devnet.snapshot();
  address = devnet.accounts[0]!.address;
});
beforeEach(async () => void await begin.restore());
after(() => devnet.stop());

test("a payment arrives", async () => {
  const held = await lovelaceOf(devnet.urls.blockfrost, address);
  await devnet.fund(address, 5_000_000n);
  assert.equal(await lovelaceOf(devnet.urls.blockfrost, address), held + 5_000_000n);
});

test("the payment of the test before is gone, and an hour passes at once", async () => {
  const { time } = await devnet.time();
  await devnet.advance({ hours: 1 });
  assert.ok((await devnet.now()).getTime() >= time + 3_600_000);
  assert.equal(await lovelaceOf(devnet.urls.blockfrost, address), 10_000_000_000n);
});
