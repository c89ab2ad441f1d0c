/**
 * A tree over all unspent outputs that moves with the blocks of a chain, and is built again where it is lost: a small one at
 * once, a large one beside the blocks that are written meanwhile.
 *
 * A large tree is built from one snapshot of the outputs. What later blocks change is kept in a journal, and applied at the
 * end, the last of it while no block is written. The tree has no place until then, so it is not read; after an
 * interruption it is built from the beginning.
 */
import { type Log, reason } from "#src/base/log.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { buildRows, completeTree } from "#src/chain/utxoRoot/buildTree.ts";
import { type JournalBlock, TreeJournal } from "#src/chain/utxoRoot/treeJournal.ts";
import {
  insertRoots,
  type MovedBlock,
  moveTree,
  readPlace,
  readRows,
  type TreeBlock,
  treeChanges,
  type TreeTables,
  writeRows,
  writeTree,
} from "#src/chain/utxoRoot/treeRows.ts";
import { LoadedTree } from "#src/csmt/loading.ts";
import { topBytes } from "#src/csmt/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Outputs up to which a tree is built at once: about a second of work. */
const AT_ONCE = 20_000;

const SNAPSHOT = "isolation level repeatable read read only";

/** Does work while no block is written. */
export type Exclusively = (work: () => Promise<void>) => Promise<void>;

interface KeptTreeSettings {
  readonly store: Pick<Store, "sql">;
  /** Does work in a database transaction, under the lease of the chain's only writer. */
  readonly write: <T>(work: (sql: Queries) => Promise<T>) => Promise<T>;
  readonly tables: TreeTables;
  /** The chain's newest block. */
  readonly tip: (sql: Queries) => Promise<TreeBlock>;
  /** How many outputs there are; at most `most`. */
  readonly count: (sql: Queries, most?: number) => Promise<number>;
  /** Calls `each` with every unspent output; `sql` is a transaction. */
  readonly eachOutput: (sql: Queries, each: (utxo: Utxo) => void) => Promise<void>;
  readonly log: Log;
  /** Outputs up to which it is built at once; 20,000 by default. */
  readonly atOnce?: number | undefined;
}

export class KeptTree {
  #journal: TreeJournal | undefined;
  #building: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(private readonly settings: KeptTreeSettings) {}

  /**
   * Moves the tree from a block over others, in the transaction that writes them. False: it is lost, and `complete` builds it
   * again.
   */
  async move(sql: Queries, from: TreeBlock, blocks: readonly MovedBlock[]): Promise<boolean> {
    if (!this.#journal) return await moveTree(sql, this.settings.tables, from, blocks);
    this.#journal.add(from, blocks.map((block) => ({ ...block, changes: treeChanges(block.changes) })));
    return true;
  }

  /**
   * Builds the tree again unless it is at the newest block. Must run while no block is written. A large tree is built beside
   * the caller, and left out where `exclusively` is not given.
   */
  async complete(exclusively?: Exclusively): Promise<void> {
    const { store: { sql }, write, tables, tip, count, eachOutput, log, atOnce = AT_ONCE } = this.settings;
    if (this.#journal || this.#closing.signal.aborted) return;
    const at = await tip(sql);
    if ((await readPlace(sql, tables))?.hash === at.hash) return;
    if (await count(sql, atOnce + 1) <= atOnce) {
      return await completeTree({
        ...{ sql, write, tables, at, log },
        count: () => count(sql),
        eachOutput: (each) => sql.begin((sql) => eachOutput(sql, each)),
      });
    }
    if (!exclusively) return;
    const journal = this.#journal = new TreeJournal();
    this.#building = this.#build(journal, exclusively).catch((error) => {
      if (this.#closing.signal.aborted) return;
      log.warn("the tree of the unspent outputs was not built; it is tried again", { reason: reason(error) });
    }).finally(() => this.#journal = undefined);
  }

  /** Ends a build that runs. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the tree is no longer kept"));
    await this.#building;
  }

  async #build(journal: TreeJournal, exclusively: Exclusively): Promise<void> {
    const { store, write, tables, tip, count, eachOutput, log } = this.settings;
    const { signal } = this.#closing;
    const { start, outputs, top: built } = await store.sql.begin(SNAPSHOT, async (snapshot) => {
      const start = await tip(snapshot);
      const outputs = await count(snapshot);
      log.info("the tree of the unspent outputs is built while blocks go on", { outputs, height: start.height });
      const settings = { sql: store.sql, write, tables, signal };
      const top = await buildRows({ ...settings, eachOutput: (each) => eachOutput(snapshot, each) }, outputs);
      return { start, outputs, top };
    });
    journal.begin(start);
    await write((sql) => insertRoots(sql, tables, [start], [this.#treeAt(built).root]));
    let top = built;
    for (let some = journal.takeSettled(); some.length > 0; some = journal.takeSettled()) {
      signal.throwIfAborted();
      const blocks = some;
      top = await write(async (sql) => {
        const tree = await this.#apply(sql, top, blocks);
        await writeRows(sql, tables, tree.changedRows());
        return topBytes(tree.top);
      });
    }
    await exclusively(async () => {
      signal.throwIfAborted();
      const at = await tip(store.sql);
      const rest = journal.until(at);
      if (!rest) throw new Error("the chain changed more than is kept meanwhile");
      await write(async (sql) => await writeTree(sql, tables, at, await this.#apply(sql, top, rest)));
      this.#journal = undefined;
      log.info("the tree of the unspent outputs is complete", { outputs, height: at.height });
    });
  }

  /** The tree after some blocks, whose roots are written. */
  async #apply(sql: Queries, top: Uint8Array, blocks: readonly JournalBlock[]): Promise<LoadedTree> {
    const tree = this.#treeAt(top, sql);
    const roots: (Uint8Array | undefined)[] = [];
    for (const { changes } of blocks) {
      await tree.change(changes);
      roots.push(tree.root);
    }
    if (blocks.length > 0) await insertRoots(sql, this.settings.tables, blocks, roots);
    return tree;
  }

  #treeAt(top: Uint8Array, sql: Queries = this.settings.store.sql): LoadedTree {
    return new LoadedTree(top, (names) => readRows(sql, this.settings.tables, names));
  }
}
