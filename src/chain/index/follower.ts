/**
 * The follower: reads the chain through the port and is the only writer of index rows. Its main lane reads for all, lanes beside it for
 * things that are being restored, and the outputs of watched addresses are asked of the network.
 *
 * Hypothesis: whoever holds the follower's lease runs this.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Failure } from "#src/base/result.ts";
import type { ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Projection, Touched } from "#src/cardano/projection.ts";
import { lapseReservations } from "#src/chain/pending/spendable.ts";
import { MAIN, readCursor, readPoints } from "#src/chain/index/cursor.ts";
import { forkAt } from "#src/chain/index/groups.ts";
import { Inquirer, type Inquiry } from "#src/chain/index/networkQueries.ts";
import { Lane, type OnStep } from "#src/chain/index/indexer.ts";
import * as measure from "#src/chain/index/metrics.ts";
import type { At, ChainPort } from "#src/chain/provider/port.ts";
import { prunePassing } from "#src/chain/index/transientRows.ts";
import { type Progress, progressLine, ProgressMeter } from "#src/chain/index/progress.ts";
import { prune } from "#src/chain/index/prune.ts";
import { noteRolledBack } from "#src/chain/index/rolledBack.ts";
import { Restoring } from "#src/chain/index/restoring.ts";
import type { Supplies } from "#src/chain/index/supply.ts";
import { Trail } from "#src/chain/index/recentBlocks.ts";
import {
  applyAnswer,
  lapseWatches,
  placeAnswer,
  undoWatches,
  wantedWatches,
} from "#src/chain/index/watchedAddresses.ts";
import type { Queries, Store } from "#src/store/store.ts";

export type { FollowerStep } from "#src/chain/index/indexer.ts";

export interface FollowerOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly projections: readonly Projection[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Doorbell for actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  /** Who makes what folds want, by projection. */
  readonly supplies?: Supplies;
  /** What is asked of the network because no block says it. */
  readonly inquiries?: readonly Inquiry[];
  /** Called when the main cursor has moved. */
  readonly onMoved?: (at: Tip) => void;
  /** Gets a line now and then while the index is far behind the network's tip. */
  readonly onProgress?: (line: string) => void;
  readonly log: Log;
  /** Blocks to keep for rollbacks, twice the network's k unless said otherwise. */
  readonly keepBlocks?: number;
  /** Blocks from the tip within which each has a transaction of its own; 20 unless said otherwise. */
  readonly near?: number;
  readonly onStep?: OnStep;
  /** Milliseconds until the network is asked again after a block of an unknown era; a minute unless said otherwise. */
  readonly eraWaitMs?: number;
}

const LAPSE_EVERY_MS = 60_000;
const KEEP_BLOCKS = 4_320;
const NEAR = 20;
/** The last blocks that were read, by which late answers are brought forward. */
const RECENT = 32;

interface Answer {
  readonly addresses: readonly string[];
  readonly at: At<readonly Utxo[]>;
}

export class Follower {
  private readonly main: Lane;
  private readonly restoring: Restoring;
  private readonly inquirer: Inquirer;
  private recent: ScannedBlock[] = [];
  private waiting: Answer[] = [];
  private woken: () => void = () => {};

  constructor(private readonly options: FollowerOptions) {
    const { store, port, projections, fence, append, ring, log, onStep, near = NEAR } = options;
    const keepBlocks = options.keepBlocks ?? KEEP_BLOCKS;
    const trails = projections.filter(({ members }) => members !== undefined).map((one) => new Trail(one));
    const { supplies, eraWaitMs } = options;
    const shared = { store, port, fence, append, ring, keepBlocks, onStep, trails, supplies, eraWaitMs };
    this.main = new Lane({
      ...shared,
      log,
      projections,
      cursor: MAIN,
      keepsPoints: true,
      near,
      meter: new ProgressMeter((progress) => this.tell(progress)),
      points: () => readPoints(store.sql),
      stopsAt: (slot) => this.waiting.some(({ at }) => at.point.slot === slot),
      onUndo: async (sql, slot, affected) => {
        await noteRolledBack(sql, slot, affected);
        await undoWatches(sql, slot);
        await forkAt(sql, slot);
      },
      onMoved: (at, blocks) => this.moved(at, blocks),
    });
    this.restoring = new Restoring({
      ...shared,
      log,
      main: this.main,
      projections: projections.filter(({ members }) => members !== undefined),
      onProgress: (progress, { members, projection }) =>
        this.tell(progress, `${members === 1 ? "One thing" : `${members} things`} of ${projection}`),
    });
    this.inquirer = new Inquirer({
      store,
      port,
      log,
      near,
      append,
      ring,
      inquiries: options.inquiries ?? [],
      recent: () => this.recent,
      serially: (work) => this.main.serially(work),
      fenced: (work, at) => this.fenced(work, at),
    });
  }

  /** Follows until the signal aborts; a lost connection or database is an ordinary event, waited out with backoff. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.main.run(signal),
      this.watch(signal),
      this.restoring.run(signal),
      this.inquirer.run(signal),
    ]);
  }

  /** Why the index does not go on; undefined while it can. */
  get halted(): Failure<"era_unknown"> | undefined {
    return this.main.halted;
  }

  /** Somebody wants an address watched, or things read from their birth on or no more. */
  wake(): void {
    this.woken();
    this.restoring.wake();
  }

  private tell(progress: Progress, subject?: string): void {
    const line = progressLine(progress, subject);
    this.options.onProgress?.(line);
    this.options.log.info(line);
  }

  private async moved(at: Tip, blocks: readonly ScannedBlock[]): Promise<void> {
    if (blocks.length === 0) this.recent = this.recent.filter(({ slot }) => slot <= at.slot);
    else {
      const linked = this.recent.at(-1)?.hash === blocks[0]!.previous ? this.recent : [];
      this.recent = [...linked, ...blocks].slice(-RECENT);
    }
    await this.settleAnswers(at);
    this.restoring.mainMoved();
    this.inquirer.wake();
    this.options.onMoved?.(at);
  }

  /** Asks the network for the outputs of wanted addresses, again and again while there are any. */
  private async watch(signal: AbortSignal): Promise<void> {
    const { store, port, log } = this.options;
    let lapsed = 0;
    while (!signal.aborted) {
      const doorbell = new Promise<void>((resolve) => (this.woken = resolve));
      try {
        const pending = new Set(this.waiting.flatMap((answer) => answer.addresses));
        const wanted = (await wantedWatches(store.sql)).filter((address) => !pending.has(address));
        if (wanted.length > 0) {
          const answer = await port.utxosByAddress(wanted);
          if (answer.ok) await this.main.serially(() => this.settle({ addresses: wanted, at: answer.value }));
          else log.warn("outputs of addresses are not to be had", { reason: answer.error.message });
        }
        if (Date.now() - lapsed > LAPSE_EVERY_MS) {
          lapsed = Date.now();
          await this.prune();
        }
        // whatever is still wanted is asked for again soon: its answer was behind, or the network out of reach
        await Promise.race([doorbell, sleep(wanted.length > 0 ? 25 : 1_000, signal)]);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("watching is interrupted", { reason: reason(error) });
        await sleep(500, signal);
      }
    }
  }

  /** Forgets what nobody can ask for any more, in small transactions between the steps of the main lane. */
  private async prune(): Promise<void> {
    const step = <T>(work: (sql: Queries) => Promise<T>) => this.main.serially(() => this.fenced(work));
    while (await step(lapseWatches));
    await step(lapseReservations);
    while (await step((sql) => prune(sql, this.options.keepBlocks ?? KEEP_BLOCKS)));
    while (await step((sql) => prunePassing(sql, this.options.projections)));
  }

  private async settle(answer: Answer): Promise<void> {
    const { store, onStep } = this.options;
    const { at } = await readCursor(store.sql);
    const place = placeAnswer(answer.at, at, this.recent.at(-1)?.hash === at.hash ? this.recent : []);
    if (place === "wait") this.waiting.push(answer);
    else if (place !== "ask_again") {
      const write = async (work: (sql: Queries) => Promise<void>) => {
        await onStep?.("answering", MAIN);
        await this.fenced(work, at);
      };
      await applyAnswer(write, answer.addresses, answer.at, place);
    }
  }

  private async settleAnswers(at: Tip): Promise<void> {
    if (this.waiting.length === 0) return;
    const due = this.waiting.filter((answer) => placeAnswer(answer.at, at, this.recent) !== "wait");
    this.waiting = this.waiting.filter((answer) => placeAnswer(answer.at, at, this.recent) === "wait");
    for (const answer of due) await this.settle(answer);
    if (due.length > 0) this.wake();
  }

  /** A transaction under the lease, in which the main cursor does not move; where `at` is given, it must stand there. */
  private async fenced<T>(work: (sql: Queries) => Promise<T>, at?: Tip): Promise<T> {
    const { store, fence } = this.options;
    let begun = 0;
    const result = await store.sql.begin(async (sql) => {
      begun = performance.now();
      await fence(sql);
      const [row] = await sql<{ hash: string }[]>`select hash from chain_cursor where id = ${MAIN} for update`;
      if (at && row?.hash !== at.hash) throw new Error("the cursor has moved under this follower");
      return await work(sql);
    });
    measure.writeSeconds.of().observe((performance.now() - begun) / 1_000);
    return result as T;
  }
}
