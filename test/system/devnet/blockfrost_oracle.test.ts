/**
 * Every answer of the Blockfrost API about random chains, against an oracle that reads only the blocks: after growth and after rollbacks. The long form
 * (test/long/blockfrost_oracle.test.ts) has 1,000 blocks and asks everything.
 */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { blockfrostApp } from "#src/edge/blockfrost/app.ts";
import { ExplorerChain } from "../../support/explorer_chain.ts";
import { Comparison } from "../../support/explorer_comparison.ts";
import { Oracle } from "../../support/explorer_oracle.ts";
import { seeded } from "../../support/random.ts";

test.each([1, 2])("chain %i", async (seed) => {
  const chain = await ExplorerChain.start(seed);
  const { devnet, store } = chain;
  const app = blockfrostApp({ devnet, store, log: silentLog });
  const comparison = new Comparison(async (path) => {
    const response = await app.request("/api/v0" + path);
    return { status: response.status, text: await response.text() };
  }, seeded(seed));
  const compare = async () => {
    for (let i = 0; i < 3; i++) await chain.transact();
    await comparison.run(new Oracle(devnet.genesis, await chain.blocks(), chain.mempool()), 30);
    expect(comparison.differences.slice(0, 20)).toEqual([]);
  };
  for (let i = 0; i < 90; i++) await chain.step();
  await compare();
  await chain.rollback(20);
  await compare();
  for (let i = 0; i < 20; i++) await chain.step();
  await compare();
  expect(comparison.empty()).toEqual([]);
  await chain.stop();
});
