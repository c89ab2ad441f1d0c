/**
 * Every answer of the Blockfrost API about random chains, against an oracle that reads only the blocks: after growth and after
 * rollbacks. The long form (test/long/blockfrost_oracle.test.ts) has 1,000 blocks and asks everything.
 */
import { expect, test } from "vitest";
import { ExplorerChain } from "../../support/explorer_chain.ts";
import { Comparison, serviceOf, WITHOUT_CONTENT } from "../../support/explorer_comparison.ts";
import { Oracle } from "../../support/explorer_oracle.ts";
import { seeded } from "../../support/random.ts";

test("the answers about a random chain are what the oracle computes from its blocks", async () => {
  const chain = await ExplorerChain.start(1);
  const comparison = new Comparison(serviceOf(chain), seeded(1));
  const compare = async () => {
    const oracle = new Oracle(chain.devnet.genesis, await chain.blocks(), chain.mempool());
    await comparison.run(oracle, 8);
    expect(comparison.differences.slice(0, 10)).toEqual([]);
  };
  await chain.complete();
  await compare();
  await chain.rollback(20);
  for (let i = 0; i < 5; i++) await chain.step();
  await chain.present();
  await compare();
  expect(comparison.empty().sort()).toEqual([...WITHOUT_CONTENT.keys()].sort());
  await chain.stop();
});
