/**
 * Follows the log of transitions from any position, for many readers at a time.
 *
 * The rows are the queue. A reader that is behind reads rows at its own pace. Readers that have caught up share one
 * tail, which reads when transitions are published, and at an interval. Readers pull batches, so that a slow reader
 * costs no memory.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { type PositionStatus, positionStatus } from "#src/runtime/events/generation.ts";
import { comparePositions, type Position, START } from "#src/runtime/events/position.ts";
import { type EventFilter, type LoggedEvent, passes, readPage } from "#src/runtime/events/replay.ts";
import { currentPosition } from "#src/runtime/events/settledPosition.ts";
import { type EventLogOptions, startTail, type Tail } from "#src/runtime/events/tail.ts";

/**
 * The next batch of a reader. Without events it only moves the position: no transition up to there passed the filter.
 */
export interface EventBatch {
  readonly events: readonly LoggedEvent[];
  /** The position after the batch, from which a reader can continue later. */
  readonly position: Position;
  /** Whether transitions before this batch were deleted before the reader reached them. */
  readonly reset: boolean;
}

export interface EventLog {
  /**
   * Batches from a position on, until the signal aborts or the log is closed.
   *
   * @example
   * ```ts
   * for await (const { events, position } of log.follow("start", { kind: "token" }, signal)) {
   *   for (const { transition } of events) show(transition);
   *   save(positionText(position));
   * }
   * ```
   */
  follow(from: Position | "now" | "start", filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventBatch, void>;
  /** What a position is to this database. */
  status(position: Position): Promise<PositionStatus>;
  /** The newest transition that readers may have seen here. */
  newest(): LoggedEvent | undefined;
  /** Number of current readers. */
  readers(): number;
  /** Ends the current readers: those that return get what has become of their position. */
  restart(): void;
  /** Most readers at a time, where that was given. */
  readonly mostReaders?: number | undefined;
  /** Ends every reader. */
  close(): void;
}

const BATCH = 256;

export function createEventLog(options: EventLogOptions): EventLog {
  const { store, bus, log, contents = NO_CONTENTS, pollMs = 1_000, stallMs = 1_000 } = options;
  const closed = new AbortController();
  let restarted = new AbortController();
  let count = 0;
  let tail: Tail | undefined;

  const enter = () => {
    count++;
    tail ??= startTail({ store, bus, log, contents, pollMs, stallMs });
    return tail;
  };
  const leave = () => {
    if (--count > 0) return;
    tail?.stop();
    tail = undefined;
  };

  return {
    async *follow(from, filter, signal) {
      const ended = AbortSignal.any([signal, closed.signal, restarted.signal]);
      if (ended.aborted) return;
      const shared = enter();
      try {
        let position: Position;
        if (from !== "now") position = from === "start" ? START : from;
        else {
          const current = await retry(() => currentPosition(store), ended, log);
          if (current === undefined) return;
          position = current;
          // Tells the reader where it starts: it gets every transition from here on.
          yield { events: [], position, reset: false };
        }
        while (!ended.aborted) {
          const held: LoggedEvent[] | undefined = shared.after(position);
          if (held === undefined) {
            const after: Position = position;
            const page = await retry(
              () => readPage(store, after, filter, BATCH, { contents, edge: shared.edge() }),
              ended,
              log,
            );
            if (page === undefined) return;
            const moved = comparePositions(page.next, after) > 0;
            position = page.next;
            if (moved || page.reset) yield { events: page.events, position, reset: page.reset };
            // At the edge; the tail has not reached it yet.
            else await shared.change(ended);
            continue;
          }
          const some: LoggedEvent[] = held.slice(0, BATCH);
          const last = some.at(-1);
          if (last === undefined) {
            await shared.change(ended);
            // No transition, but the tail has moved on.
            if (!ended.aborted && shared.after(position)?.length === 0) {
              const at = shared.position();
              if (comparePositions(at, position) > 0) yield { events: [], position: position = at, reset: false };
            }
            continue;
          }
          position = last.position;
          yield { events: some.filter(({ transition }) => passes(transition, filter)), position, reset: false };
        }
      } finally {
        leave();
      }
    },
    status: (position) => positionStatus(store, position),
    newest: () => tail?.newest(),
    readers: () => count,
    restart: () => {
      restarted.abort();
      restarted = new AbortController();
    },
    mostReaders: options.mostReaders,
    close: () => closed.abort(),
  };
}

/** Repeats a query until it succeeds; `undefined` when the signal aborts first. */
async function retry<T>(query: () => Promise<T>, signal: AbortSignal, log: Log): Promise<T | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await query();
    } catch (error) {
      if (tries === 0) log.warn("transitions could not be read", { reason: reason(error) });
      await sleep(Math.min(100 * 2 ** tries, 2_000), signal);
    }
  }
  return undefined;
}
