/**
 * Every answer of the Blockfrost API about random chains, against an oracle that reads only the blocks: after growth and after
 * rollbacks. The long form (test/long/blockfrost_oracle.test.ts) has 1,000 blocks and asks everything.
 */
import { expect, test } from "vitest";
import { ExplorerChain } from "../../support/explorer_chain.ts";
import { Comparison, serviceOf, WITHOUT_CONTENT, WITHOUT_VALUE } from "../../support/explorer_comparison.ts";
import { Oracle } from "../../support/explorer_oracle.ts";
import { seeded } from "../../support/random.ts";

test("the answers about random chains are what the oracle computes from their blocks", async () => {
  const empty: string[][] = [], uncovered: string[][] = [];
  for (const seed of [1, 2]) {
    const chain = await ExplorerChain.start(seed);
    const comparison = new Comparison(serviceOf(chain), seeded(seed));
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
    empty.push(comparison.empty());
    uncovered.push(comparison.uncovered());
    await chain.stop();
  }
  const always = ([first = [], ...others]: readonly string[][]) =>
    first.filter((one) => others.every((other) => other.includes(one)));
  expect(always(empty).sort()).toEqual([...WITHOUT_CONTENT.keys()].sort());
  console.log(always(uncovered).filter((field) => !WITHOUT_VALUE.some(([pattern]) => pattern.test(field))));
});
