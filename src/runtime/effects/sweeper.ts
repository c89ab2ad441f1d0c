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

/** Most rows of a sort that one sweep reads, besides reminders that already have a timer. */
const MOST = 1_000;
/** Longest time between two attempts of a reminder that its entity does not consume, in milliseconds. */
const RETRY_MS = 10_000;
/** Interval of sweeps over effects that wait for a slot, in milliseconds: messages start most of them. */
const QUEUED_MS = 5_000;
/** Age at which a transition that is not marked as published is published again, in milliseconds. */
const REPUBLISH_MS = 3_000;

export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, kinds, mailboxes, clock, log, everyMs } = options;
  const stopped = new AbortController();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();

  const remind: Sweeper["remind"] = ({ entity, name, n, at, event }) => {
    const wait = at - clock.now();
    const key = `${entityKey(entity)} ${name} ${n}`;
    if (wait > 2 * everyMs || timers.has(key) || stopped.signal.aborted) return;
    timers.set(
      key,
      setTimeout(() => {
        const kind = kinds.get(entity.kind);
        if (kind === undefined || clock.now() < at) return void timers.delete(key);
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
    const [due, unread] = await Promise.all([
      readDueReminders(store, partitions, clock.now() + everyMs, MOST + timers.size),
      readEntitiesWithInputs(store, partitions, MOST),
      options.effects.resume(() => readDueEffects(store, partitions, MOST)),
    ]);
    due.forEach(remind);
    for (const entity of unread) {
      const kind = kinds.get(entity.kind);
      if (kind !== undefined) mailboxes.readInputs(kind, entity);
    }
  };

  const loop = (async () => {
    let round = 0;
    let queuedRound = 0;
    let publishing: Promise<unknown> | undefined;
    for (;;) {
      await sleep(everyMs, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        await sweep(options.owned());
        if (++queuedRound * everyMs >= QUEUED_MS) {
          queuedRound = 0;
          await options.effects.resumeQueued(options.owned(), true);
        }
        if (++round * everyMs >= REPUBLISH_MS && publishing === undefined && !options.publisher.behind()) {
          round = 0;
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
    sweep: async (partitions) =>
      void await Promise.all([sweep(partitions), options.effects.resumeQueued(partitions, false)]),
    remind,
    stop: async () => {
      stopped.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await loop;
    },
  };
}
