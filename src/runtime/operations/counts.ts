/** Reads of the whole application for operators: workers, partitions, leases and the backlog. */
import { outdatedQuery } from "#src/runtime/placement/leaseRows.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** The row of a worker. */
export interface WorkerRow {
  readonly id: string;
  readonly seen: Date;
  /** Milliseconds since it was seen, by the database's clock. */
  readonly ageMs: number;
  readonly suspect: boolean;
  readonly draining: boolean;
  /** Whether workers with later versions of its kinds took partitions. */
  readonly outdated: boolean;
  readonly partitions: readonly number[];
}

/** The workers that have not stopped regularly, by id. */
export async function readWorkers(store: Store): Promise<readonly WorkerRow[]> {
  return await store.sql<WorkerRow[]>`
    select w.id, w.seen, (extract(epoch from now() - w.seen) * 1000)::float8 as "ageMs", w.suspect is not null as suspect,
      w.draining, ${
    outdatedQuery(store.sql, store.sql`w.kinds`)
  } as outdated, (select coalesce(array_agg(p.id order by p.id), '{}') from partition p where p.owner = w.id) as partitions
    from worker w order by w.id`;
}

/** The lease of a partition, or a named lease. */
export interface LeaseStatus {
  readonly owner: string | null;
  readonly epoch: number;
  /** Time left, in milliseconds; zero or negative when it expired or was returned. */
  readonly expiresInMs: number;
}

/** Number of actors by partition, without empty partitions. Reads every actor's row. */
export async function countByPartition(store: Store): Promise<ReadonlyMap<number, number>> {
  const rows = await store.sql<{ partition: number; actors: number }[]>`
    select partition, count(*)::int as actors from actor group by partition`;
  return new Map(rows.map(({ partition, actors }) => [partition, actors]));
}

const leaseColumns = (sql: Store["sql"]) =>
  sql`owner, epoch,
      (extract(epoch from greatest(expires, now() - interval '1 day') - now()) * 1000)::float8 as "expiresInMs"`;

function leaseStatus<Row extends { epoch: bigint; expiresInMs: number }>(row: Row) {
  return { ...row, epoch: Number(row.epoch), expiresInMs: Math.round(row.expiresInMs) };
}

/** Number of actors, counted up to `most`. */
export async function countActors({ sql }: Store, most: number): Promise<number> {
  const row = await onlyRow(sql<{ actors: number }[]>`
    select count(*)::int as actors from (select from actor limit ${most}) counted`);
  return row.actors;
}

/** The partitions, by number. */
export async function readPartitions({ sql }: Store): Promise<readonly (LeaseStatus & { id: number })[]> {
  const rows = await sql<{ id: number; owner: string | null; epoch: bigint; expiresInMs: number }[]>`
    select id, ${leaseColumns(sql)} from partition order by id`;
  return rows.map(leaseStatus);
}

/** How many partitions there are, and how many of them a worker serves. */
export async function countServedPartitions(store: Store): Promise<{ readonly all: number; readonly served: number }> {
  return await onlyRow(store.sql<{ all: number; served: number }[]>`
    select count(*)::int as all, count(*) filter (where owner is not null and expires > now())::int as served from partition`);
}

/** The named leases, by name. */
export async function readLeases({ sql }: Store): Promise<readonly (LeaseStatus & { name: string })[]> {
  const rows = await sql<{ name: string; owner: string | null; epoch: bigint; expiresInMs: number }[]>`
    select name, ${leaseColumns(sql)} from lease order by name`;
  return rows.map(leaseStatus);
}

/** Numbers of partitions without an owner and of dead letters; the latter stops at `MOST`. */
export async function readProblemCounts(
  store: Store,
): Promise<{ readonly unserved: number; readonly deadLetters: number }> {
  return await onlyRow(store.sql<{ unserved: number; deadLetters: number }[]>`
    select (select count(*)::int from partition where owner is null or expires < now()) as unserved,
      (select count(*)::int from (select 1 from dead_letter limit ${MOST}) x) as "deadLetters"`);
}

/** Open work in rows. Counts stop at `MOST`; ages are in milliseconds. */
export interface Backlog {
  readonly outbox: { readonly unpublished: number; readonly oldestMs: number | null };
  readonly inputs: { readonly unread: number; readonly oldestMs: number | null };
  /** `queued`: those in the queue of a limit; `oldestMs`: how long the oldest due one of the others has been due. */
  readonly effects: {
    readonly open: number;
    readonly failing: number;
    readonly queued: number;
    readonly oldestMs: number | null;
  };
  readonly reminders: { readonly pending: number; readonly overdue: number; readonly overdueMs: number | null };
}

/** Greatest count. */
export const MOST = 100_000;

/** Counts unpublished transitions, unread inputs, open effects and reminders. */
export async function readBacklog(store: Store): Promise<Backlog> {
  const { sql } = store;
  const age = sql`(extract(epoch from now() - min(created)) * 1000)::float8`;
  const [outbox, inputs, effects, reminders] = await Promise.all([
    onlyRow(
      sql<{ unpublished: number; oldestMs: number | null }[]>`select count(*)::int as unpublished, ${age} as "oldestMs"
      from (select created from outbox_unpublished union all select created from outbox where not published limit ${MOST}) x`,
    ),
    onlyRow(sql<{ unread: number; oldestMs: number | null }[]>`select count(*)::int as unread, ${age} as "oldestMs"
      from (select created from input_log where not read limit ${MOST}) x`),
    onlyRow(sql<{ open: number; failing: number; queued: number; oldestMs: number | null }[]>`
      select count(*)::int as open, count(*) filter (where attempts > 0)::int as failing,
        count(*) filter (where queued)::int as queued,
        (extract(epoch from now() - min(next_attempt) filter (where not queued)) * 1000)::float8 as "oldestMs"
      from (select attempts, next_attempt, queued from effect where not done and not queued
        union all select f.attempts, f.next_attempt, true from effect_queue q join effect f using (kind, id, n)
        limit ${MOST}) x`),
    onlyRow(sql<{ pending: number; overdue: number; overdueMs: number | null }[]>`
      select count(*)::int as pending, count(*) filter (where at <= now())::int as overdue,
        round((extract(epoch from now() - min(at) filter (where at <= now())) * 1000))::float8 as "overdueMs"
      from (select at from reminder limit ${MOST}) x`),
  ]);
  const rounded = <Row extends { oldestMs: number | null }>(row: Row) => ({
    ...row,
    oldestMs: row.oldestMs === null ? null : Math.max(0, Math.round(row.oldestMs)),
  });
  return { outbox: rounded(outbox), inputs: rounded(inputs), effects: rounded(effects), reminders };
}
