/** The index of the current contract's tokens in PostgreSQL, over a chain in memory: rows are written and undone as the follower does. */
import { cageProjection } from "#src/tokens/index/projection.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { Catalog } from "#src/chain/index/catalog.ts";
import { keepPoints, MAIN } from "#src/chain/index/cursor.ts";
import { foldBlocks } from "#src/chain/index/foldBlocks.ts";
import { scopeOf, undoRows } from "#src/chain/index/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { MemoryChain } from "../chain/memoryChain.ts";
import { policy } from "../contract/wholeTransaction.ts";

const projection = cageProjection({ scripts: [policy], network: 0 });
const scope = scopeOf([projection], MAIN);

export class StoredIndex {
  private readonly chain = new MemoryChain();
  private readonly catalog = new Catalog();

  constructor(private readonly store: Store) {}

  /** Number of blocks. */
  get height(): number {
    return this.chain.tip.height;
  }

  /** Follows a block of transactions (complete, in CBOR). */
  async follow(...transactions: readonly Uint8Array[]): Promise<ScannedBlock> {
    const before = this.chain.tip;
    const block = this.chain.add(...transactions);
    const { overlay } = await foldBlocks([{ block, tip: block, keys: [projection.keys(block)] }], {
      sql: this.store.sql,
      catalog: this.catalog,
      projections: [projection],
      scope,
      laterStarts: new Map(),
      isFinal: () => false,
      ends: () => false,
    });
    await this.store.sql.begin(async (sql) => {
      await overlay.flush(sql);
      await keepPoints(sql, before, [block]);
      await this.moveCursor(sql);
    });
    return block;
  }

  /** Rolls back the last blocks; `slots` as of `MemoryChain`. */
  async undo(blocks: number, slots?: "go on" | "again"): Promise<void> {
    const from = this.chain.tip.slot;
    this.chain.rollback(blocks, slots);
    await this.store.sql.begin(async (sql) => {
      await undoRows(sql, from, this.chain.tip.slot, scope);
      await sql`delete from chain_block where slot > ${this.chain.tip.slot}`;
      await this.moveCursor(sql);
    });
  }

  private async moveCursor(sql: Queries): Promise<void> {
    const { slot, hash, height } = this.chain.tip;
    await sql`update chain_cursor set slot = ${slot}, hash = ${hash}, height = ${height}`;
  }
}
