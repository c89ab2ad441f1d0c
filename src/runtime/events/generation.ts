/**
 * Generations of the log of transitions. One begins when the database was restored to an earlier point: what it wrote after
 * that point is lost, but subscribers have seen it.
 *
 * Transaction ids go back with a restore, or begin again on another server. Each generation but the first therefore raises
 * the ids in its rows by a number of its own, so that they lie above those of every generation that began before: with
 * 2^20 ids for each millisecond since 1970, no server gets that far before the next restore. Positions compare as before,
 * and those that a lost generation gave are between the restored rows and the first position of the new one.
 *
 * The raise and the id are defaults of columns of `outbox`: turns do not know of generations.
 */
import { onlyOf } from "#src/base/present.ts";
import type { Position } from "#src/runtime/events/position.ts";
import { LOCKS } from "#src/store/advisoryLock.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

export interface Generation {
  /** 0 is the first. */
  readonly n: number;
  /** Part of the ids of its events; empty for the first. */
  readonly id: string;
  /** Why it began. */
  readonly reason: string;
  /** When it began, in milliseconds since 1970. */
  readonly began: number;
  /** Positions of earlier generations up to the begin of this transaction are valid. */
  readonly restoredTo: bigint;
  /** Whether the streams are still to be written again. */
  readonly streamsDue: boolean;
}

/** A generation to begin. */
export interface NewGeneration {
  /** A clause for the operator: "the database was restored". */
  readonly reason: string;
  /** Transitions written from then on, in milliseconds since 1970, belong to the new generation; by default none. */
  readonly since?: number | undefined;
  /** Whether the server still knows which transactions of the log it committed; true by default. */
  readonly sameServer?: boolean;
}

/** What a position is to this database. */
export type PositionStatus =
  | { readonly status: "known" }
  /** In the future: of another database, or of a lost generation while the restore is not known. */
  | { readonly status: "unknown" }
  /** After the point to which the database was restored. */
  | { readonly status: "restored"; readonly generation: string; readonly restoredTo: Position };

/** NATS subject that has processes look whether a generation began. */
export const GENERATION_SUBJECT = "arbor.generation";
/** Ids that a generation has for each millisecond since 1970. */
const IDS_PER_MS = 1_048_576n;
/** Twice the longest duration of a transaction that writes rows. */
const OPEN = "120 seconds";
/** Most transactions that begin while one writes rows. */
const MOST_OPEN = 2_000_000n;

/** The place in the log of a transaction id of the server. */
export function placeOf(sql: Queries, id: Fragment): Fragment {
  return sql`((${id}::text)::bigint + (select shift from event_generation order by n desc limit 1))::text::xid8`;
}

interface GenerationRow extends Omit<Generation, "began" | "restoredTo" | "streamsDue"> {
  began: Date;
  restored_to: string;
  streams_due: boolean;
}

/** The current generation. */
export async function readGeneration({ sql }: { readonly sql: Queries }): Promise<Generation> {
  const { restored_to, streams_due: streamsDue, began, ...row } = await onlyRow(sql<GenerationRow[]>`
    select n, id, reason, began, restored_to::text, streams_due from event_generation order by n desc limit 1`);
  return { ...row, began: began.getTime(), restoredTo: BigInt(restored_to), streamsDue };
}

/** Whether the log goes through a position. */
export async function positionStatus({ sql }: Store, { tx, entity }: Position): Promise<PositionStatus> {
  const { next, generations } = await onlyRow(sql<{ next: string; generations: KnownGeneration[] }[]>`
    select ${placeOf(sql, sql`pg_snapshot_xmax(pg_current_snapshot())`)}::text as next,
      (select json_agg(json_build_object('id', id, 'first', first::text, 'to', restored_to::text) order by n)
        from event_generation) as generations`);
  if (tx > BigInt(next)) return { status: "unknown" };
  const left = generations.map(({ first, to }) => ({ first: BigInt(first), to: BigInt(to) }))
    .filter(({ first, to }) => tx < first && (tx > to || (tx === to && entity !== undefined)))
    .map(({ to }) => to);
  const [first, ...others] = left;
  if (first === undefined) return { status: "known" };
  const restoredTo = { tx: others.reduce((a, b) => b < a ? b : a, first) };
  return { status: "restored", generation: generations.at(-1)?.id ?? "", restoredTo };
}

interface KnownGeneration {
  id: string;
  first: string;
  to: string;
}

/** Runs work in a transaction in which no other process begins a generation. */
export async function withGenerations<T>({ sql }: Store, work: (sql: Queries) => Promise<T>): Promise<T> {
  const results: T[] = [];
  await sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCKS.generations})`;
    results.push(await work(sql));
  });
  return onlyOf(results);
}

/**
 * Begins a generation, within `withGenerations`. It waits for turns that are being written. The streams of transitions are
 * to be written again, and deliveries of webhooks go on with numbers that were not used.
 *
 * Positions stay valid up to the last transition before which every transaction is known to be in the log. A transaction
 * that was open at the restore may have a lower id than the last row: on the server that wrote the log its status says so;
 * on another one positions of the last two minutes are given up.
 */
export async function beginGeneration(
  sql: Queries,
  { reason, since, sameServer = true }: NewGeneration,
): Promise<Generation> {
  await sql`lock table outbox in access exclusive mode`;
  const { n, shift: before, now, top } = await onlyRow(sql<{ n: number; shift: bigint; now: Date; top: string }[]>`
    select n, shift, clock_timestamp() as now, greatest(first, (select tx from outbox order by tx desc limit 1))::text as top
    from event_generation order by n desc limit 1`);
  const moved = since === undefined ? sql`false` : sql`created >= ${new Date(since)}`;
  const { oldest } = await onlyRow(sql<{ oldest: bigint }[]>`
    select least((pg_snapshot_xmin(pg_current_snapshot())::text)::bigint,
      (select min((tx::text)::bigint) - ${before} from outbox where ${moved})) as oldest`);
  // A clock that is far behind must not give positions again.
  const ms = [BigInt(now.getTime()), BigInt(top) / IDS_PER_MS + 1n].reduce((a, b) => a > b ? a : b);
  const first = ms * IDS_PER_MS;
  const shift = first - oldest;
  const id = ms.toString(36);
  await sql`
    update outbox set generation = ${id}, tx = ((tx::text)::bigint + ${shift - before})::text::xid8 where ${moved}`;
  const restoredTo = await lastKnown(sql, first, before, sameServer);
  await sql.unsafe(`alter table outbox alter column generation set default '${id}',
    alter column tx set default ((pg_current_xact_id()::text)::bigint + ${shift})::text::xid8`);
  await sql`delete from outbox_sequence where tx >= ${restoredTo.toString()}::xid8`;
  await sql`update webhook set last = greatest(last, ${ms})`;
  await sql`update event_stream set incomplete = true`;
  await sql`
    insert into event_generation (n, id, first, shift, restored_to, reason, streams_due)
    values (${n + 1}, ${id}, ${first.toString()}::xid8, ${shift}, ${restoredTo.toString()}::xid8, ${reason},
      exists(select from event_stream))`;
  return await readGeneration({ sql });
}

/** The transaction before which all rows below `first` are those that subscribers have seen. */
async function lastKnown(sql: Queries, first: bigint, shift: bigint, sameServer: boolean): Promise<bigint> {
  const { last, settled } = await onlyRow(sql<{ last: string; settled: string }[]>`
    with pruned as (select tx from outbox_pruned),
      newest as (select tx, created from outbox where tx < ${first.toString()}::xid8 order by tx desc limit 1)
    select coalesce((select tx from newest), (select tx from pruned))::text as last,
      coalesce((select o.tx from outbox o, newest where o.tx < newest.tx and o.created < newest.created - ${OPEN}::interval
        order by o.tx desc limit 1), (select tx from pruned))::text as settled`);
  if (!sameServer) return BigInt(settled) + 1n;
  const { open } = await onlyRow(sql<{ open: bigint | null }[]>`
    select min(id) as open from generate_series(
      greatest(${BigInt(settled) + 1n}, ${
    BigInt(last) - MOST_OPEN
  }, (select (first::text)::bigint from event_generation order by n desc limit 1)),
      ${BigInt(last)}) id
    where pg_xact_status(((id - ${shift})::text)::xid8) in ('aborted', 'in progress')`);
  return open ?? BigInt(last) + 1n;
}
