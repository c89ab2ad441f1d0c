/**
 * The indexer moves one cursor along the chain: steps from the port become rows.
 *
 * Assumptions: the process holds the follower's lease. Every transaction here checks the lease's epoch, so an indexer
 * whose follower lost the lease writes nothing. The rows of a batch of blocks, their entries in the chain log and the
 * cursor commit together, so a crash leaves all of them or none. Steps are applied one after another. Far from the tip
 * many blocks share a transaction, none of which should take over 100 ms. A folded batch is written only if the cursor
 * still has the generation at which it was folded, so that members assigned or dismissed meanwhile miss nothing.
 */
import { aborted, sleep } from "#src/base/clock.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { toJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import type { Failure } from "#src/base/result.ts";
import { endSpan, startSpan, within } from "#src/base/trace.ts";
import { type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import { type ForwardStep, LookAhead } from "#src/chain/index/lookAhead.ts";
import { type Batch, type BatchOptions, foldBlocks } from "#src/chain/index/foldBlocks.ts";
import { WRITE_MS, WriteBudget } from "#src/chain/index/writeBudget.ts";
import { Catalog } from "#src/chain/index/catalog.ts";
import { type CursorState, keepPoints, linkProblem } from "#src/chain/index/cursor.ts";
import { readLaterStarts } from "#src/chain/index/groups.ts";
import * as measure from "#src/chain/index/metrics.ts";
import { type CursorScope, scopeOf } from "#src/chain/index/rows.ts";
import { CursorGone, fenced, GenerationChanged, IndexerCursor } from "#src/chain/index/indexerCursor.ts";
import {
  type FollowerStep,
  type IndexerOptions,
  type IndexerPosition,
  MAX_BLOCKS,
} from "#src/chain/index/indexerOptions.ts";
import { Rollbacks } from "#src/chain/index/rollbacks.ts";

const BACKOFF_MS = [50, 100, 200, 500, 1_000, 2_000];
const LONGEST_BACKOFF_MS = 5_000;
/** Milliseconds until the network is queried again after a block of an unknown era: only a rollback or another release changes that. */
const ERA_WAIT_MS = 60_000;
/** Blocks that are nearby, however few of them fit a transaction. */
const NEARBY = 16;
/** Transactions at most in which an indexer reaches a block nearby. */
const MAX_ADVANCES = 4;

/** Whether an error says that a block is of an era unknown to this release, as the scanner and each provider report it. */
function isEraUnknown(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "era_unknown";
}

export class Indexer {
  private readonly scope: CursorScope;
  private readonly cursor: IndexerCursor;
  private readonly rollbacks: Rollbacks;
  private readonly catalog = new Catalog();
  private queue: Promise<void> = Promise.resolve();
  private readonly writeBudget = new WriteBudget(200, 20);
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
    this.cursor = new IndexerCursor(options);
    this.rollbacks = new Rollbacks(options, this.cursor, this.scope, (at) => this.at = at);
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
        this.at = (await this.cursor.state()).at;
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
    const end = aborted(signal);
    while (!signal.aborted) {
      const wake = [lookAhead.more(), end, ...(changed ? [changed()] : [])];
      try {
        if (await ended?.(this.position(lookAhead))) return true;
        const { first } = lookAhead;
        if (!first || (first.type === "forward" && first.block.slot > limit())) {
          await Promise.race(wake);
          continue;
        }
        if (first.type === "backward") {
          lookAhead.begin(1);
          await this.serially(() => this.rollbacks.to(first.point, first.tip));
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
    lookAhead.done(await this.serially(() => this.traced(steps)));
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

  /** Applies the first of these blocks in a trace of its own: what the follower does has no request as its cause. */
  private async traced(steps: readonly ForwardStep[]): Promise<number> {
    const span = startSpan("index blocks", "consumer", undefined, { "arbor.cursor": this.options.cursor });
    try {
      const count = await within(span, () => this.forward(steps));
      span?.setAttributes({ "arbor.blocks": count, "arbor.height": this.reached.height });
      endSpan(span);
      return count;
    } catch (error) {
      endSpan(span, errorCode(error) || "failed");
      throw error;
    }
  }

  /** Applies the first of these blocks; gives how many. */
  private async forward(steps: readonly ForwardStep[]): Promise<number> {
    const { store, projections, keepBlocks, stopsAt } = this.options;
    const startedAt = performance.now();
    await this.injectFault("scanned");
    const cursor = await this.cursor.state();
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
    await this.write(cursor, batch, points.map(({ block }) => block), last, isFinal(last));
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
    settled: boolean,
  ): Promise<void> {
    const { blocks, overlay, touched } = batch;
    const startedAt = performance.now();
    await this.options.store.sql.begin(async (sql) => {
      await this.cursor.lock(sql, cursor);
      await overlay.flush(sql);
      await this.options.onBlocks?.(sql, cursor.at, blocks, settled);
      if (this.options.keepsPoints) await keepPoints(sql, cursor.at, points);
      await this.cursor.move(sql, last.block, last.tip);
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
}
