/**
 * Finds open work in the rows of a worker's partitions, when they are taken and at an interval: open effects, due
 * reminders, unread inputs, unpublished transitions. The queries use partial indexes, so that idle entities cost
 * nothing.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Effects } from "#src/runtime/effects/effects.ts";
import {
  readDueEffects,
  readDueReminders,
  readEntitiesWithInputs,
  type Reminder,
} from "#src/runtime/effects/openRows.ts";
import type { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { Publisher } from "#src/runtime/events/publisher.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface SweeperOptions {
  readonly store: Store;
  readonly kinds: ReadonlyMap<string, ActorKind>;
  readonly owned: () => readonly number[];
  readonly mailboxes: Mailboxes;
  readonly effects: Effects;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly log: Log;
  /** Interval of sweeps, in milliseconds. */
  readonly everyMs: number;
}

export interface Sweeper {
  /** Sweeps some partitions now. */
  sweep(partitions: readonly number[]): Promise<void>;
  /** Sets a timer for a reminder that is due soon; later ones wait in their rows. */
  remind(reminder: Reminder): void;
  stop(): Promise<void>;
}

/** Most entities with inputs and most effects that one sweep takes up. */
const MOST = 1_000;
/** Most reminders that one sweep takes up. */
const MOST_REMINDERS = 5_000;
/** Pause before the next sweep while more is due than one sweep takes up, in milliseconds. */
const BUSY_MS = 100;
/** Longest time between two attempts of a reminder that its entity does not consume, in milliseconds. */
const RETRY_MS = 10_000;
/** Interval of sweeps over effects that wait for a slot, in milliseconds: messages start most of them. */
const QUEUED_MS = 5_000;
/** Age at which a transition that is not marked as published is published again, in milliseconds. */
const REPUBLISH_MS = 3_000;

export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, kinds, mailboxes, effects, clock, log, everyMs } = options;
  const stopped = new AbortController();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Aborted by a sweep that left some of what is due. */
  let more = new AbortController();

  const remind: Sweeper["remind"] = ({ entity, name, n, at, event }) => {
    const wait = at - clock.now();
    const key = `${entityKey(entity)} ${name} ${n}`;
    const kind = kinds.get(entity.kind);
    if (kind === undefined || wait > 2 * everyMs || timers.has(key) || stopped.signal.aborted) return;
    timers.set(
      key,
      setTimeout(() => {
        if (clock.now() < at) return void timers.delete(key);
        void mailboxes.deliver(kind, entity, { from: "reminder", name, n, event }).then((consumed) => {
          if (consumed || stopped.signal.aborted) return void timers.delete(key);
          // Exponential backoff: wait as long as it has been due.
          const rest = Math.min(Math.max(clock.now() - at, everyMs), RETRY_MS);
          timers.set(key, setTimeout(() => timers.delete(key), rest));
        });
      }, Math.max(0, wait)),
    );
  };

  const sweep = async (partitions: readonly number[]) => {
    if (partitions.length === 0) return;
    const most = { reminders: MOST_REMINDERS + timers.size, effects: MOST + Math.min(effects.count(), MOST) };
    let found = 0;
    const [due, unread] = await Promise.all([
      readDueReminders(store, partitions, clock.now() + everyMs, most.reminders),
      readEntitiesWithInputs(store, partitions, MOST),
      effects.resume(async () => {
        const rows = await readDueEffects(store, partitions, most.effects);
        found = rows.length;
        return rows;
      }),
    ]);
    const before = timers.size;
    due.forEach(remind);
    for (const entity of unread) {
      const kind = kinds.get(entity.kind);
      if (kind !== undefined) mailboxes.readInputs(kind, entity);
    }
    if (due.length >= most.reminders && timers.size > before || found >= most.effects) more.abort();
  };

  /** Waits for the next sweep: where more is due, only until most of what was taken up is done. */
  const pause = async () => {
    const until = performance.now() + everyMs;
    await sleep(everyMs, AbortSignal.any([stopped.signal, more.signal]));
    if (!more.signal.aborted) return;
    more = new AbortController();
    do await sleep(Math.min(BUSY_MS, everyMs), stopped.signal); while (
      (timers.size >= MOST_REMINDERS || effects.count() >= MOST) && performance.now() < until && !stopped.signal.aborted
    );
  };

  const loop = (async () => {
    let published = performance.now();
    let resumed = published;
    let publishing: Promise<unknown> | undefined;
    for (;;) {
      await pause();
      if (stopped.signal.aborted) return;
      try {
        await sweep(options.owned());
        if (performance.now() - resumed >= QUEUED_MS) {
          resumed = performance.now();
          await effects.resumeQueued(options.owned(), true);
        }
        const since = performance.now() - published;
        if (since >= REPUBLISH_MS && publishing === undefined && !options.publisher.behind()) {
          published += since;
          // Not awaited: it waits as long as the bus is unreachable.
          publishing = options.publisher.sweep(options.owned(), REPUBLISH_MS).catch((error) =>
            log.warn("events could not be republished", { reason: reason(error) })
          ).finally(() => publishing = undefined);
        }
      } catch (error) {
        log.warn("sweep failed", { reason: reason(error) });
      }
    }
  })();

  return {
    sweep: async (partitions) => void await Promise.all([sweep(partitions), effects.resumeQueued(partitions, false)]),
    remind,
    stop: async () => {
      stopped.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await loop;
    },
  };
}
