/**
 * Transitions of the last hour by minute and kind, counted from the rows of `outbox`, and errors by minute.
 *
 * Transactions are those of PostgreSQL here. Rows of ended transactions never change, so each is read once per process: later readings continue after the last
 * one, by the index over transactions. Rows of transactions that may still be open are counted at each reading.
 */
import type { EntityRef } from "#src/runtime/types.ts";
import { settledEdge } from "#src/runtime/events/settledPosition.ts";
import type { Queries, Store } from "#src/store/store.ts";

const MINUTE_MS = 60_000;
/** Minutes that are counted, the current one included. */
export const ACTIVITY_MINUTES = 60;
/** Transaction ids that one statement spans. Not all of them wrote rows; a range of them is a range of the index. */
const SPAN = 100_000n;
/** Minutes without a reading after which the whole hour is counted again. */
const GAP = 10;
/** Most dead letters that are counted. */
const LETTERS = 10_000;
/** The transitions that count as refused by the network: those of one event of one kind. */
export interface RefusedTransition {
  readonly kind: string;
  readonly type: string;
}

/** Counts of one minute. */
export interface ActivityMinute {
  /** Start, in milliseconds since 1970. */
  readonly at: number;
  /** Transitions by kind. */
  readonly transitions: ReadonlyMap<string, number>;
  /** Those of them by which the network refused a transaction. */
  readonly refused: number;
  /** Events that became dead letters and are not dropped or retried. */
  readonly deadLetters: number;
  /** Failed attempts of effects. */
  readonly failedEffects: number;
}

interface Counted {
  readonly transitions: Map<string, number>;
  refused: number;
}

type Minutes = Map<number, Counted>;

/** A reader of the last hour. One reading at a time. */
export class Activity {
  /** Transactions below this one are in `counted`. */
  private from: bigint | undefined;
  private readonly counted: Minutes = new Map();
  /** Minute of the last reading. */
  private last = 0;

  constructor(private readonly store: Store, private readonly refused: RefusedTransition) {}

  /** The last 60 minutes by the database's clock, oldest first. */
  async read(): Promise<ActivityMinute[]> {
    const { store } = this;
    const { edge } = await settledEdge(store);
    const [row] = await store.sql<{ now: number }[]>`select (extract(epoch from now()) * 1000)::float8 as now`;
    const current = Math.floor((row?.now ?? Date.now()) / MINUTE_MS);
    const first = current - ACTIVITY_MINUTES + 1;
    // After a while without readings most rows since the last one are too old.
    if (this.from === undefined || current - this.last > GAP) {
      this.from = await firstSince(store, first * MINUTE_MS, edge);
      this.counted.clear();
    }
    this.last = current;
    let { from } = this;
    while (from < edge) {
      const to: bigint = from + SPAN < edge ? from + SPAN : edge;
      const rows = await count(store.sql, this.refused, from, to);
      add(this.counted, rows);
      // Generations of the log are far apart.
      this.from = from = rows.length > 0 ? to : await nextFrom(store, to, edge);
    }
    for (const minute of this.counted.keys()) if (minute < first) this.counted.delete(minute);
    const open: Minutes = new Map();
    add(open, await count(store.sql, this.refused, from, undefined));
    const [letters, failures] = await Promise.all([
      deadLettersSince(store, first * MINUTE_MS),
      failuresSince(store, first),
    ]);
    return Array.from({ length: ACTIVITY_MINUTES }, (_, i) => {
      const minute = first + i;
      const [done, more] = [this.counted.get(minute), open.get(minute)];
      const transitions = new Map(done?.transitions);
      for (const [kind, n] of more?.transitions ?? []) transitions.set(kind, (transitions.get(kind) ?? 0) + n);
      const refused = (done?.refused ?? 0) + (more?.refused ?? 0);
      return {
        at: minute * MINUTE_MS,
        transitions,
        refused,
        deadLetters: letters.get(minute) ?? 0,
        failedEffects: failures.get(minute) ?? 0,
      };
    });
  }
}

interface CountRow {
  readonly kind: string;
  readonly minute: number;
  readonly transitions: number;
  readonly refused: number;
}

/** The first transaction from one on that wrote a row, below an edge; else the edge. */
async function nextFrom({ sql }: Store, from: bigint, edge: bigint): Promise<bigint> {
  const [row] = await sql<{ tx: string }[]>`
    select tx::text from outbox where tx >= ${from.toString()}::xid8 and tx < ${edge.toString()}::xid8
    order by tx limit 1`;
  return row === undefined ? edge : BigInt(row.tx);
}

/** Counts the rows of transactions from `from` to below `to`. */
async function count(
  sql: Queries,
  refused: RefusedTransition,
  from: bigint,
  to: bigint | undefined,
): Promise<readonly CountRow[]> {
  return await sql<CountRow[]>`
    select kind, floor(extract(epoch from created) / 60)::int as minute, count(*)::int as transitions,
      count(*) filter (where kind = ${refused.kind} and type = ${refused.type})::int as refused
    from outbox where tx >= ${from.toString()}::xid8
      ${to === undefined ? sql`` : sql`and tx < ${to.toString()}::xid8`}
    group by kind, minute`;
}

function add(minutes: Minutes, rows: readonly CountRow[]): void {
  for (const { kind, minute, transitions, refused } of rows) {
    const one = minutes.get(minute) ?? { transitions: new Map(), refused: 0 };
    one.transitions.set(kind, (one.transitions.get(kind) ?? 0) + transitions);
    one.refused += refused;
    minutes.set(minute, one);
  }
}

/**
 * The first transaction that wrote a row at or after a time; `none` where no row is so new. Transactions and times grow
 * together, but for their durations; there is no index over times.
 */
async function firstSince({ sql }: Store, time: number, none: bigint): Promise<bigint> {
  const row = async (from: bigint) => {
    const [found] = await sql<{ text: string; old: boolean }[]>`
      select tx::text as text, created < to_timestamp(${time / 1_000}::float8) as old from outbox
      where tx >= ${from.toString()}::xid8 order by tx limit 1`;
    return found === undefined ? undefined : { tx: BigInt(found.text), old: found.old };
  };
  const [newest] = await sql<{ text: string; old: boolean }[]>`
    select tx::text as text, created < to_timestamp(${
    time / 1_000
  }::float8) as old from outbox order by tx desc limit 1`;
  if (newest === undefined || newest.old) return none;
  // The rows below `low` are older; the first row from `high` on is not.
  let [low, high] = [0n, BigInt(newest.text) + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    const found = await row(middle);
    if (found?.old === true) low = found.tx + 1n;
    else high = middle;
  }
  return low;
}

async function deadLettersSince({ sql }: Store, time: number): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ minute: number; letters: number }[]>`
    select floor(extract(epoch from created) / 60)::int as minute, count(*)::int as letters
    from (select created from dead_letter order by n desc limit ${LETTERS}) x
    where created >= to_timestamp(${time / 1_000}::float8) group by minute`;
  return new Map(rows.map(({ minute, letters }) => [minute, letters]));
}

async function failuresSince({ sql }: Store, first: number): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ minute: number; failures: number }[]>`
    select minute, sum(failures)::int as failures from effect_failure where minute >= ${first} group by minute`;
  return new Map(rows.map(({ minute, failures }) => [minute, failures]));
}

/** A transition of any actor. */
export interface RecentTransition {
  readonly entity: EntityRef;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly cause: string;
  readonly at: Date;
}

/** The newest transitions of all actors, newest first. */
export async function readRecentTransitions({ sql }: Store, limit: number): Promise<RecentTransition[]> {
  const rows = await sql<
    (Omit<RecentTransition, "entity" | "version"> & { kind: string; id: string; version: bigint })[]
  >`
    select kind, id, version, from_state as from, to_state as to, type as event, cause, at
    from outbox order by tx desc, kind desc, id desc, version desc limit ${limit}`;
  return rows.map(({ kind, id, version, ...row }) => ({ entity: { kind, id }, version: Number(version), ...row }));
}
