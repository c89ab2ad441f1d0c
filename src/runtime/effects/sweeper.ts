/**
 * Finds open work in the rows of a worker's partitions, when they are taken and at an interval: open effects, due
 * reminders, unread inputs, unpublished transitions. The queries use partial indexes, so that idle entities cost
 * nothing.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Effects } from "#src/runtime/effects/effects.ts";
import type { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { Publisher } from "#src/runtime/events/publisher.ts";
import type { ActorKind, EntityRef, Event } from "#src/runtime/types.ts";
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
  remind(entity: EntityRef, reminder: { name: string; n: number; at: number; event: Event }): void;
  stop(): Promise<void>;
}

/** Most rows of a sort that one sweep reads, besides reminders that already have a timer. */
const MOST = 1_000;
/** Longest time between two attempts of a reminder that its entity does not consume, in milliseconds. */
const RETRY_MS = 10_000;
/** Age at which a transition that is not marked as published is published again, in milliseconds. */
const REPUBLISH_MS = 3_000;

export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, kinds, mailboxes, clock, log, everyMs } = options;
  const stopped = new AbortController();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();

  const remind: Sweeper["remind"] = (entity, { name, n, at, event }) => {
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

  const reminders = async (partitions: number[]) => {
    const rows = await store.sql<{ kind: string; id: string; name: string; n: bigint; at: Date; event: Event }[]>`
      select kind, id, name, n, at, event from reminder r
      where partition = any(${partitions}::int[]) and at <= ${new Date(clock.now() + everyMs)}
        and not exists (select 1 from actor a where a.kind = r.kind and a.id = r.id and a.paused)
      order by at limit ${MOST + timers.size}`;
    for (const { kind, id, name, n, at, event } of rows) {
      remind({ kind, id }, { name, n: Number(n), at: at.getTime(), event });
    }
  };

  const effects = async (partitions: number[]) => {
    const rows = await store.sql<
      { kind: string; id: string; partition: number; n: bigint; name: string; input: Json; attempts: number }[]
    >`
      select kind, id, partition, n, name, input, attempts from effect f
      where not done and partition = any(${partitions}::int[])
        and next_attempt <= now()
        and not exists (select 1 from actor a where a.kind = f.kind and a.id = f.id and a.paused)
      order by next_attempt limit ${MOST}`;
    options.effects.start(rows.map(({ kind, id, n, ...rest }) => ({ entity: { kind, id }, n: Number(n), ...rest })));
  };

  const inputs = async (partitions: number[]) => {
    const rows = await store.sql<{ kind: string; id: string }[]>`
      select distinct kind, id from input_log i
      where not read and partition = any(${partitions}::int[])
        and not exists (select 1 from actor a where a.kind = i.kind and a.id = i.id and a.paused)
      limit ${MOST}`;
    for (const entity of rows) {
      const kind = kinds.get(entity.kind);
      if (kind !== undefined) mailboxes.readInputs(kind, { kind: entity.kind, id: entity.id });
    }
  };

  const sweep = async (partitions: readonly number[]) => {
    if (partitions.length === 0) return;
    const some = [...partitions];
    await Promise.all([effects(some), reminders(some), inputs(some)]);
  };

  const loop = (async () => {
    let round = 0;
    let publishing: Promise<unknown> | undefined;
    for (;;) {
      await sleep(everyMs, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        await sweep(options.owned());
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
    sweep,
    remind,
    stop: async () => {
      stopped.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await loop;
    },
  };
}
