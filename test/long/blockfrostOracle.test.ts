/**
 * Every answer of the Blockfrost API about chains of 1,000 random blocks with rollbacks, against an oracle that reads only the blocks. All
 * questions are asked at the end; on the way, and after each rollback, a part of them.
 *
 * EXPLORER_BLOCKS: blocks in all. EXPLORER_SEEDS: seeds, separated by commas.
 */
import process from "node:process";
import { expect, test } from "vitest";
import { ExplorerChain } from "../support/explorer/explorerChain.ts";
import { Comparison, serviceOf, WITHOUT_CONTENT, WITHOUT_VALUE } from "../support/explorer/explorerComparison.ts";
import { Oracle } from "../support/explorer/explorerOracle.ts";
import { seeded } from "../support/base/seededRandom.ts";

const seeds = (process.env.EXPLORER_SEEDS ?? "11,12,13,14").split(",").map(Number);
const blocks = Number(process.env.EXPLORER_BLOCKS ?? 1_000) / seeds.length;

/** Fields without a value, for each chain. */
const uncovered: string[][] = [];

test.each(seeds)("chain %i", async (seed) => {
  const chain = await ExplorerChain.start(seed);
  const comparison = new Comparison(serviceOf(chain), seeded(seed));
  const compare = async (most?: number) => {
    await comparison.run(new Oracle(chain.devnet.genesis, await chain.blocks(), chain.mempool()), most);
    expect(comparison.differences.slice(0, 20)).toEqual([]);
  };
  for (let rollbacks = 0; chain.made < blocks;) {
    await chain.step();
    if (chain.rollbacks === rollbacks) continue;
    ({ rollbacks } = chain);
    await compare(2);
  }
  await chain.present();
  await compare();
  const { all, full } = comparison.total();
  console.log(
    `chain ${seed}: ${chain.made} blocks made, ${chain.rollbacks} rollbacks, ${all} answers, ${full} with content`,
  );
  expect(comparison.empty().sort()).toEqual([...WITHOUT_CONTENT.keys()].sort());
  uncovered.push(comparison.uncovered());
  await chain.stop();
}, 3_600_000);

test("every field had a value in some chain", () => {
  expect(uncovered).toHaveLength(seeds.length);
  const [first = [], ...others] = uncovered;
  const missing = first.filter((field) => others.every((other) => other.includes(field)));
  expect(missing.filter((field) => !WITHOUT_VALUE.some(([pattern]) => pattern.test(field)))).toEqual([]);
});
