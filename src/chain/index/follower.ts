/**
 * The follower: reads the chain through the port and is the only writer of index rows. The main indexer reads for
 * everything that is up to date; further indexers restore members (wallets, tokens) from an earlier block; the outputs
 * of watched addresses and what no block contains are queried from the network.
 *
 * Assumption: the process that runs this holds the follower's lease.
 */
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import type { Failure } from "#src/base/result.ts";
import type { ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Rows } from "#src/chain/index/projection.ts";
import { lapseReservations } from "#src/chain/pending/spendable.ts";
import { MAIN, readCursor, readPoints } from "#src/chain/index/cursor.ts";
import { markFork } from "#src/chain/index/groups.ts";
import { type NetworkQuery, NetworkQueryRunner } from "#src/chain/index/networkQueries.ts";
import { Indexer } from "#src/chain/index/indexer.ts";
import { fenced } from "#src/chain/index/indexerCursor.ts";
import type { IndexerOptions } from "#src/chain/index/indexerOptions.ts";
import * as measure from "#src/chain/index/metrics.ts";
import type { At } from "#src/chain/provider/port.ts";
import type { OutputSet } from "#src/chain/index/outputSet.ts";
import { type Progress, progressLine, ProgressMeter } from "#src/chain/index/progress.ts";
import { prune, pruneTransientRows } from "#src/chain/index/prune.ts";
import { noteRolledBack } from "#src/chain/index/rolledBack.ts";
import { Restoring } from "#src/chain/index/restoring.ts";
import { RecentBlocks } from "#src/chain/index/recentBlocks.ts";
import {
  alignAnswer,
  applyAnswer,
  eraseLapsedWatches,
  undoWatches,
  wantedWatches,
} from "#src/chain/index/watchedAddresses.ts";
import type { Queries } from "#src/store/store.ts";

export type { FollowerStep } from "#src/chain/index/indexerOptions.ts";

export interface FollowerOptions extends
  Pick<
    IndexerOptions,
    "store" | "port" | "projections" | "fence" | "append" | "ring" | "supplies" | "log" | "onStep" | "eraWaitMs"
  > {
  /** What is queried from the network because no block contains it. */
  readonly networkQueries?: readonly NetworkQuery[];
  /** Called in the transaction of a rollback of the main cursor to a slot, with the rows that it undoes. */
  readonly onUndo?: (sql: Queries, slot: number, affected: Rows) => Promise<void>;
  /** The set of all unspent outputs, with its root; `allOutputsProjection` is then one of the projections. */
  readonly outputs?: OutputSet;
  /** Called when the main cursor has moved. */
  readonly onMoved?: (at: Tip) => void;
  /** Gets a line every few seconds while the index is far behind the network's tip. */
  readonly onProgress?: (line: string) => void;
  /** Blocks to keep for rollbacks; twice the network's k by default. */
  readonly keepBlocks?: number;
  /** Distance from the tip, in blocks, within which each block has its own transaction; 20 by default. */
  readonly near?: number;
}

const LAPSE_EVERY_MS = 60_000;
/** Blocks that are kept for rollbacks: twice the k of every public network. */
export const KEEP_BLOCKS = 4_320;
const NEAR = 20;
/** Number of recent blocks kept to bring late answers forward. */
const RECENT_BLOCKS = 32;

/** The network's answer to a query for the outputs of watched addresses. */
interface WatchAnswer {
  readonly addresses: readonly string[];
  readonly at: At<readonly Utxo[]>;
}

export class Follower {
  private readonly main: Indexer;
  private readonly restoring: Restoring;
  private readonly networkQueries: NetworkQueryRunner;
  private recent: ScannedBlock[] = [];
  private waiting: WatchAnswer[] = [];
  private wakeWatcher: () => void = () => {};

  constructor(private readonly options: FollowerOptions) {
    const { store, port, projections, fence, append, ring, log, onStep, near = NEAR } = options;
    const keepBlocks = options.keepBlocks ?? KEEP_BLOCKS;
    const recentBlocks = projections.filter(({ members }) => members !== undefined).map((one) => new RecentBlocks(one));
    const { supplies, eraWaitMs } = options;
    const shared = { store, port, fence, append, ring, keepBlocks, onStep, recentBlocks, supplies, eraWaitMs };
    this.main = new Indexer({
      ...shared,
      log,
      projections,
      cursor: MAIN,
      keepsPoints: true,
      near,
      meter: new ProgressMeter((progress) => this.reportProgress(progress)),
      points: () => readPoints(store.sql),
      stopsAt: (slot) => this.waiting.some(({ at }) => at.point.slot === slot),
      onBlocks: async (sql, from, blocks, settled) => await options.outputs?.apply(sql, from, blocks, settled),
      onUndo: async (sql, slot, affected) => {
        await noteRolledBack(sql, slot, affected);
        await undoWatches(sql, slot);
        await markFork(sql, slot);
        await options.outputs?.undo(sql, slot, affected);
        await options.onUndo?.(sql, slot, affected);
      },
      onMoved: (at, blocks) => this.moved(at, blocks),
    });
    this.restoring = new Restoring({
      ...shared,
      log,
      main: this.main,
      projections: projections.filter(({ members }) => members !== undefined),
      onProgress: (progress, { members, projection }) =>
        this.reportProgress(progress, `${members === 1 ? "One thing" : `${members} things`} of ${projection}`),
    });
    this.networkQueries = new NetworkQueryRunner({
      store,
      port,
      log,
      near,
      append,
      ring,
      queries: options.networkQueries ?? [],
      recent: () => this.recent,
      serially: (work) => this.main.serially(work),
      fenced: (work, at) => this.fenced(work, at),
    });
  }

  /** Follows until the signal aborts. A lost connection to the network or the database is retried with backoff. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([
        this.main.run(signal),
        this.answerWatches(signal),
        this.restoring.run(signal),
        this.networkQueries.run(signal),
      ]);
    } finally {
      await this.options.outputs?.close();
    }
  }

  /** Why the index does not advance; undefined while it can. */
  get halted(): Failure<"era_unknown"> | undefined {
    return this.main.halted;
  }

  /** Wakes the follower: an address is to be watched, or members were enrolled or dismissed. */
  wake(): void {
    this.wakeWatcher();
    this.restoring.wake();
  }

  private reportProgress(progress: Progress, subject?: string): void {
    const line = progressLine(progress, subject);
    this.options.onProgress?.(line);
    this.options.log.info(line);
  }

  private async moved(at: Tip, blocks: readonly ScannedBlock[]): Promise<void> {
    const [first] = blocks;
    if (!first) this.recent = this.recent.filter(({ slot }) => slot <= at.slot);
    else {
      const linked = this.recent.at(-1)?.hash === first.previous ? this.recent : [];
      this.recent = [...linked, ...blocks].slice(-RECENT_BLOCKS);
    }
    await this.applyWaiting(at);
    this.restoring.mainMoved();
    this.networkQueries.wake();
    this.options.onMoved?.(at);
  }

  /**
   * Queries the network for the outputs of wanted addresses, until the signal aborts. A `NetworkQuery` does not fit:
   * watches are answered far from the tip too, several answers wait at a time, a batch of blocks ends at the point of
   * one that waits, and its rows take several transactions within the main indexer's step.
   */
  private async answerWatches(signal: AbortSignal): Promise<void> {
    const { store, port, log } = this.options;
    let lapsed = 0;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.wakeWatcher = resolve));
      try {
        const pending = new Set(this.waiting.flatMap((answer) => answer.addresses));
        const wanted = (await wantedWatches(store.sql)).filter((address) => !pending.has(address));
        if (wanted.length > 0) {
          const answer = await port.utxosByAddress(wanted);
          if (answer.ok) await this.main.serially(() => this.applyAnswer({ addresses: wanted, at: answer.value }));
          else log.warn("the outputs of addresses cannot be read", { reason: answer.error.message });
        }
        if (Date.now() - lapsed > LAPSE_EVERY_MS) {
          lapsed = Date.now();
          await this.prune();
        }
        // an address that is still wanted is queried again soon: its answer was behind, or the network was unreachable
        await Promise.race([woken, sleep(wanted.length > 0 ? 25 : 1_000, signal)]);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("watching addresses is interrupted", { reason: reason(error) });
        await sleep(500, signal);
      }
    }
  }

  /** Deletes rows that no query needs any more, in short transactions between the main indexer's steps. */
  private async prune(): Promise<void> {
    const step = <T>(work: (sql: Queries) => Promise<T>) => this.main.serially(() => this.fenced(work));
    while (await step(eraseLapsedWatches));
    await step(lapseReservations);
    while (await step((sql) => prune(sql, this.options.keepBlocks ?? KEEP_BLOCKS)));
    while (await step((sql) => pruneTransientRows(sql, this.options.projections)));
    await this.main.serially(async () => await this.options.outputs?.complete((work) => this.main.serially(work)));
  }

  private async applyAnswer(answer: WatchAnswer): Promise<void> {
    const { store, onStep } = this.options;
    const { at } = await readCursor(store.sql);
    const place = alignAnswer(answer.at, at, this.recent);
    if (place === "wait") this.waiting.push(answer);
    else if (place !== "ask_again") {
      const write = async (work: (sql: Queries) => Promise<void>) => {
        await onStep?.("answering", MAIN);
        await this.fenced(work, at);
      };
      await applyAnswer(write, answer.addresses, answer.at, place);
    }
  }

  private async applyWaiting(at: Tip): Promise<void> {
    if (this.waiting.length === 0) return;
    const due = this.waiting.filter((answer) => alignAnswer(answer.at, at, this.recent) !== "wait");
    this.waiting = this.waiting.filter((answer) => alignAnswer(answer.at, at, this.recent) === "wait");
    for (const answer of due) await this.applyAnswer(answer);
    if (due.length > 0) this.wake();
  }

  /** A transaction under the lease that locks the main cursor. Throws if `at` is given and the cursor is elsewhere. */
  private async fenced<T>(work: (sql: Queries) => Promise<T>, at?: Tip): Promise<T> {
    let startedAt = 0;
    const result = await fenced(this.options, async (sql) => {
      startedAt = performance.now();
      const [row] = await sql<{ hash: string }[]>`select hash from chain_cursor where id = ${MAIN} for update`;
      if (at && row?.hash !== at.hash) throw new Error("the cursor has moved under this follower");
      return await work(sql);
    });
    measure.writeSeconds.of().observe((performance.now() - startedAt) / 1_000);
    return result;
  }
}
