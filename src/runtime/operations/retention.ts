/**
 * Deletes old rows: results of commands, history, ended effects, read inputs, dead letters. It works in small batches
 * by indexes, so that no deletion delays a turn for long.
 *
 * Open rows stay regardless of their age: open replies, open effects, unread inputs, unpublished transitions. A command
 * repeated after its result was deleted is a new command.
 *
 * One process at a time does the work, under the lease `housekeeper`. Two at a time would do no harm.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { holdLease, type Lease } from "#src/runtime/placement/namedLease.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import type { Store } from "#src/store/store.ts";

/** Retention times, in hours. */
export interface RetentionHours {
  /** Results of commands: how long a repeated command id gets the first reply. */
  readonly results: number;
  /** Transitions, for history and replay. */
  readonly history: number;
  /** Ended effects, from their last attempt, and read inputs, from when they were written. */
  readonly effects: number;
  readonly deadLetters: number;
}

export const RETENTION_HOURS: RetentionHours = { results: 24, history: 30 * 24, effects: 24, deadLetters: 30 * 24 };

/** Numbers of deleted rows. */
export interface Pruned {
  results: number;
  history: number;
  effects: number;
  inputs: number;
  deadLetters: number;
}

const BATCH = 1_000;
/** Pause between two batches, in milliseconds. */
const PAUSE_MS = 10;
/** How long a worker that did not stop regularly is still listed, in hours. */
const WORKER_HOURS = 5 / 60;

/** Deletes everything past its retention time, until nothing is left or the signal aborts. */
export async function prune(store: Store, keep: RetentionHours, signal?: AbortSignal): Promise<Pruned> {
  const { sql } = store;
  const before = (hours: number) => sql`now() - ${hours} * interval '1 hour'`;
  const pruned: Pruned = { results: 0, history: 0, effects: 0, inputs: 0, deadLetters: 0 };
  const batches = async (what: keyof Pruned, batch: () => Promise<number>) => {
    while (signal?.aborted !== true) {
      const count = await batch();
      pruned[what] += count;
      if (count === 0) return;
      await sleep(PAUSE_MS, signal);
    }
  };
  await batches("results", async () =>
    (await sql`
      delete from command_result r using (select kind, id, command from command_result
        where result is not null and created < ${before(keep.results)}
        order by created limit ${BATCH} for update skip locked) x
      where r.kind = x.kind and r.id = x.id and r.command = x.command`).count);
  await batches("history", () => pruneEvents(store, keep.history * 3_600_000));
  await batches("effects", async () =>
    (await sql`
      delete from effect f using (select kind, id, n from effect
        where done and next_attempt < ${before(keep.effects)}
        order by next_attempt limit ${BATCH} for update skip locked) x
      where f.kind = x.kind and f.id = x.id and f.n = x.n`).count);
  await batches("inputs", async () =>
    (await sql`
      delete from input_log i using (select seq from input_log
        where read and created < ${before(keep.effects)}
        order by created limit ${BATCH} for update skip locked) x
      where i.seq = x.seq`).count);
  await batches("deadLetters", async () =>
    (await sql`
      delete from dead_letter d using (select n from dead_letter
        where n < coalesce(
          (select n from dead_letter where created >= ${before(keep.deadLetters)} order by n limit 1), ${
      2n ** 63n - 1n
    })
        order by n limit ${BATCH} for update skip locked) x
      where d.n = x.n`).count);
  await sql`
    delete from worker w where seen < ${before(WORKER_HOURS)}
      and not exists (select 1 from partition p where p.owner = w.id and p.expires > now())`;
  return pruned;
}

export interface HousekeeperOptions {
  readonly store: Store;
  /** Name of this process in the lease, unique. */
  readonly owner: string;
  readonly keep?: RetentionHours;
  /** Interval, in milliseconds; 60,000 by default. */
  readonly everyMs?: number;
  readonly ttlMs: number;
  readonly log?: Log;
}

/**
 * Deletes old rows at an interval while this process holds the lease.
 *
 * @example
 * ```ts
 * const keep = { ...RETENTION_HOURS, history: 7 * 24 };
 * const housekeeper = startHousekeeper({ store, owner: "process-1", keep, ttlMs: 2_000, log });
 * await housekeeper.stop();
 * ```
 */
export function startHousekeeper(options: HousekeeperOptions): Lease {
  const { store, owner, keep = RETENTION_HOURS, everyMs = 60_000, ttlMs, log = silentLog } = options;
  return holdLease({
    store,
    name: "housekeeper",
    owner,
    ttlMs,
    log,
    onHeld: async (_, signal) => {
      while (!signal.aborted) {
        try {
          const pruned = await prune(store, keep, signal);
          if (Object.values(pruned).some((count) => count > 0)) log.info("old rows deleted", { ...pruned });
        } catch (error) {
          log.warn("old rows could not be deleted", { reason: reason(error) });
        }
        await sleep(everyMs, signal);
      }
    },
  });
}
