/** How fast blocks are scanned: preview's chain from the shared vectors, in one thread. */
import process from "node:process";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { created, spent } from "#src/cardano/block.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { readWhole } from "#src/cardano/scanBody.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { Walk } from "#src/cardano/walk.ts";
import { blocksOf, chunks } from "../support/chain/vectorBlocks.ts";
import type { ChainRow } from "./chain.ts";

/** Each measurement is the best of this many passes: other load makes a pass slower, never faster. */
const PASSES = process.argv.includes("--quick") ? 5 : 40;

/** Milliseconds of the best pass. */
function best(pass: () => void): number {
  let least = Infinity;
  for (let i = 0; i < PASSES; i++) {
    const began = performance.now();
    pass();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

const number = (value: number) => Math.round(value).toLocaleString("en");

/** Rows: blocks per second, by the part of a block that is read. */
export async function scanRows(): Promise<readonly ChainRow[]> {
  const chunk = chunks.find(({ file }) => file.includes("01836"));
  if (!chunk) return [];
  await initHash();
  const blocks = blocksOf(chunk);
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  const hashed = blocks.map((block) => {
    const { header, transactions } = scanBlock(block);
    return { header, bodies: transactions.map(({ body }) => body) };
  });
  // results are summed, so that nothing can be optimised away
  let read = 0;
  const each = (work: (block: Uint8Array) => number) => best(() => blocks.forEach((block) => read += work(block)));

  const walk = each((block) => {
    new Walk(block).skip();
    return 1;
  });
  const headers = best(() => hashed.forEach(({ header }) => read += hash256(header).length));
  const bodies = best(() => hashed.forEach((of) => of.bodies.forEach((body) => read += hash256(body).length)));
  const block = each((block) => scanBlock(block).transactions.length);
  const ids = each((block) => scanBlock(block).transactions.reduce((sum, { hash }) => sum + hash.length, 0));
  const outputs = each((block) =>
    scanBlock(block).transactions.reduce((sum, one) => sum + spent(one).length + created(one).length, 0)
  );
  const everything = each((block) =>
    scanBlock(block).transactions.reduce((sum, one) => {
      readWhole(one);
      return sum + (one.auxiliaryData ? readAuxiliaryData(one.auxiliaryData).metadata.size : 1);
    }, 0)
  );
  if (read === 0) throw new Error("nothing was scanned");

  const share = (part: number, whole: number) => `${Math.round(100 * part / whole)} %`;
  const row = (what: string, ms: number, hashing: number): ChainRow => [
    what,
    `${number(blocks.length / ms * 1_000)} blocks/s, ${(bytes / ms / 1_000).toFixed(0)} MB/s`,
    `CPU of one core: blake2b ${share(hashing, ms)}, the walk over the bytes ${share(walk, ms)}`,
  ];
  const size = `${number(blocks.length)} blocks of ${number(bytes / blocks.length)} bytes`;
  return [
    row(`scan: header and the places of transactions (${size})`, block, headers),
    row("scan, and transaction ids", ids, headers + bodies),
    row("scan, ids, inputs and outputs: what the index reads", outputs, headers + bodies),
    row("scan, and every member of every transaction", everything, headers + bodies),
  ];
}
