/**
 * The tail of the log of transitions, shared by all readers that have caught up. It keeps the last transitions in
 * memory, reads when one is published and at an interval, and does not wait for open transactions that write no
 * transitions.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Contents } from "#src/runtime/events/content.ts";
import { comparePositions, type Position, START } from "#src/runtime/events/position.ts";
import { type LoggedEvent, readPage } from "#src/runtime/events/replay.ts";
import { currentPosition, settledEdge } from "#src/runtime/events/settledPosition.ts";
import type { Store } from "#src/store/store.ts";

/** Number of transitions kept in memory. */
const KEPT = 4_096;
/** Shortest time between two reads, in milliseconds. */
const READ_MS = 10;
/** How often readers are woken without new transitions, to learn the position, in milliseconds. */
const IDLE_MS = 5_000;

export interface EventLogOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Reads the content of transitions; without it they have none. */
  readonly contents?: Contents;
  /** Most readers at a time; the services have a limit of their own without it. */
  readonly mostReaders?: number | undefined;
  /** Longest time between two reads of the tail, in milliseconds; 1,000 by default. */
  readonly pollMs?: number;
  /**
   * How long an open transaction may block the tail before the tail checks what it writes, in milliseconds; 1,000 by
   * default.
   */
  readonly stallMs?: number;
}

type TailOptions = Required<Omit<EventLogOptions, "mostReaders">>;

export interface Tail {
  /** The kept transitions after a position; `undefined` when the position is before them. */
  after(position: Position): LoggedEvent[] | undefined;
  /** The last transition that it has read. */
  newest(): LoggedEvent | undefined;
  /** Position up to which it has read. */
  position(): Position;
  /** The edge (`settledEdge`), while an unrelated transaction stays open. */
  edge(): bigint | undefined;
  /** Resolves after the next read with news, or when the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** Starts a tail. One function, because its parts share the kept transitions and the position. */
export function startTail({ store, bus, log, contents, pollMs, stallMs }: TailOptions): Tail {
  const stopped = new AbortController();
  let held: LoggedEvent[] = [];
  let from: Position | undefined;
  let to: Position = START;
  let wake = new AbortController();
  /** Resolved when there is something new. */
  let news = deferred();
  /** Beyond the server's snapshot, while an unrelated transaction stays open. */
  let edge: bigint | undefined;
  let blocker: string | undefined;

  /** Finds the edge past unrelated open transactions. */
  const settle = async () => {
    const settled = await settledEdge(store);
    edge = settled.held ? settled.edge : undefined;
    if (settled.blocker !== undefined && settled.blocker !== blocker) {
      log.warn("an open database transaction delays later transitions", { transaction: settled.blocker });
    }
    blocker = settled.blocker;
  };
  /** Reads the next transitions. Resolves to whether there were any. */
  const read = async (): Promise<boolean> => {
    if (from === undefined) {
      from = to = await currentPosition(store);
      return true;
    }
    if (edge !== undefined) await settle();
    const page = await readPage(store, to, {}, 1_024, { contents, edge });
    if (page.reset) {
      from = page.next;
      held = [];
    } else held.push(...page.events);
    if (held.length > KEPT) {
      from = elementAt(held, held.length - KEPT - 1).position;
      held = held.slice(-KEPT);
    }
    to = page.next;
    return page.events.length > 0;
  };
  const loop = async () => {
    let failed = false;
    let pause = READ_MS;
    let movedAt = performance.now();
    let wokenAt = performance.now();
    while (!stopped.signal.aborted) {
      wake = new AbortController();
      try {
        const before = to;
        const found = await read();
        const now = performance.now();
        if (failed) log.info("transitions are read again");
        failed = false;
        if (comparePositions(to, before) > 0) movedAt = now;
        else if (now - movedAt > stallMs) {
          movedAt = now;
          await settle();
        }
        if (found || now - wokenAt > IDLE_MS) {
          wokenAt = now;
          news.resolve();
          news = deferred();
        }
        if (found) pause = READ_MS;
      } catch (error) {
        if (!failed && !stopped.signal.aborted) log.warn("transitions could not be read", { reason: reason(error) });
        failed = true;
      }
      await sleep(READ_MS, stopped.signal);
      await sleep(pause, stopped.signal, wake.signal);
      pause = wake.signal.aborted ? READ_MS : Math.min(2 * pause, pollMs);
    }
  };
  void loop();
  const unsubscribe = bus.subscribe("arbor.event.>", () => wake.abort());

  return {
    after: (position) => {
      if (from === undefined || comparePositions(position, from) < 0) return undefined;
      let low = 0;
      let high = held.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (comparePositions(elementAt(held, middle).position, position) <= 0) low = middle + 1;
        else high = middle;
      }
      return low === 0 ? held : held.slice(low);
    },
    newest: () => held.at(-1),
    position: () => to,
    edge: () => edge,
    change: async (signal) => {
      if (signal.aborted) return;
      const aborted = deferred();
      signal.addEventListener("abort", aborted.resolve, { once: true });
      await Promise.race([news.ended, aborted.ended]);
      signal.removeEventListener("abort", aborted.resolve);
    },
    stop: () => {
      unsubscribe();
      stopped.abort();
      news.resolve();
    },
  };
}

/** A promise with its `resolve`. */
function deferred(): { readonly ended: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const ended = new Promise<void>((done) => resolve = done);
  return { ended, resolve };
}
