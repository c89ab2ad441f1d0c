/**
 * Numbers of transitions: the rank of a row in the order of the log, from 1 on, without gaps.
 *
 * The number of a row is not stored with it, because it is final only when all earlier transactions have ended.
 * `outbox_sequence` has a checkpoint for about every 256th row: how many rows the transactions before it wrote. Below
 * the settled edge (`settledEdge`) nothing is added any more, so every process computes the same checkpoint.
 * `outbox_pruned` counts the deleted rows: numbers outlive what they numbered.
 */
import { type Position } from "#src/runtime/events/position.ts";
import { settledEdge } from "#src/runtime/events/settledPosition.ts";
import { kebab, type Transition, transitionOf, type TransitionRow } from "#src/runtime/events/transition.ts";
import { type Contents, NO_CONTENTS } from "#src/runtime/events/content.ts";
import { type EventFilter, passes } from "#src/runtime/events/replay.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Store } from "#src/store/store.ts";

/** Rows between two checkpoints, about. */
const STEP = 256;
/** Most rows that one statement reads, unless a single transaction wrote more. */
const SCAN = 4_096;
/** Longest duration of a transaction that writes rows, in milliseconds. */
const SKEW_MS = 60_000;

/** The numbered part of the log. */
export interface LogState {
  /** Number of the oldest row; `last + 1` when there is none. */
  readonly first: number;
  /** Number of the newest row below the edge; 0 before the first. */
  readonly last: number;
}

/** A transition with its number. */
export interface NumberedTransition {
  readonly seq: number;
  readonly transition: Transition;
  /** When the row was written, in milliseconds since 1970. */
  readonly storedAt: number;
}

/** The last checkpoint that passes a condition, or the first row that is not deleted: rows from `tx` on follow `before` rows. */
const base = (sql: Store["sql"], condition: Fragment) =>
  sql`
    select tx, before from (
      (select tx, before from outbox_sequence where ${condition} order by tx desc limit 1)
      union all select ((tx::text)::numeric + 1)::text::xid8, rows from outbox_pruned) known
    order by tx desc limit 1`;

/** A checkpoint before a number; transaction ids and numbers grow together. */
const baseBefore = (sql: Store["sql"], from: number) =>
  sql`
    select tx, before from (
      (select tx, before from outbox_sequence where before < ${from} order by before desc limit 1)
      union all select ((tx::text)::numeric + 1)::text::xid8, rows from outbox_pruned) known
    order by tx desc limit 1`;

/**
 * The numbered rows from one number to another, as the table `n`. Both ends are checkpoints' transactions, so that an
 * index gives the rows whatever the server expects of the limit.
 */
const numberedRows = (sql: Store["sql"], from: number, to: number) =>
  sql`(
    select * from (
      select b.before + row_number() over (order by r.tx, r.kind, r.id, r.version) as seq, r.*
      from (${baseBefore(sql, from)}) b, lateral (
        select tx, kind, id, version, from_state, to_state, type, cause, at, body, generation, created from outbox o
        where o.tx >= b.tx and o.tx < coalesce(
          (select tx from outbox_sequence where before >= ${to} order by before limit 1), '9223372036854775807'::xid8)
        order by tx, kind, id, version limit greatest(0, ${to}::bigint - b.before)) r) w
    where seq >= ${from}) n`;

/** Adds the missing checkpoints and gives the state of the log. */
export async function readLogState(store: Store): Promise<LogState> {
  const { sql } = store;
  const edge = (await settledEdge(store)).edge.toString();
  for (let scan = SCAN;;) {
    const row = await onlyRow(sql<{ first: bigint; last: bigint; rows: number; added: number }[]>`
      with base as materialized (${base(sql, sql`true`)}),
      rows as (
        select o.tx, o.created, row_number() over (order by o.tx) as n, lag(o.tx) over (order by o.tx) as previous
        from (select tx, created from outbox, (select tx as since from base) b
          where tx >= since and tx < ${edge}::xid8 order by tx limit ${scan}) o),
      starts as (
        select tx, created, n, lag((n - 1) / ${STEP}, 1, 0::bigint) over (order by n) as step
        from rows where previous is distinct from tx),
      added as (
        insert into outbox_sequence (tx, before, at)
        select s.tx, b.before + s.n - 1, s.created from starts s, base b where (s.n - 1) / ${STEP} > s.step
        on conflict do nothing returning 1)
      select p.rows + 1 as first, b.before + (select count(*) from rows) as last, (select count(*)::int from rows) as rows,
        (select count(*)::int from added) as added
      from base b, outbox_pruned p`);
    if (row.rows < scan) return { first: Number(row.first), last: Number(row.last) };
    // Nothing was added when one transaction wrote more rows than were read, or when another process was faster.
    scan = row.added === 0 ? scan * 2 : SCAN;
  }
}

interface NumberedRow extends TransitionRow {
  seq: bigint;
  created: Date;
}

const numbered = (contents: Contents) => ({ seq, created, ...row }: NumberedRow): NumberedTransition => ({
  seq: Number(seq),
  transition: transitionOf(row, contents),
  storedAt: created.getTime(),
});

/**
 * Transitions from a number on, at most `limit`, up to the number `last` of a state that was read before. The first
 * one has a greater number when rows were deleted.
 */
export async function readNumbered(
  store: Store,
  contents: Contents,
  from: number,
  last: number,
  limit: number,
): Promise<NumberedTransition[]> {
  const count = Math.min(limit, last - from + 1);
  if (count <= 0) return [];
  const rows = await store.sql<NumberedRow[]>`
    select * from ${numberedRows(store.sql, from, from + count - 1)} order by seq`;
  return rows.map(numbered(contents));
}

/** The place of a row in the order of the log. */
type TransitionPlace = Extract<Position, { readonly entity: object }>;

/** The number of a row of the log; `undefined` when it is deleted or does not exist. */
export async function numberOf(store: Store, { tx, entity, version }: TransitionPlace): Promise<number | undefined> {
  const [row] = await store.sql<{ seq: bigint; found: boolean }[]>`
    with base as materialized (${base(store.sql, store.sql`tx <= ${tx.toString()}::xid8`)})
    select b.before + count(*) as seq, bool_or((o.tx, o.kind, o.id, o.version) =
      (${tx.toString()}::xid8, ${entity.kind}, ${entity.id}, ${version}::bigint)) as found
    from base b join outbox o on o.tx >= b.tx
      and (o.tx, o.kind, o.id, o.version) <= (${tx.toString()}::xid8, ${entity.kind}, ${entity.id}, ${version}::bigint)
    group by b.before`;
  return row?.found === true ? Number(row.seq) : undefined;
}

/** The end of the year 9999, in milliseconds since 1970. */
const MAX_TIME = Date.UTC(10_000, 0) - 1;

/**
 * The lowest number, up to `last`, of a row that was written at a time or later; `last + 1` when there is none. Rows are
 * in the order of their transactions' ids, so their times are not quite in order: it looks back by `SKEW_MS`.
 */
export async function numberAt(store: Store, time: number, last: number): Promise<number> {
  const { sql } = store;
  // Beyond this PostgreSQL does not read what a Date is written as; rows have the time of a clock.
  const at = Math.min(Math.max(time, 0), MAX_TIME);
  const start = await onlyRow(sql<{ before: bigint }[]>`${base(sql, sql`at < ${new Date(at - SKEW_MS)}`)}`);
  for (let from = Number(start.before) + 1; from <= last;) {
    const rows = await readNumbered(store, NO_CONTENTS, from, last, SCAN);
    const found = rows.find(({ storedAt }) => storedAt >= at);
    if (found !== undefined) return found.seq;
    const end = rows.at(-1);
    if (end === undefined) break;
    from = end.seq + 1;
  }
  return last + 1;
}

/** Most rows that one statement of a search reads. */
const WINDOW = 16_384;

/**
 * The SQL condition that a row passes a filter. The kebab case of a type is a regular expression; ASCII letters in it
 * are lower case whatever the collation.
 */
function condition(sql: Store["sql"], { kind, id, transition, types }: NumberedFilter): Fragment {
  return sql`((${kind ?? null}::text is null or kind = ${kind ?? null}) and (${id ?? null}::text is null or id = ${
    id ?? null
  })
    and (${transition ?? null}::text is null or lower(regexp_replace(regexp_replace(type,
      '([a-z0-9])([A-Z])', '\\1-\\2', 'g'), '[^A-Za-z0-9]+', '-', 'g')) = ${transition ?? null})
    and ${types === undefined ? sql`true` : sql`type in ${sql([...types])}`})`;
}

/** Any of some conditions; none for no filters. */
function anyOf(sql: Store["sql"], filters: readonly NumberedFilter[]): Fragment {
  return filters.reduce<Fragment>((all, filter) => sql`${all} or ${condition(sql, filter)}`, sql`false`);
}

/** Selects transitions as `EventFilter`, and of these the given types of a machine's events. */
export interface NumberedFilter extends EventFilter {
  readonly types?: readonly string[] | undefined;
}

/** Transitions that a search found, and the number up to which it searched. */
export interface FoundTransitions {
  readonly found: readonly NumberedTransition[];
  readonly to: number;
}

/**
 * Searches from a number on, up to `last`, for transitions that pass any of some filters, at most `limit`. It reads a
 * part of the log: the next call begins after `to`.
 */
export async function findNumbered(
  store: Store,
  contents: Contents,
  from: number,
  last: number,
  filters: readonly NumberedFilter[],
  limit: number,
): Promise<FoundTransitions> {
  const to = Math.min(last, from + WINDOW - 1);
  if (to < from) return { found: [], to: last };
  const { sql } = store;
  const rows = await sql<NumberedRow[]>`
    select * from ${numberedRows(sql, from, to)} where ${anyOf(sql, filters)} order by seq limit ${limit}`;
  const found = rows.map(numbered(contents));
  return { found, to: rows.length < limit ? to : found.at(-1)?.seq ?? to };
}

/** The number of transitions from a number to another that pass any of some filters. */
export async function countNumbered(
  store: Store,
  from: number,
  last: number,
  filters: readonly NumberedFilter[],
): Promise<number> {
  const { sql } = store;
  let count = 0;
  for (let at = from; at <= last; at += WINDOW) {
    const { n } = await onlyRow(sql<{ n: number }[]>`
      select count(*)::int as n from ${numberedRows(sql, at, Math.min(last, at + WINDOW - 1))}
      where ${anyOf(sql, filters)}`);
    count += n;
  }
  return count;
}

/** The newest transition from `first` to `last` that passes any of some filters; `undefined` when there is none. */
export async function lastNumbered(
  store: Store,
  contents: Contents,
  first: number,
  last: number,
  filters: readonly NumberedFilter[],
): Promise<NumberedTransition | undefined> {
  const { sql } = store;
  const only = filters.length === 1 ? filters[0] : undefined;
  if (only?.kind !== undefined && only.id !== undefined) {
    return await lastOf(store, contents, only.kind, only.id, only, last);
  }
  for (let to = last; to >= first; to -= WINDOW) {
    const rows = await sql<NumberedRow[]>`
      select * from ${numberedRows(sql, Math.max(first, to - WINDOW + 1), to)}
      where ${anyOf(sql, filters)} order by seq desc limit 1`;
    for (const row of rows) return numbered(contents)(row);
  }
  return undefined;
}

/** The newest transition of an actor that passes a filter, up to the number `last`. */
async function lastOf(
  store: Store,
  contents: Contents,
  kind: string,
  id: string,
  filter: NumberedFilter,
  last: number,
): Promise<NumberedTransition | undefined> {
  for (let below: bigint | null = null;;) {
    const rows: (TransitionRow & { tx: string; created: Date })[] = await store.sql`
      select tx::text, kind, id, version, from_state, to_state, type, cause, at, body, generation, created from outbox
      where kind = ${kind} and id = ${id} and (${below}::bigint is null or version < ${below}::bigint)
      order by version desc limit ${STEP}`;
    for (const row of rows) {
      below = row.version;
      const transition = transitionOf(row, contents);
      if (!passes(transition, filter) || filter.types?.includes(row.type) === false) continue;
      const seq = await numberOf(store, { tx: BigInt(row.tx), entity: { kind, id }, version: transition.version });
      if (seq !== undefined && seq <= last) return { seq, transition, storedAt: row.created.getTime() };
    }
    if (rows.length < STEP) return undefined;
  }
}

/**
 * The number of the newest transition of each actor and type from `first` to `last` that passes any of some filters;
 * `undefined` when there are more than `most`.
 */
export async function lastOfEach(
  store: Store,
  first: number,
  last: number,
  filters: readonly NumberedFilter[],
  most: number,
): Promise<number[] | undefined> {
  const { sql } = store;
  const newest = new Map<string, number>();
  for (let from = first; from <= last; from += WINDOW) {
    const rows = await sql<{ kind: string; id: string; type: string; seq: bigint }[]>`
      select kind, id, type, max(seq) as seq from ${numberedRows(sql, from, Math.min(last, from + WINDOW - 1))}
      where ${anyOf(sql, filters)} group by kind, id, type`;
    for (const { kind, id, type, seq } of rows) newest.set(`${kind} ${kebab(type)} ${id}`, Number(seq));
    if (newest.size > most) return undefined;
  }
  return [...newest.values()].sort((a, b) => a - b);
}
