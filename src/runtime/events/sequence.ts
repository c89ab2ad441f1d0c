/**
 * Numbers of transitions: the rank of a row in the order of the log, from 1 on, without gaps.
 *
 * The number of a row is not stored with it, because it is final only when all earlier transactions have ended.
 * `outbox_sequence` has a checkpoint for about every 256th row: how many rows the transactions before it wrote. Below
 * the settled edge (`settledEdge`) nothing is added any more, so a checkpoint is the same whoever computes it.
 * `outbox_pruned` counts the deleted rows: numbers outlive what they numbered.
 */
import { type Position } from "#src/runtime/events/position.ts";
import { settledEdge } from "#src/runtime/events/settledPosition.ts";
import { type Transition, transitionOf, type TransitionRow } from "#src/runtime/events/transition.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

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
const base = (sql: Store["sql"], condition: ReturnType<Store["sql"]>) =>
  sql`
    select tx, before from (
      (select tx, before from outbox_sequence where ${condition} order by tx desc limit 1)
      union all select ((tx::text)::numeric + 1)::text::xid8, rows from outbox_pruned) known
    order by tx desc limit 1`;

/** Adds the missing checkpoints and gives the state of the log. */
export async function readLogState(store: Store): Promise<LogState> {
  const { sql } = store;
  const edge = (await settledEdge(store)).edge.toString();
  for (let scan = SCAN;;) {
    const [row] = await sql<{ first: bigint; last: bigint; rows: number; added: number }[]>`
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
      from base b, outbox_pruned p`;
    if (row!.rows < scan) return { first: Number(row!.first), last: Number(row!.last) };
    // Nothing was added when one transaction wrote more rows than were read, or when another process was faster.
    scan = row!.added === 0 ? scan * 2 : SCAN;
  }
}

interface NumberedRow extends TransitionRow {
  seq: bigint;
  created: Date;
}

const numbered = ({ seq, created, ...row }: NumberedRow): NumberedTransition => ({
  seq: Number(seq),
  transition: transitionOf(row),
  storedAt: created.getTime(),
});

/**
 * Transitions from a number on, at most `limit`, up to the number `last` of a state that was read before. The first
 * one has a greater number when rows were deleted.
 */
export async function readNumbered(
  store: Store,
  from: number,
  last: number,
  limit: number,
): Promise<NumberedTransition[]> {
  const count = Math.min(limit, last - from + 1);
  if (count <= 0) return [];
  const rows = await store.sql<NumberedRow[]>`
    with base as materialized (${base(store.sql, store.sql`before < ${from}`)})
    select * from (
      select b.before + row_number() over (order by r.tx, r.kind, r.id, r.version) as seq, r.*
      from base b, lateral (
        select tx, kind, id, version, from_state, to_state, type, cause, at, created from outbox o
        where o.tx >= b.tx order by tx, kind, id, version limit greatest(0, ${
    from + count - 1
  }::bigint - b.before)) r) n
    where seq >= ${from} order by seq`;
  return rows.map(numbered);
}

/** The number of a row of the log; `undefined` when it is deleted or does not exist. */
export async function numberOf(store: Store, { tx, entity, version }: Required<Position>): Promise<number | undefined> {
  const [row] = await store.sql<{ seq: bigint; found: boolean }[]>`
    with base as materialized (${base(store.sql, store.sql`tx <= ${tx.toString()}::xid8`)})
    select b.before + count(*) as seq, bool_or((o.tx, o.kind, o.id, o.version) =
      (${tx.toString()}::xid8, ${entity.kind}, ${entity.id}, ${version}::bigint)) as found
    from base b join outbox o on o.tx >= b.tx
      and (o.tx, o.kind, o.id, o.version) <= (${tx.toString()}::xid8, ${entity.kind}, ${entity.id}, ${version}::bigint)
    group by b.before`;
  return row?.found === true ? Number(row.seq) : undefined;
}

/**
 * The lowest number, up to `last`, of a row that was written at a time or later; `last + 1` when there is none. Rows are
 * in the order of their transactions' ids, so their times are not quite in order: it looks back by `SKEW_MS`.
 */
export async function numberAt(store: Store, at: number, last: number): Promise<number> {
  const { sql } = store;
  const [start] = await sql<{ before: bigint }[]>`${base(sql, sql`at < ${new Date(at - SKEW_MS)}`)}`;
  for (let from = Number(start!.before) + 1; from <= last;) {
    const rows = await readNumbered(store, from, last, SCAN);
    const found = rows.find(({ storedAt }) => storedAt >= at);
    if (found !== undefined) return found.seq;
    if (rows.length === 0) break;
    from = rows.at(-1)!.seq + 1;
  }
  return last + 1;
}

/** The newest transition of an actor up to the number `last`, optionally of one type; `undefined` when none is kept. */
export async function lastOf(
  store: Store,
  { kind, id }: EntityRef,
  last: number,
  isWanted: (transition: Transition) => boolean = () => true,
): Promise<NumberedTransition | undefined> {
  for (let below: bigint | null = null;;) {
    const rows: (TransitionRow & { tx: string; created: Date })[] = await store.sql`
      select tx::text, kind, id, version, from_state, to_state, type, cause, at, created from outbox
      where kind = ${kind} and id = ${id} and (${below}::bigint is null or version < ${below}::bigint)
      order by version desc limit ${STEP}`;
    for (const row of rows) {
      const transition = transitionOf(row);
      if (!isWanted(transition)) continue;
      const seq = await numberOf(store, { tx: BigInt(row.tx), entity: { kind, id }, version: transition.version });
      if (seq !== undefined && seq <= last) return { seq, transition, storedAt: row.created.getTime() };
    }
    if (rows.length < STEP) return undefined;
    below = rows.at(-1)!.version;
  }
}
