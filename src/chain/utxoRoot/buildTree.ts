/** Builds a tree again from all unspent outputs. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Log } from "#src/base/log.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { ElementSorter } from "#src/chain/utxoRoot/elementSorter.ts";
import {
  insertRoots,
  readPlace,
  readRows,
  type TreeBlock,
  type TreeTables,
  writeRows,
  writeTree,
} from "#src/chain/utxoRoot/treeRows.ts";
import { outputKey } from "#src/csmt/key.ts";
import { LoadedTree } from "#src/csmt/loading.ts";
import { outputValue } from "#src/csmt/output.ts";
import { topBytes } from "#src/csmt/rows.ts";
import type { Element } from "#src/csmt/tree.ts";
import type { Queries } from "#src/store/store.ts";

/** Elements that are sorted at once: some 100 MB. With more outputs, each is read several times. */
const MOST_SORTED = 1_000_000;

/** Elements that are added at once: some milliseconds of work. */
const STEP = 500;

/** Steps of one database transaction. */
const STEPS = 20;

interface RowSettings {
  readonly sql: Queries;
  /** Does work in a database transaction, as the only writer of the chain. */
  readonly write: (work: (sql: Queries) => Promise<void>) => Promise<void>;
  readonly tables: TreeTables;
  /** Calls `each` with every unspent output. */
  readonly eachOutput: (each: (utxo: Utxo) => void) => Promise<void>;
  /** Ends the work, which then throws its reason. */
  readonly signal?: AbortSignal;
}

interface BuildSettings extends RowSettings {
  /** The chain's newest block. */
  readonly at: TreeBlock;
  /** How many outputs there are, more or less. */
  readonly count: () => Promise<number>;
  readonly log: Log;
}

/**
 * Builds a tree unless it is at the newest block. Must run while the chain does not change. Yields to the event loop
 * regularly; after an interruption the next call starts again.
 */
export async function completeTree(settings: BuildSettings): Promise<void> {
  const { sql, write, tables, at, count, log } = settings;
  if ((await readPlace(sql, tables))?.hash === at.hash) return;
  const outputs = await count();
  log.info("the tree of the unspent outputs is built", { outputs });
  const tree = new LoadedTree(await buildRows(settings, outputs), (names) => readRows(sql, tables, names));
  await write(async (sql) => {
    await insertRoots(sql, tables, [at], [tree.root]);
    await writeTree(sql, tables, at, tree);
  });
  log.info("the tree of the unspent outputs is complete", { outputs, height: at.height });
}

/** Writes the rows of a tree, and removes those of any other one; gives its top. `outputs`: their number, more or less. */
export async function buildRows(settings: RowSettings, outputs: number): Promise<Uint8Array> {
  const { write, tables, signal } = settings;
  await write(async (sql) => {
    await sql`truncate ${sql(tables.rows)}, ${sql(tables.place)}, ${sql(tables.roots)}`;
  });
  let top: Uint8Array = new Uint8Array();
  for await (const elements of sortedElements(settings, Math.max(1, Math.ceil(outputs / MOST_SORTED)))) {
    signal?.throwIfAborted();
    await write(async (sql) => {
      for (let from = 0; from < elements.length; from += STEP) {
        const tree = new LoadedTree(top, (names) => readRows(sql, tables, names));
        await tree.change({ added: elements.slice(from, from + STEP), removed: [] });
        await writeRows(sql, tables, tree.changedRows());
        top = topBytes(tree.top);
      }
    });
  }
  return top;
}

/** All elements in the order of their keys, some thousand at a time. */
async function* sortedElements({ eachOutput }: RowSettings, passes: number): AsyncIterable<readonly Element[]> {
  const pacer = new EventLoopPacer();
  for (let pass = 0; pass < passes; pass++) {
    const sorter = new ElementSorter();
    await eachOutput(({ ref, output }) => {
      const key = outputKey(output.address, ref);
      if (Math.floor(ElementSorter.place(key) * passes) === pass) sorter.add({ key, value: outputValue(output) });
    });
    let elements: Element[] = [];
    for (const some of sorter.sorted()) {
      elements.push(...some);
      await pacer.step();
      if (elements.length < STEP * STEPS) continue;
      yield elements;
      elements = [];
    }
    if (elements.length > 0) yield elements;
  }
}
