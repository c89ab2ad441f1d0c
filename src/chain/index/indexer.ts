/**
 * A lane: one cursor's way along the chain, from the port into rows.
 *
 * Hypotheses: whoever holds the follower's lease runs this, and every transaction here checks the lease's epoch, so a lane whose
 * follower lost it writes nothing; the rows of some blocks, their entries in the chain log and the cursor commit together, so that a crash
 * at any line leaves either all of them or none; steps are applied one after another; far from the tip many blocks share a transaction,
 * of which none is to take over 100 ms; what was folded for a cursor is written only while the cursor has the generation it was
 * folded at, so that things that join or leave between the two miss nothing.
 */
import { sleep } from "#src/base/clock.ts";
import { toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Failure } from "#src/base/result.ts";
import { origin, type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import type { Projection, Rows, Touched } from "#src/cardano/projection.ts";
import { Ahead, type Forward } from "#src/chain/index/lookAhead.ts";
import { type Batch, type BatchOptions, foldBlocks } from "#src/chain/index/foldBlocks.ts";
import { Budget, WRITE_MS } from "#src/chain/index/writeBudget.ts";
import { Catalog } from "#src/chain/index/catalog.ts";
import { type Place, readPlace } from "#src/chain/index/cursor.ts";
import { moveBirths, passedFork, readUnborn } from "#src/chain/index/groups.ts";
import * as measure from "#src/chain/index/metrics.ts";
import { keepPoints, linkProblem } from "#src/chain/index/points.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { ProgressMeter } from "#src/chain/index/progress.ts";
import { fetchRows, type Reach, reachOf, undoRows } from "#src/chain/index/rows.ts";
import { stopover } from "#src/chain/index/checkpoint.ts";
import type { Supplies } from "#src/chain/index/supply.ts";
import type { Trail } from "#src/chain/index/recentBlocks.ts";
import type { Queries, Store } from "#src/store/store.ts";

export interface LaneOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly cursor: string;
  readonly projections: readonly Projection[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Who makes what folds want. */
  readonly supplies?: Supplies | undefined;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Doorbell for actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  readonly log: Log;
  /** Blocks that a rollback may reach back. */
  readonly keepBlocks: number;
  /** Whether the blocks read are kept as points: those of the main cursor serve all. */
  readonly keepsPoints: boolean;
  /** Blocks from the tip within which each has a transaction of its own. */
  readonly near: number;
  readonly meter?: ProgressMeter;
  readonly onStep?: OnStep | undefined;
  /** Points to go on from, newest first. */
  readonly points: () => Promise<readonly Point[]>;
  /** Where a batch ends, although it could go on. */
  readonly stopsAt?: (slot: number) => boolean;
  /** Last slot that may be read now; `changed` resolves when it may be another. */
  readonly limit?: () => number;
  readonly changed?: () => Promise<void>;
  /** Milliseconds until the network is asked again after a block of an unknown era; a minute unless said otherwise. */
  readonly eraWaitMs?: number | undefined;
  /** Asked between steps: true ends the lane. */
  readonly ended?: (way: LaneWay) => Promise<boolean>;
  /** Within a rollback's transaction; `affected` are the rows that began or ended above the slot, as they were. */
  readonly onUndo?: (sql: Queries, slot: number, affected: Rows) => Promise<void>;
  /** What is remembered of blocks, of those projections of which something is. */
  readonly trails?: readonly Trail[];
  /** After each commit, before the next step; `blocks` is empty for a rollback. */
  readonly onMoved?: (at: Tip, blocks: readonly ScannedBlock[]) => Promise<void>;
}

/** A lane between two of its steps, for whoever decides whether it ends here. */
export interface LaneWay {
  /** Where it stands. */
  readonly at: Tip;
  /** Whether it stands at a block, or has all blocks up to it at hand and they are few enough for one transaction. */
  near(point: Point): boolean;
  /** Goes on to such a block at once; gives whether the lane stands there then. */
  reach(point: Point): Promise<boolean>;
}

/** Fault injection: called between the lines of a step's work, with the cursor whose step it is. */
export type OnStep = (step: FollowerStep, cursor: string) => void | Promise<void>;

/** The lines of a step's work between which tests put faults. */
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

const BACKOFF_MS = [50, 100, 200, 500, 1_000, 2_000, 5_000];
/** Until the network is asked again after a block of an era that is not known: only a rollback or another release changes that. */
const ERA_WAIT_MS = 60_000;
/** Blocks of one transaction. */
const MOST_BLOCKS = 1_000;
/** Transactions at the most that a lane takes to reach a block nearby. */
const REACH = 4;

/** Whether a block was of an era that is not known here, as the scanner and each provider say it. */
function isEraUnknown(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "era_unknown";
}

/** Things came to the cursor or left it since a step was computed: it is computed anew. */
class Regenerated extends Error {}
/** The cursor is no more: its things have joined another or are gone. */
class CursorGone extends Error {}

export class Lane {
  private readonly reach: Reach;
  private readonly catalog = new Catalog();
  private queue: Promise<void> = Promise.resolve();
  private readonly writing = new Budget(200, 20);
  private readonly undoing = new Budget(2_000, 500);
  /** Blocks, or slots, to take back at once, if there are not too many changes in them. */
  private stride = 16;
  /** Blocks to fold at once: as many as were written the last time, and some more. */
  private ahead = 16;
  /** Where the lane stands, as far as this process knows. */
  at: Tip | undefined;
  /** Why the lane does not go on: the next block is of an era that this release does not know. Undefined while it can. */
  halted: Failure<"era_unknown"> | undefined;
  private haltedAt: string | undefined;

  constructor(private readonly options: LaneOptions) {
    this.reach = reachOf(options.projections, options.cursor);
  }

  /** Follows until the signal aborts or the lane has ended; a lost connection or database is an ordinary event, waited out. */
  async run(signal: AbortSignal): Promise<void> {
    const { port, log, points, projections } = this.options;
    for (let failures = 0; !signal.aborted;) {
      const session = new AbortController();
      const stop = () => session.abort();
      signal.addEventListener("abort", stop, { once: true });
      try {
        this.at = (await this.place()).at;
        const keys = (block: ScannedBlock) => projections.map((projection) => projection.keys(block));
        const ahead = new Ahead(port.follow(await points(), session.signal), keys, session.signal);
        const moved = () => {
          failures = 0;
          if (this.at?.hash !== this.haltedAt) this.halted = undefined;
        };
        if (await this.follow(ahead, signal, moved)) return;
      } catch (error) {
        if (signal.aborted || error instanceof CursorGone) return;
        measure.interruptions.of().inc();
        if (isEraUnknown(error)) {
          await this.halt(error, signal);
          continue;
        }
        log.warn("following is interrupted", { reason: reason(error) });
        await sleep(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)]!, signal);
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
        message: `The chain goes on in an era that this release does not know (${
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

  /** Applies steps until the signal aborts (false) or the lane has ended (true). */
  private async follow(ahead: Ahead, signal: AbortSignal, onApplied: () => void): Promise<boolean> {
    const { limit = () => Infinity, changed, ended } = this.options;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted) {
      const wake = [ahead.more(), aborted, ...(changed ? [changed()] : [])];
      try {
        if (await ended?.(this.way(ahead))) return true;
        const { first } = ahead;
        if (!first || (first.type === "forward" && first.block.slot > limit())) {
          await Promise.race(wake);
          continue;
        }
        if (first.type === "backward") {
          ahead.begin(1);
          await this.serially(() => this.backward(first.point, first.tip));
          ahead.done(1);
        } else await this.advance(ahead, this.isNear(first) ? 1 : this.ahead, limit());
        onApplied();
      } catch (error) {
        ahead.begin(0);
        if (!(error instanceof Regenerated)) throw error;
      }
    }
    return false;
  }

  /** Applies some of the blocks that are at hand, up to a slot. */
  private async advance(ahead: Ahead, most: number, slot: number): Promise<void> {
    const steps = ahead.forwards(most).filter(({ block }) => block.slot <= slot);
    ahead.begin(steps.length);
    ahead.done(await this.serially(() => this.forward(steps)));
  }

  private way(ahead: Ahead): LaneWay {
    const near = (point: Point) =>
      samePoint(this.at!, point) || ahead.forwards(this.ahead).some(({ block }) => samePoint(block, point));
    return {
      at: this.at!,
      near,
      reach: async (point) => {
        // a transaction may take fewer blocks than it was thought to
        for (let i = 0; i < REACH && !samePoint(this.at!, point) && near(point); i++) {
          await this.advance(ahead, this.ahead, point.slot);
        }
        return samePoint(this.at!, point);
      },
    };
  }

  private isNear({ block, tip }: { readonly block: ScannedBlock; readonly tip: Tip }): boolean {
    return tip.height - block.height < this.options.near;
  }

  private async line(step: FollowerStep): Promise<void> {
    await this.options.onStep?.(step, this.options.cursor);
  }

  private async place(): Promise<Place> {
    const place = await readPlace(this.options.store.sql, this.options.cursor);
    if (!place) throw new CursorGone();
    return place;
  }

  /** Applies the first of these blocks; gives how many. */
  private async forward(steps: readonly Forward[]): Promise<number> {
    const { store, projections, keepBlocks, stopsAt } = this.options;
    const begun = performance.now();
    await this.line("scanned");
    const place = await this.place();
    if (samePoint(steps[0]!.block, place.at)) return 1;
    const wrong = linkProblem(steps[0]!.block, place.at);
    if (wrong !== undefined) throw new Error(wrong);
    const settled = (step: { block: ScannedBlock; tip: Tip }) => step.tip.height - step.block.height > keepBlocks;
    const batch = await this.fold(steps, {
      sql: store.sql,
      catalog: this.catalog,
      projections,
      reach: this.reach,
      unborn: await readUnborn(store.sql, this.options.cursor, place.at),
      settled,
      ends: (step, changes, last) =>
        changes >= this.writing.changes || this.isNear(step) || stopsAt?.(last.slot) === true ||
        linkProblem(step.block, last) !== undefined,
    });
    await this.line("folded");
    const { blocks, touched } = batch;
    const last = steps[blocks.length - 1]!;
    const points = steps.slice(0, blocks.length).filter((step) => step === last || !settled(step));
    await this.write(place, batch, points.map(({ block }) => block), last.tip);
    (this.options.keepsPoints ? measure.blocks : measure.restoredBlocks).of().inc(blocks.length);
    measure.blockSeconds.of().since(begun);
    this.at = last.block;
    this.remember(place.at, steps.slice(0, blocks.length));
    await this.line("after-commit");
    this.options.ring(touched);
    this.options.meter?.moved(last.block, last.tip, blocks.length);
    await this.options.onMoved?.(last.block, blocks);
    return blocks.length;
  }

  private remember(from: Point, steps: readonly Forward[]): void {
    for (const [p, { name }] of this.options.projections.entries()) {
      const trail = this.options.trails?.find(({ projection }) => projection.name === name);
      trail?.add(from, steps, ({ keys }) => keys[p]!);
    }
  }

  /** Folds blocks, and has made what they want meanwhile. */
  private async fold(steps: readonly Forward[], options: BatchOptions): Promise<Batch> {
    for (let before = "";;) {
      const batch = await foldBlocks(steps, options);
      if (batch.wants.size === 0) return batch;
      const wanted = toJson([...batch.wants]);
      if (wanted === before) {
        throw new Error(`what a block wants was made and is wanted again: ${wanted.slice(0, 200)}`);
      }
      before = wanted;
      await this.supply(batch.wants);
    }
  }

  private async supply(wants: Batch["wants"]): Promise<void> {
    const { store, supplies, fence } = this.options;
    const keeps = await Promise.all([...wants].map(([projection, wanted]) => {
      const supply = supplies?.get(projection);
      if (!supply) throw new Error(`nobody makes what ${projection} wants`);
      return supply(wanted);
    }));
    await this.line("supplying");
    await store.sql.begin(async (sql) => {
      await fence(sql);
      for (const keep of keeps) await keep(sql);
    });
  }

  /** Writes a batch in one transaction, and learns from it how much the next may hold. */
  private async write(place: Place, batch: Batch, points: readonly ScannedBlock[], tip: Tip): Promise<void> {
    const { blocks, overlay, touched } = batch;
    const begun = performance.now();
    await this.options.store.sql.begin(async (sql) => {
      await this.claim(sql, place);
      await overlay.flush(sql);
      if (this.options.keepsPoints) await keepPoints(sql, place.at, points);
      await this.moveCursor(sql, blocks.at(-1)!, tip);
      await this.options.append(sql, touched);
      await this.line("before-commit");
    });
    const took = performance.now() - begun;
    measure.writeSeconds.of().observe(took / 1_000);
    this.writing.took(overlay.size + touched.length, took);
    // a transaction of many blocks without changes is judged by its time alone
    const blocksThatFit = took > WRITE_MS ? blocks.length * WRITE_MS / took : blocks.length * 2;
    this.ahead = Math.round(Math.min(MOST_BLOCKS, Math.max(16, blocksThatFit)));
  }

  /** Under the lease, with the cursor where this step was computed from. */
  private async claim(sql: Queries, { at, generation }: Place): Promise<void> {
    await this.options.fence(sql);
    const [row] = await sql<{ slot: bigint; hash: string; generation: bigint }[]>`
      select slot, hash, generation from chain_cursor where id = ${this.options.cursor} for update`;
    if (!row) throw new CursorGone();
    if (Number(row.slot) !== at.slot || row.hash !== at.hash) {
      throw new Error("the cursor has moved under this follower");
    }
    if (row.generation !== generation) throw new Regenerated();
  }

  /** Rolls back, a deep way in steps that are each whole: a short transaction to a place between, from which a crash goes on as well. */
  private async backward(point: Point, tip: Tip): Promise<void> {
    const { store, keepsPoints } = this.options;
    const begun = (await this.place()).at;
    if (samePoint(point, begun)) return;
    const to = point.slot < 0 ? this.beginning(begun) : await this.known(point, begun);
    let entities = 0;
    for (let from: Point = begun; !samePoint(from, to); from = this.at!) {
      const way = { from, to, tables: this.reach.tables, hasPoints: keepsPoints };
      const { place, steps } = await stopover(store.sql, way, this.stride, this.undoing.changes);
      this.stride = Math.min(MOST_BLOCKS, steps * 2);
      entities += await this.undo(place, tip);
    }
    measure.rollbacks.of().inc();
    measure.blocksUndone.of().inc(Math.max(0, begun.height - to.height));
    this.options.log.info("rolled back", { from: begun.slot, to: to.slot, entities });
  }

  /** Undoes what is above a place, in one transaction; gives how many entities that touched. */
  private async undo(to: Tip, tip: Tip): Promise<number> {
    const { store, projections, onUndo } = this.options;
    const place = await this.place();
    await this.line("before-undo");
    const touched: Touched[] = [];
    let undone = 0;
    let begun = 0;
    await store.sql.begin(async (sql) => {
      begun = performance.now();
      touched.length = 0;
      await this.claim(sql, place);
      const affected = await undoRows(sql, place.at.slot, to.slot, this.reach);
      undone = [...affected.values()].reduce((sum, rows) => sum + rows.length, 0);
      await onUndo?.(sql, to.slot, affected);
      for (const projection of projections) {
        const queries = projection.undoKeys?.(affected, { from: place.at.slot, to: to.slot }) ?? [];
        const rows = await fetchRows(sql, queries, this.reach);
        touched.push(...projection.undo(to, affected, rows));
      }
      if (this.options.keepsPoints) {
        const blocks = await sql`delete from chain_block where slot > ${to.slot} returning 1`;
        undone += blocks.length;
      }
      await moveBirths(sql, this.options.cursor, to);
      await this.moveCursor(sql, to, tip);
      await passedFork(sql, this.options.cursor, to.slot);
      await this.options.append(sql, touched);
    });
    const took = performance.now() - begun;
    measure.writeSeconds.of().observe(took / 1_000);
    this.undoing.took(undone, took);
    this.at = to;
    await this.line("after-undo");
    this.options.ring(touched);
    await this.options.onMoved?.(to, []);
    return touched.length;
  }

  /** The chain's beginning, unless a rollback to there is deeper than any that a network makes: then it is another chain, or one that is far behind. */
  private beginning(at: Tip): Tip {
    const { keepsPoints, keepBlocks } = this.options;
    if (keepsPoints && at.height > keepBlocks) {
      throw new Error(
        "a rollback to the beginning is deeper than the blocks kept here: the network has none of the last ones",
      );
    }
    return { ...origin, height: 0 };
  }

  private async known(point: Point, at: Tip): Promise<Tip> {
    const rows = await this.options.store.sql<{ height: bigint }[]>`
      select height from chain_block where slot = ${point.slot} and hash = ${point.hash}`;
    if (rows[0]) return { ...point, height: Number(rows[0].height) };
    // nothing is ever pruned of what is read apart, so it can go back any way; the next block tells the height
    if (!this.options.keepsPoints) return { ...point, height: at.height };
    throw new Error(`a rollback to ${point.slot} is deeper than the blocks kept here`);
  }

  private async moveCursor(sql: Queries, at: Tip, tip: Tip): Promise<void> {
    await sql`update chain_cursor set slot = ${at.slot}, hash = ${at.hash}, height = ${at.height},
      tip_slot = ${tip.slot}, tip_height = ${tip.height} where id = ${this.options.cursor}`;
  }
}
