/**
 * The indexer moves one cursor along the chain: steps from the port become rows.
 *
 * Assumptions: the process holds the follower's lease. Every transaction here checks the lease's epoch, so an indexer
 * whose follower lost the lease writes nothing. The rows of a batch of blocks, their entries in the chain log and the
 * cursor commit together, so a crash leaves all of them or none. Steps are applied one after another. Far from the tip
 * many blocks share a transaction, none of which should take over 100 ms. A folded batch is written only if the cursor
 * still has the generation at which it was folded, so that members assigned or dismissed meanwhile miss nothing.
 */
import { sleep } from "#src/base/clock.ts";
import { toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Failure } from "#src/base/result.ts";
import { origin, type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import type { Projection, Rows, Touched } from "#src/chain/index/projection.ts";
import { type ForwardStep, LookAhead } from "#src/chain/index/lookAhead.ts";
import { type Batch, type BatchOptions, foldBlocks } from "#src/chain/index/foldBlocks.ts";
import { WRITE_MS, WriteBudget } from "#src/chain/index/writeBudget.ts";
import { Catalog } from "#src/chain/index/catalog.ts";
import { type CursorState, keepPoints, linkProblem, readCursorById } from "#src/chain/index/cursor.ts";
import { clearFork, moveStartPoints, readLaterStarts } from "#src/chain/index/groups.ts";
import * as measure from "#src/chain/index/metrics.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { ProgressMeter } from "#src/chain/index/progress.ts";
import { type CursorScope, fetchRows, scopeOf, undoRows } from "#src/chain/index/rows.ts";
import { nextCheckpoint } from "#src/chain/index/checkpoint.ts";
import type { Supplies } from "#src/chain/index/supply.ts";
import type { RecentBlocks } from "#src/chain/index/recentBlocks.ts";
import type { Queries, Store } from "#src/store/store.ts";

export interface IndexerOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly cursor: string;
  readonly projections: readonly Projection[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Produces what folds request. */
  readonly supplies?: Supplies | undefined;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Wakes actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  readonly log: Log;
  /** Blocks that a rollback may go back. */
  readonly keepBlocks: number;
  /** Whether the blocks read are kept as points (`chain_block`). The main cursor's points serve all cursors. */
  readonly keepsPoints: boolean;
  /** Distance from the tip, in blocks, within which each block has its own transaction. */
  readonly near: number;
  readonly meter?: ProgressMeter;
  readonly onStep?: OnStep | undefined;
  /** Points to go on from, newest first. */
  readonly points: () => Promise<readonly Point[]>;
  /** Whether a batch must end after the block of this slot. */
  readonly stopsAt?: (slot: number) => boolean;
  /** Last slot that may be read now. `changed` resolves when that may have changed. */
  readonly limit?: () => number;
  readonly changed?: () => Promise<void>;
  /** Milliseconds until the network is queried again after a block of an unknown era; a minute unless given. */
  readonly eraWaitMs?: number | undefined;
  /** Called between steps; true ends the indexer. */
  readonly ended?: (way: IndexerPosition) => Promise<boolean>;
  /** Within a rollback's transaction; `affected` are the rows that began or ended above the slot, as they were. */
  readonly onUndo?: (sql: Queries, slot: number, affected: Rows) => Promise<void>;
  /** Recent blocks, for the projections that keep them. */
  readonly recentBlocks?: readonly RecentBlocks[];
  /** After each commit, before the next step; `blocks` is empty for a rollback. */
  readonly onMoved?: (at: Tip, blocks: readonly ScannedBlock[]) => Promise<void>;
}

/** An indexer between two steps, as `ended` sees it. */
export interface IndexerPosition {
  readonly at: Tip;
  /** Whether the indexer is at a block, or has all blocks up to it at hand and they fit one transaction. */
  canReach(point: Point): boolean;
  /** Applies the blocks up to such a block at once; gives whether the indexer is there afterwards. */
  advanceTo(point: Point): Promise<boolean>;
}

/** Fault injection: called at the fault points of a step, with the step's cursor. */
type OnStep = (step: FollowerStep, cursor: string) => void | Promise<void>;

/** The points of a step's work at which tests inject faults. */
export type FollowerStep =
  | "scanned"
  | "folded"
  | "supplying"
  | "before-commit"
  | "after-commit"
  | "before-undo"
  | "after-undo"
  | "before-join"
  | "after-join"
  | "answering";

const BACKOFF_MS = [50, 100, 200, 500, 1_000, 2_000];
const LONGEST_BACKOFF_MS = 5_000;
/** Milliseconds until the network is queried again after a block of an unknown era: only a rollback or another release changes that. */
const ERA_WAIT_MS = 60_000;
/** Blocks in one transaction at most. */
const MAX_BLOCKS = 1_000;
/** Blocks that are nearby, however few of them fit a transaction. */
const NEARBY = 16;
/** Transactions at most in which an indexer reaches a block nearby. */
const MAX_ADVANCES = 4;

/** Whether an error says that a block is of an era unknown to this release, as the scanner and each provider report it. */
function isEraUnknown(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "era_unknown";
}

/** The cursor's generation changed since the step was folded: it is folded again. */
class GenerationChanged extends Error {}
/** The cursor was deleted: its members were handed to the main cursor or dismissed. */
class CursorGone extends Error {}

/** A transaction under the follower's lease. */
export async function fenced<T>(
  { store, fence }: Pick<IndexerOptions, "store" | "fence">,
  work: (sql: Queries) => Promise<T>,
): Promise<T> {
  // in an object, because the driver would await the members of an array
  const { value } = await store.sql.begin(async (sql) => {
    await fence(sql);
    return await work(sql).then((value) => ({ value }));
  });
  return value;
}

export class Indexer {
  private readonly scope: CursorScope;
  private readonly catalog = new Catalog();
  private queue: Promise<void> = Promise.resolve();
  private readonly writeBudget = new WriteBudget(200, 20);
  private readonly undoBudget = new WriteBudget(2_000, 500);
  /** Blocks, or slots, to roll back in one transaction, if they do not hold too many changes. */
  private rollbackDistance = 16;
  /**
   * Blocks to fold in one batch: as many as the next transaction can hold, if they change as much as the last ones. The
   * rows that their keys name are read for all of them, so those of a block that does not fit would be read again with
   * each batch before it.
   */
  private batchSize = NEARBY;
  /** Position of the cursor, as far as this process knows. */
  at: Tip | undefined;
  /** Why the indexer does not go on: the next block is of an era that this release does not know. Undefined while it can. */
  halted: Failure<"era_unknown"> | undefined;
  private haltedAt: string | undefined;

  constructor(private readonly options: IndexerOptions) {
    this.scope = scopeOf(options.projections, options.cursor);
  }

  /**
   * Follows until the signal aborts or the indexer has ended. A lost connection or database is retried with backoff.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { port, log, points, projections } = this.options;
    for (let failures = 0; !signal.aborted;) {
      const session = new AbortController();
      const stop = () => session.abort();
      signal.addEventListener("abort", stop, { once: true });
      try {
        this.at = (await this.cursorState()).at;
        const keys = (block: ScannedBlock) => projections.map((projection) => projection.keys(block));
        const lookAhead = new LookAhead(port.follow(await points(), session.signal), keys, session.signal);
        const moved = () => {
          failures = 0;
          if (this.at?.hash !== this.haltedAt) this.halted = undefined;
        };
        if (await this.follow(lookAhead, signal, moved)) return;
      } catch (error) {
        if (signal.aborted || error instanceof CursorGone) return;
        measure.interruptions.of().inc();
        if (isEraUnknown(error)) {
          await this.halt(error, signal);
          continue;
        }
        log.warn("following is interrupted", { reason: reason(error) });
        await sleep(BACKOFF_MS[failures++] ?? LONGEST_BACKOFF_MS, signal);
      } finally {
        session.abort();
        signal.removeEventListener("abort", stop);
      }
    }
  }

  /** Waits where the next block cannot be read by this release; said once. What was read before it stays as it is. */
  private async halt(error: Error, signal: AbortSignal): Promise<void> {
    if (!this.halted) {
      this.haltedAt = this.at?.hash;
      this.halted = {
        code: "era_unknown",
        message: `The chain continues in an era that this release does not support (${
          reason(error)
        }): a newer release is needed.`,
      };
      const { code, message } = this.halted;
      this.options.log.error("following has stopped", { code, reason: message, height: this.at?.height ?? null });
    }
    await sleep(this.options.eraWaitMs ?? ERA_WAIT_MS, signal);
  }

  /** Runs `work` while no step is applied. */
  serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.then(() => {}, () => {});
    return result;
  }

  /** Applies steps until the signal aborts (false) or the indexer has ended (true). */
  private async follow(lookAhead: LookAhead, signal: AbortSignal, onApplied: () => void): Promise<boolean> {
    const { limit = () => Infinity, changed, ended } = this.options;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted) {
      const wake = [lookAhead.more(), aborted, ...(changed ? [changed()] : [])];
      try {
        if (await ended?.(this.position(lookAhead))) return true;
        const { first } = lookAhead;
        if (!first || (first.type === "forward" && first.block.slot > limit())) {
          await Promise.race(wake);
          continue;
        }
        if (first.type === "backward") {
          lookAhead.begin(1);
          await this.serially(() => this.backward(first.point, first.tip));
          lookAhead.done(1);
        } else await this.advance(lookAhead, this.isNear(first) ? 1 : this.batchSize, limit());
        onApplied();
      } catch (error) {
        lookAhead.begin(0);
        if (!(error instanceof GenerationChanged)) throw error;
      }
    }
    return false;
  }

  /** Applies some of the blocks that are at hand, up to a slot. */
  private async advance(lookAhead: LookAhead, most: number, slot: number): Promise<void> {
    const steps = lookAhead.blocks(most).filter(({ block }) => block.slot <= slot);
    lookAhead.begin(steps.length);
    lookAhead.done(await this.serially(() => this.forward(steps)));
  }

  /** Position of the cursor, which `run` reads first. */
  private get reached(): Tip {
    if (!this.at) throw new Error("the cursor was not read");
    return this.at;
  }

  private position(lookAhead: LookAhead): IndexerPosition {
    const canReach = (point: Point) =>
      samePoint(this.reached, point) ||
      lookAhead.blocks(Math.max(NEARBY, this.batchSize)).some(({ block }) => samePoint(block, point));
    return {
      at: this.reached,
      canReach,
      advanceTo: async (point) => {
        // a transaction may take fewer blocks than expected
        for (let i = 0; i < MAX_ADVANCES && !samePoint(this.reached, point) && canReach(point); i++) {
          await this.advance(lookAhead, Math.max(NEARBY, this.batchSize), point.slot);
        }
        return samePoint(this.reached, point);
      },
    };
  }

  private isNear({ block, tip }: { readonly block: ScannedBlock; readonly tip: Tip }): boolean {
    return tip.height - block.height < this.options.near;
  }

  private async injectFault(step: FollowerStep): Promise<void> {
    await this.options.onStep?.(step, this.options.cursor);
  }

  private async cursorState(): Promise<CursorState> {
    const cursor = await readCursorById(this.options.store.sql, this.options.cursor);
    if (!cursor) throw new CursorGone();
    return cursor;
  }

  /** Applies the first of these blocks; gives how many. */
  private async forward(steps: readonly ForwardStep[]): Promise<number> {
    const { store, projections, keepBlocks, stopsAt } = this.options;
    const startedAt = performance.now();
    await this.injectFault("scanned");
    const cursor = await this.cursorState();
    const [first] = steps;
    if (!first) return 0;
    if (samePoint(first.block, cursor.at)) return 1;
    const wrong = linkProblem(first.block, cursor.at);
    if (wrong !== undefined) throw new Error(wrong);
    const isFinal = (step: { block: ScannedBlock; tip: Tip }) => step.tip.height - step.block.height > keepBlocks;
    const batch = await this.fold(steps, {
      sql: store.sql,
      catalog: this.catalog,
      projections,
      scope: this.scope,
      laterStarts: await readLaterStarts(store.sql, this.options.cursor, cursor.at),
      isFinal,
      ends: (step, changes, last) =>
        changes >= this.writeBudget.changes || this.isNear(step) || stopsAt?.(last.slot) === true ||
        linkProblem(step.block, last) !== undefined,
    });
    await this.injectFault("folded");
    const { blocks, touched } = batch;
    const folded = steps.slice(0, blocks.length);
    const last = folded.at(-1);
    if (!last) throw new Error("no block was folded");
    const points = folded.filter((step) => step === last || !isFinal(step));
    await this.write(cursor, batch, points.map(({ block }) => block), last);
    (this.options.keepsPoints ? measure.blocks : measure.restoredBlocks).of().inc(blocks.length);
    measure.blockSeconds.of().since(startedAt);
    this.at = last.block;
    this.remember(cursor.at, folded);
    await this.injectFault("after-commit");
    this.options.ring(touched);
    this.options.meter?.moved(last.block, last.tip, blocks.length);
    await this.options.onMoved?.(last.block, blocks);
    return blocks.length;
  }

  private remember(from: Point, steps: readonly ForwardStep[]): void {
    for (const [p, { name }] of this.options.projections.entries()) {
      const recent = this.options.recentBlocks?.find(({ projection }) => projection.name === name);
      recent?.add(from, steps, ({ keys }) => keys[p] ?? []);
    }
  }

  /** Folds blocks. What the folds request is produced and stored first, then they are folded again. */
  private async fold(steps: readonly ForwardStep[], options: BatchOptions): Promise<Batch> {
    for (let before = "";;) {
      const batch = await foldBlocks(steps, options);
      if (batch.wants.size === 0) return batch;
      const wanted = toJson([...batch.wants]);
      if (wanted === before) {
        throw new Error(`data for a block was provided and is requested again: ${wanted.slice(0, 200)}`);
      }
      before = wanted;
      await this.supply(batch.wants);
    }
  }

  private async supply(wants: Batch["wants"]): Promise<void> {
    const { supplies } = this.options;
    const keeps = await Promise.all([...wants].map(([projection, wanted]) => {
      const supply = supplies?.get(projection);
      if (!supply) throw new Error(`no provider for the data that ${projection} requests`);
      return supply(wanted);
    }));
    await this.injectFault("supplying");
    await fenced(this.options, async (sql) => {
      for (const keep of keeps) await keep(sql);
    });
  }

  /** Writes a batch in one transaction, and adapts the size of the next to the time that this one took. */
  private async write(
    cursor: CursorState,
    batch: Batch,
    points: readonly ScannedBlock[],
    last: ForwardStep,
  ): Promise<void> {
    const { blocks, overlay, touched } = batch;
    const startedAt = performance.now();
    await this.options.store.sql.begin(async (sql) => {
      await this.lockCursor(sql, cursor);
      await overlay.flush(sql);
      if (this.options.keepsPoints) await keepPoints(sql, cursor.at, points);
      await this.moveCursor(sql, last.block, last.tip);
      await this.options.append(sql, touched);
      await this.injectFault("before-commit");
    });
    const took = performance.now() - startedAt;
    measure.writeSeconds.of().observe(took / 1_000);
    const changes = overlay.size + touched.length;
    this.writeBudget.took(changes, took);
    // a transaction of many blocks without changes is judged by its time only
    const blocksThatFit = took > WRITE_MS ? blocks.length * WRITE_MS / took : blocks.length * 2;
    const changesThatFit = Math.max(1, this.writeBudget.changes * blocks.length / changes);
    this.batchSize = Math.round(Math.min(MAX_BLOCKS, changesThatFit, Math.max(NEARBY, blocksThatFit)));
  }

  /** Checks the lease and locks the cursor. Throws if the cursor is not where the step was computed. */
  private async lockCursor(sql: Queries, { at, generation }: CursorState): Promise<void> {
    await this.options.fence(sql);
    const [row] = await sql<{ slot: bigint; hash: string; generation: bigint }[]>`
      select slot, hash, generation from chain_cursor where id = ${this.options.cursor} for update`;
    if (!row) throw new CursorGone();
    if (Number(row.slot) !== at.slot || row.hash !== at.hash) {
      throw new Error("the cursor has moved under this follower");
    }
    if (row.generation !== generation) throw new GenerationChanged();
  }

  /**
   * Rolls back, in several short transactions if many rows change. Each ends at a checkpoint from which a restart can
   * go on.
   */
  private async backward(point: Point, tip: Tip): Promise<void> {
    const { store, keepsPoints } = this.options;
    const start = (await this.cursorState()).at;
    if (samePoint(point, start)) return;
    const to = point.slot < 0 ? this.originTarget(start) : await this.keptTarget(point, start);
    let entities = 0;
    for (let from: Point = start; !samePoint(from, to); from = this.reached) {
      const range = { from, to, tables: this.scope.tables, hasPoints: keepsPoints };
      const { position, distance } = await nextCheckpoint(
        store.sql,
        range,
        this.rollbackDistance,
        this.undoBudget.changes,
      );
      this.rollbackDistance = Math.min(MAX_BLOCKS, distance * 2);
      entities += await this.undo(position, tip);
    }
    measure.rollbacks.of().inc();
    measure.blocksUndone.of().inc(Math.max(0, start.height - to.height));
    this.options.log.info("rolled back", { from: start.slot, to: to.slot, entities });
  }

  /** Undoes what is above a position, in one transaction; gives how many entities that touched. */
  private async undo(to: Tip, tip: Tip): Promise<number> {
    const { store, projections, onUndo } = this.options;
    const cursor = await this.cursorState();
    await this.injectFault("before-undo");
    const touched: Touched[] = [];
    let undone = 0;
    let startedAt = 0;
    await store.sql.begin(async (sql) => {
      startedAt = performance.now();
      touched.length = 0;
      await this.lockCursor(sql, cursor);
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
      await moveStartPoints(sql, this.options.cursor, to);
      await this.moveCursor(sql, to, tip);
      await clearFork(sql, this.options.cursor, to.slot);
      await this.options.append(sql, touched);
    });
    const took = performance.now() - startedAt;
    measure.writeSeconds.of().observe(took / 1_000);
    this.undoBudget.took(undone, took);
    this.at = to;
    await this.injectFault("after-undo");
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

  private async moveCursor(sql: Queries, at: Tip, tip: Tip): Promise<void> {
    await sql`update chain_cursor set slot = ${at.slot}, hash = ${at.hash}, height = ${at.height},
      tip_slot = ${tip.slot}, tip_height = ${tip.height} where id = ${this.options.cursor}`;
  }
}
