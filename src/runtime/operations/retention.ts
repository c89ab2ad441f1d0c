/**
 * Deletes old rows: results of commands, history, ended effects, read inputs, dead letters, actors that have ended. It
 * works in small batches by indexes, so that no deletion delays a turn for long.
 *
 * Open rows stay regardless of their age: open replies, open effects, unread inputs, unpublished transitions. A command
 * repeated after its result was deleted is a new command.
 *
 * One process at a time does the work, under the lease `housekeeper`. Two at a time would do no harm.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason, silentLog } from "#src/base/log.ts";
import { onlyOf } from "#src/base/present.ts";
import { ACTIVITY_MINUTES } from "#src/runtime/operations/activity.ts";
import { holdLease, type Lease } from "#src/runtime/placement/namedLease.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

/** Retention times, in hours. */
export interface RetentionHours {
  /** Results of commands: how long a repeated command id gets the first reply. */
  readonly results: number;
  /** Transitions, for history and replay. */
  readonly history: number;
  /** Ended effects, from their last attempt, and inputs that failed, from when they were written. */
  readonly effects: number;
  readonly deadLetters: number;
  /** Actors of transactions, from their last event, once their history is deleted. */
  readonly transactions: number;
}

export const RETENTION_HOURS: RetentionHours = {
  results: 24,
  history: 30 * 24,
  effects: 24,
  deadLetters: 30 * 24,
  transactions: 30 * 24,
};

/** Actors of a kind that may be deleted once they have ended. */
export interface EndedActors {
  /** SQL that selects them among the actors `a`; the index `actor_ended` has to follow from it. */
  which(sql: Queries): Fragment;
  /** Age of their last event, in hours. */
  readonly hours: number;
  /**
   * Deletes the kind's own rows of those actors that nothing needs any more, in the transaction that deletes the
   * actors. Resolves to their ids.
   */
  release(sql: Queries, ids: readonly string[]): Promise<readonly string[]>;
}

/** Numbers of deleted rows. */
export interface Pruned {
  actors: number;
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
export async function prune(
  store: Store,
  keep: RetentionHours,
  signal?: AbortSignal,
  ended: readonly EndedActors[] = [],
): Promise<Pruned> {
  const { sql } = store;
  const before = (hours: number) => sql`now() - ${hours} * interval '1 hour'`;
  const pruned: Pruned = { results: 0, history: 0, effects: 0, inputs: 0, deadLetters: 0, actors: 0 };
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
  if (pruned.history > 0) await pruneSnapshots(store);
  for (const kind of ended) {
    let after: Place | undefined = FIRST;
    while (after !== undefined && signal?.aborted !== true) {
      const slice: Slice = await pruneActors(store, kind, after);
      pruned.actors += slice.deleted;
      after = slice.last;
      await sleep(PAUSE_MS, signal);
    }
  }
  await sql`delete from effect_failure where minute < floor(extract(epoch from now()) / 60) - ${ACTIVITY_MINUTES}`;
  await sql`
    with ended as (delete from effect_queue q where not exists
      (select 1 from effect f where f.kind = q.kind and f.id = q.id and f.n = q.n and not f.done))
    delete from effect_limit l where until < now() and not exists
      (select 1 from effect_queue q where q.kind = l.kind and q.name = l.name and q.key = l.key)`;
  await sql`
    delete from worker w where seen < ${before(WORKER_HOURS)}
      and not exists (select 1 from partition p where p.owner = w.id and p.expires > now())`;
  return pruned;
}

/** Deletes snapshots of actors from which no retained version is computed: a later one precedes all retained ones. */
async function pruneSnapshots({ sql }: Store): Promise<void> {
  await sql`
    delete from actor_snapshot s where exists (
      select 1 from actor_snapshot later where later.kind = s.kind and later.id = s.id and later.version > s.version
        and not exists (select 1 from outbox o where o.kind = s.kind and o.id = s.id and o.version <= later.version))`;
}

/** Place of an actor in the order in which they entered their states; `since` has the database's precision. */
interface Place {
  readonly since: string;
  readonly id: string;
}

interface Slice {
  readonly deleted: number;
  /** The last actor that was considered; `undefined` when none is left. */
  readonly last: Place | undefined;
}

const FIRST: Place = { since: "-infinity", id: "" };
/** Actors that one transaction deletes at most. */
const SLICE = 200;

/**
 * Deletes some actors that have ended. Those with history stay: a later incarnation would repeat its versions. So do those with
 * open work. A worker that still has a deleted actor in memory notices it when it writes its next turn.
 */
async function pruneActors(
  store: Store,
  { which, hours, release }: EndedActors,
  after: Place,
): Promise<Slice> {
  const slices: Slice[] = [];
  await store.sql.begin(async (sql) => {
    const of = (table: string) => sql`select 1 from ${sql(table)} x where x.kind = a.kind and x.id = a.id`;
    const due = await sql<(Place & { kind: string })[]>`
      select a.kind, a.id, a.since::text as since from actor a
      where ${which(sql)} and a.since < now() - ${hours} * interval '1 hour'
        and (a.since, a.id) > (${after.since}::text::timestamptz, ${after.id}) and not a.paused
        and a.changed < now() - ${hours} * interval '1 hour'
        and not exists (${of("outbox")}) and not exists (${of("effect")} and not x.done)
        and not exists (${of("reminder")}) and not exists (${of("command_result")} and x.result is null)
        and not exists (${of("input_log")} and x.partition = a.partition and not x.read)
      order by a.since, a.id limit ${SLICE} for update of a skip locked`;
    const ids = due.length === 0 ? [] : await release(sql, due.map(({ id }) => id));
    const gone = due.filter(({ id }) => ids.includes(id));
    await sql`
      with gone as (select * from unnest(${sql.array(gone.map(({ kind }) => kind))}::text[],
          ${sql.array(gone.map(({ id }) => id))}::text[]) as x(kind, id)),
        snapshots as (delete from actor_snapshot s using gone g where s.kind = g.kind and s.id = g.id),
        attributes as (delete from actor_attribute t using gone g where t.kind = g.kind and t.id = g.id)
      delete from actor a using gone g where a.kind = g.kind and a.id = g.id`;
    slices.push({ deleted: gone.length, last: due.length < SLICE ? undefined : due.at(-1) });
  });
  return onlyOf(slices);
}

export interface HousekeeperOptions {
  readonly store: Store;
  /** Name of this process in the lease, unique. */
  readonly owner: string;
  readonly keep?: RetentionHours;
  readonly ended?: readonly EndedActors[];
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
  const { store, owner, keep = RETENTION_HOURS, ended = [], everyMs = 60_000, ttlMs, log = silentLog } = options;
  return holdLease({
    store,
    name: "housekeeper",
    owner,
    ttlMs,
    log,
    onHeld: async (_, signal) => {
      while (!signal.aborted) {
        try {
          const pruned = await prune(store, keep, signal, ended);
          if (Object.values(pruned).some((count) => count > 0)) log.info("old rows deleted", { ...pruned });
        } catch (error) {
          log.warn("old rows could not be deleted", { reason: reason(error) });
        }
        await sleep(everyMs, signal);
      }
    },
  });
}
