/**
 * What no block contains and is therefore queried from the network repeatedly, for example rewards of accounts.
 *
 * The network chooses the point of its answer. An answer a few blocks behind the main cursor is brought forward by
 * those blocks; one from farther behind is queried again; one from ahead waits until the cursor is at its point. What
 * to query follows from rows, which a rollback undoes like all others: whatever is lost is queried again.
 */
import { setMaxListeners } from "node:events";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Result } from "#src/base/result.ts";
import type { ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { IndexerOptions } from "#src/chain/index/indexerOptions.ts";
import type { At, ChainPort, Unanswered } from "#src/chain/provider/port.ts";
import { alignAnswer } from "#src/chain/index/watchedAddresses.ts";
import type { Queries } from "#src/store/store.ts";

/** A kind of query to the network. */
export interface NetworkQuery {
  readonly name: string;
  /** What to query while the main cursor is at `at`; undefined: nothing. */
  next(sql: Queries, at: Tip): Promise<PendingNetworkQuery<unknown> | undefined>;
}

/** A query to the network and how its answer is stored. */
interface PendingNetworkQuery<T> {
  run(port: ChainPort): Promise<Result<At<T>, Unanswered>>;
  /**
   * Writes the answer, within a transaction in which the main cursor is at the last of `blocks` (at the answer's point
   * if there are none). The rows it writes have slots of the point and of the blocks. Gives the entities touched.
   */
  write(sql: Queries, answer: At<T>, blocks: readonly ScannedBlock[]): Promise<readonly Touched[]>;
}

/** A kind of query with a typed answer. */
export function networkQuery<T>(
  name: string,
  next: (sql: Queries, at: Tip) => Promise<PendingNetworkQuery<T> | undefined>,
): NetworkQuery {
  return { name, next };
}

interface NetworkQueryRunnerOptions
  extends Pick<IndexerOptions, "store" | "port" | "log" | "near" | "append" | "ring"> {
  readonly queries: readonly NetworkQuery[];
  /** The blocks that the main cursor has read last. */
  readonly recent: () => readonly ScannedBlock[];
  /** Runs while the main cursor applies no step. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
  /** A transaction under the follower's lease, in which the main cursor is at `at`. */
  readonly fenced: (work: (sql: Queries) => Promise<void>, at: Tip) => Promise<void>;
}

/** Milliseconds between two polls if nothing wakes the runner. */
const POLL_MS = 1_000;
/** Milliseconds between two queries, and before a query is repeated whose answer was too far behind. */
const RETRY_MS = 25;
/** Least milliseconds between two polls. */
const PAUSE_MS = 100;
/** Milliseconds before a query is repeated that the network does not support. */
const UNSUPPORTED_MS = 60_000;
/** Milliseconds that an answer from ahead of the cursor waits at most. */
const WAIT_MS = 30_000;

/** Queries the network and has the answers written. */
export class NetworkQueryRunner {
  private readonly waiters = new Set<() => void>();
  /** How often the main cursor has moved. */
  private moves = 0;

  constructor(private readonly options: NetworkQueryRunnerOptions) {}

  /** Wakes the runner: the main cursor moved, or there may be something to query. */
  wake(): void {
    this.moves++;
    for (const rouse of this.waiters) rouse();
    this.waiters.clear();
  }

  /** Sleeps until the main cursor moves, at most `ms` milliseconds. */
  private async sleepUntilMoved(ms: number, signal: AbortSignal): Promise<void> {
    let rouse: () => void = () => {};
    const moved = new Promise<void>((resolve) => rouse = resolve);
    this.waiters.add(rouse);
    await Promise.race([moved, sleep(ms, signal)]);
    this.waiters.delete(rouse);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    // each query waits on it, which Node takes for a leak
    setMaxListeners(0, signal);
    await Promise.all(this.options.queries.map((one) => this.repeat(one, signal)));
  }

  private async repeat(one: NetworkQuery, signal: AbortSignal): Promise<void> {
    const log = this.options.log.with({ query: one.name });
    while (!signal.aborted) {
      let wait = POLL_MS;
      const { moves } = this;
      try {
        wait = await this.poll(one, log, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("a network query is interrupted", { reason: reason(error) });
      }
      // where blocks arrive fast, not every one is worth a poll
      await sleep(Math.min(wait, PAUSE_MS), signal);
      if (wait === POLL_MS && this.moves !== moves) continue;
      await (wait === POLL_MS ? this.sleepUntilMoved(wait, signal) : sleep(Math.max(0, wait - PAUSE_MS), signal));
    }
  }

  /** Runs a query if there is one; gives the milliseconds until the next poll. */
  private async poll(one: NetworkQuery, log: Log, signal: AbortSignal): Promise<number> {
    const { store, port, near } = this.options;
    const { at, networkTip } = await readCursor(store.sql);
    if (networkTip.height - at.height >= near) return POLL_MS;
    const query = await one.next(store.sql, at);
    if (!query) return POLL_MS;
    const answer = await query.run(port);
    if (!answer.ok) {
      const { code, message } = answer.error;
      log.warn("the network does not respond", { reason: message });
      return code === "query_unsupported" ? UNSUPPORTED_MS : POLL_MS;
    }
    for (const until = Date.now() + WAIT_MS; !signal.aborted && Date.now() < until;) {
      const outcome = await this.options.serially(() => this.apply(query, answer.value));
      if (outcome !== "wait") return RETRY_MS;
      await this.sleepUntilMoved(RETRY_MS * 4, signal);
    }
    return RETRY_MS;
  }

  private async apply(
    query: PendingNetworkQuery<unknown>,
    answer: At<unknown>,
  ): Promise<"written" | "wait" | "ask_again"> {
    const { store, recent, fenced, append, ring } = this.options;
    const { at } = await readCursor(store.sql);
    const place = alignAnswer(answer, at, recent());
    if (place === "wait" || place === "ask_again") return place;
    let touched: readonly Touched[] = [];
    await fenced(async (sql) => {
      touched = await query.write(sql, answer, place);
      await append(sql, touched);
    }, at);
    ring(touched);
    return "written";
  }
}
