/**
 * A test of a dApp with the test runner of Node:
 *
 *     node --test devnet.node.test.mjs
 */
import { startDevnet } from "@arbor-cardano/devnet";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

let devnet;
before(async () => devnet = await startDevnet({ mining: "submit" }));
after(() => devnet?.stop());

test("a payment is in a block when it is answered, and a snapshot undoes it", async () => {
  const { address } = devnet.accounts[0];
  const utxos = async () => await (await fetch(`${devnet.urls.blockfrost}/addresses/${address}/utxos`)).json();
  await devnet.withSnapshot(async () => {
    await devnet.fund(address, 5_000_000n);
    assert.equal((await utxos()).length, 2);
  });
  assert.equal((await utxos()).length, 1);
});
