/** Rolls an indexer's rows back, in short transactions that each end at a checkpoint. */
import { origin, type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import { nextCheckpoint } from "#src/chain/index/checkpoint.ts";
import { clearFork, moveStartPoints } from "#src/chain/index/groups.ts";
import type { IndexerCursor } from "#src/chain/index/indexerCursor.ts";
import { type IndexerOptions, MAX_BLOCKS } from "#src/chain/index/indexerOptions.ts";
import * as measure from "#src/chain/index/metrics.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { type CursorScope, fetchRows, undoRows } from "#src/chain/index/rows.ts";
import { WriteBudget } from "#src/chain/index/writeBudget.ts";

export class Rollbacks {
  private readonly budget = new WriteBudget(2_000, 500);
  /** Blocks, or slots, to roll back in one transaction, if they do not hold too many changes. */
  private distance = 16;

  /** `moved` is called after each transaction. */
  constructor(
    private readonly options: IndexerOptions,
    private readonly cursor: IndexerCursor,
    private readonly scope: CursorScope,
    private readonly moved: (at: Tip) => void,
  ) {}

  /**
   * Rolls back, in several short transactions if many rows change. Each ends at a checkpoint from which a restart can
   * go on.
   */
  async to(point: Point, tip: Tip): Promise<void> {
    const { store, keepsPoints } = this.options;
    const start = (await this.cursor.state()).at;
    if (samePoint(point, start)) return;
    const to = point.slot < 0 ? this.originTarget(start) : await this.keptTarget(point, start);
    let entities = 0;
    for (let from: Point = start; !samePoint(from, to);) {
      const range = { from, to, tables: this.scope.tables, hasPoints: keepsPoints };
      const { position, distance } = await nextCheckpoint(
        store.sql,
        range,
        this.distance,
        this.budget.changes,
      );
      this.distance = Math.min(MAX_BLOCKS, distance * 2);
      entities += await this.undo(position, tip);
      from = position;
    }
    measure.rollbacks.of().inc();
    measure.blocksUndone.of().inc(Math.max(0, start.height - to.height));
    this.options.log.info("rolled back", { from: start.slot, to: to.slot, entities });
  }

  /** Undoes what is above a position, in one transaction; gives how many entities that touched. */
  private async undo(to: Tip, tip: Tip): Promise<number> {
    const { store, projections, onUndo, onStep, cursor: id } = this.options;
    const cursor = await this.cursor.state();
    await onStep?.("before-undo", id);
    const touched: Touched[] = [];
    let undone = 0;
    let startedAt = 0;
    await store.sql.begin(async (sql) => {
      startedAt = performance.now();
      touched.length = 0;
      await this.cursor.lock(sql, cursor);
      const affected = await undoRows(sql, cursor.at.slot, to.slot, this.scope);
      undone = [...affected.values()].reduce((sum, rows) => sum + rows.length, 0);
      await onUndo?.(sql, to.slot, affected);
      for (const projection of projections) {
        const queries = projection.undoKeys?.(affected, { from: cursor.at.slot, to: to.slot }) ?? [];
        const rows = await fetchRows(sql, queries, this.scope);
        touched.push(...projection.undo(to, affected, rows));
      }
      if (this.options.keepsPoints) {
        const blocks = await sql`delete from chain_block where slot > ${to.slot} returning 1`;
        undone += blocks.length;
      }
      await moveStartPoints(sql, id, to);
      await this.cursor.move(sql, to, tip);
      await clearFork(sql, id, to.slot);
      await this.options.append(sql, touched);
    });
    const took = performance.now() - startedAt;
    measure.writeSeconds.of().observe(took / 1_000);
    this.budget.took(undone, took);
    this.moved(to);
    await onStep?.("after-undo", id);
    this.options.ring(touched);
    await this.options.onMoved?.(to, []);
    return touched.length;
  }

  /**
   * The origin. Throws if it is deeper than any rollback of a network: then this is another chain, or one that is far
   * behind.
   */
  private originTarget(at: Tip): Tip {
    const { keepsPoints, keepBlocks } = this.options;
    if (keepsPoints && at.height > keepBlocks) {
      throw new Error(
        "a rollback to genesis is deeper than the retained blocks: the network has none of the last blocks",
      );
    }
    return { ...origin, height: 0 };
  }

  private async keptTarget(point: Point, at: Tip): Promise<Tip> {
    const rows = await this.options.store.sql<{ height: bigint }[]>`
      select height from chain_block where slot = ${point.slot} and hash = ${point.hash}`;
    if (rows[0]) return { ...point, height: Number(rows[0].height) };
    // blocks that restore groups read are never pruned, so those cursors may go back any distance; the next block gives
    // the height
    if (!this.options.keepsPoints) return { ...point, height: at.height };
    throw new Error(`a rollback to slot ${point.slot} is deeper than the retained blocks`);
  }
}
