/**
 * Transitions as they happen and as they happened, for many readers at a time.
 *
 * The rows are the queue. Who is behind reads rows, at its own pace; who has caught up shares one reader, which wakes up when
 * transitions are published and looks by itself from time to time. Nobody is sent anything: a reader asks for its next
 * batch, so that a slow one costs nothing but its place.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { comparePositions, type Position, START } from "#src/runtime/events/position.ts";
import {
  edgePosition,
  type EventFilter,
  isReached,
  type LoggedEvent,
  passes,
  readPage,
} from "#src/runtime/events/replay.ts";
import { startTail, type Tail } from "#src/runtime/events/tail.ts";
import type { Store } from "#src/store/store.ts";

/** What a reader gets next. No events and a later position: there was nothing for it so far. */
export interface EventBatch {
  readonly events: readonly LoggedEvent[];
  /** Behind the last of them, to go on from later. */
  readonly position: Position;
  /** Set when older transitions were deleted before this reader came to them. */
  readonly reset: boolean;
}

export interface EventLog {
  /** Batches from a position on, one at a time as they are asked for, until the signal aborts or the log is closed. */
  follow(from: Position | "now" | "start", filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventBatch, void>;
  /** Whether a position can have been given by this database: one that is ahead of it never was. */
  reached(position: Position): Promise<boolean>;
  /** How many read now. */
  readers(): number;
  /** Ends every reader. */
  close(): void;
}

export interface EventLogOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Longest time between two looks of the shared reader, in milliseconds. */
  readonly pollMs?: number;
  /** How long an open transaction may hold the shared reader up before it looks what that transaction does, in milliseconds. */
  readonly stallMs?: number;
}

const BATCH = 256;

export function createEventLog(options: EventLogOptions): EventLog {
  const { store, bus, log, pollMs = 1_000, stallMs = 1_000 } = options;
  const closed = new AbortController();
  let count = 0;
  let tail: Tail | undefined;

  const enter = () => {
    count++;
    tail ??= startTail({ store, bus, log, pollMs, stallMs });
    return tail;
  };
  const leave = () => {
    if (--count > 0) return;
    tail?.stop();
    tail = undefined;
  };

  return {
    async *follow(from, filter, signal) {
      const ended = AbortSignal.any([signal, closed.signal]);
      if (ended.aborted) return;
      const shared = enter();
      try {
        let position: Position | "now" = from === "start" ? START : from;
        if (position === "now") {
          const edge = await again(() => edgePosition(store), ended, log);
          if (edge === undefined) return;
          // Further than the server's edge where something stays open elsewhere.
          position = comparePositions(shared.position(), edge) > 0 ? shared.position() : edge;
          // So that a reader knows where it began, and from when on nothing escapes it.
          yield { events: [], position, reset: false };
        }
        while (!ended.aborted) {
          const held: LoggedEvent[] | undefined = shared.after(position);
          if (held === undefined) {
            const behind: Position = position;
            const page = await again(() => readPage(store, behind, filter, BATCH, shared.edge()), ended, log);
            if (page === undefined) return;
            const moved = comparePositions(page.next, behind) > 0;
            position = page.next;
            if (moved || page.reset) yield { events: page.events, position, reset: page.reset };
            // At the edge, and the shared reader is not there yet.
            else await shared.change(ended);
            continue;
          }
          if (held.length === 0) {
            await shared.change(ended);
            // Nothing new, but everything below the edge was looked at.
            if (!ended.aborted && shared.after(position)?.length === 0) {
              const at = shared.position();
              if (comparePositions(at, position) > 0) yield { events: [], position: position = at, reset: false };
            }
            continue;
          }
          const some: LoggedEvent[] = held.slice(0, BATCH);
          position = some.at(-1)!.position;
          yield { events: some.filter(({ transition }) => passes(transition, filter)), position, reset: false };
        }
      } finally {
        leave();
      }
    },
    reached: (position) => isReached(store, position),
    readers: () => count,
    close: () => closed.abort(),
  };
}

/** Asks the database until it answers; undefined when the signal aborts first. */
async function again<T>(ask: () => Promise<T>, signal: AbortSignal, log: Log): Promise<T | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 0) log.warn("transitions not read yet", { reason: reason(error) });
      await sleep(Math.min(100 * 2 ** tries, 2_000), signal);
    }
  }
  return undefined;
}
