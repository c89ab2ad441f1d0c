/**
 * The one reader behind everybody who has caught up: it keeps the last transitions, wakes up when one is published, looks by
 * itself from time to time, and looks past transactions that stay open elsewhere.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { comparePositions, type Position, START } from "#src/runtime/events/position.ts";
import { edgePosition, type LoggedEvent, readPage } from "#src/runtime/events/replay.ts";
import { settledEdge } from "#src/runtime/events/settledPosition.ts";
import type { Store } from "#src/store/store.ts";

export interface TailOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Longest time between two looks, in milliseconds. */
  readonly pollMs: number;
  /** How long an open transaction may hold it up before it looks what that transaction does, in milliseconds. */
  readonly stallMs: number;
}

/** How many transitions are kept. */
const KEPT = 4_096;
/** Shortest time between two looks, in milliseconds. */
const LOOK_MS = 10;
/** How often readers for whom there is nothing learn how far it has looked, in milliseconds. */
const STILL_MS = 5_000;

/** The shared reader of those who have caught up. */
export interface Tail {
  /** What it holds behind a position; undefined when the position is before what it holds. */
  after(position: Position): LoggedEvent[] | undefined;
  /** How far it has looked. */
  position(): Position;
  /** A transaction id below which it knows that nothing is open, beyond what the server says. */
  edge(): bigint | undefined;
  /** Resolves when it has read on, or the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export function startTail({ store, bus, log, pollMs, stallMs }: TailOptions): Tail {
  const stopped = new AbortController();
  let held: LoggedEvent[] = [];
  let from: Position | undefined;
  let to: Position = START;
  let wake = new AbortController();
  /** Resolved for those who wait when there is something new. */
  let news = deferred();
  /** Beyond the server's snapshot, while a transaction elsewhere stays open. */
  let edge: bigint | undefined;
  let blocker: string | undefined;

  /** Looks past what stays open elsewhere. */
  const settle = async () => {
    const settled = await settledEdge(store);
    edge = settled.held ? settled.edge : undefined;
    if (settled.blocker !== undefined && settled.blocker !== blocker) {
      log.warn("an open transaction holds up the transitions behind it", { transaction: settled.blocker });
    }
    blocker = settled.blocker;
  };
  /** Reads on. Resolves to whether there were transitions. */
  const look = async (): Promise<boolean> => {
    if (from === undefined) {
      from = to = await edgePosition(store);
      return true;
    }
    if (edge !== undefined) await settle();
    const page = await readPage(store, to, {}, 1_024, edge);
    if (page.reset) {
      from = page.next;
      held = [];
    } else held.push(...page.events);
    if (held.length > KEPT) {
      from = held[held.length - KEPT - 1]!.position;
      held = held.slice(-KEPT);
    }
    to = page.next;
    return page.events.length > 0;
  };
  const loop = async () => {
    let failed = false;
    let pause = LOOK_MS;
    let movedAt = performance.now();
    let toldAt = performance.now();
    while (!stopped.signal.aborted) {
      wake = new AbortController();
      try {
        const before = to;
        const found = await look();
        const now = performance.now();
        if (failed) log.info("transitions are read again");
        failed = false;
        if (comparePositions(to, before) > 0) movedAt = now;
        else if (now - movedAt > stallMs) {
          movedAt = now;
          await settle();
        }
        if (found || now - toldAt > STILL_MS) {
          toldAt = now;
          news.resolve();
          news = deferred();
        }
        if (found) pause = LOOK_MS;
      } catch (error) {
        if (!failed && !stopped.signal.aborted) log.warn("transitions not read yet", { reason: reason(error) });
        failed = true;
      }
      await sleep(LOOK_MS, stopped.signal);
      await Promise.race([sleep(pause, stopped.signal), sleep(pause, wake.signal)]);
      pause = wake.signal.aborted ? LOOK_MS : Math.min(2 * pause, pollMs);
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
        if (comparePositions(held[middle]!.position, position) <= 0) low = middle + 1;
        else high = middle;
      }
      return low === 0 ? held : held.slice(low);
    },
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

/** A promise that somebody else resolves. */
function deferred(): { readonly ended: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const ended = new Promise<void>((done) => resolve = done);
  return { ended, resolve };
}
