/**
 * Reads pages of the log of transitions, in the order of their commits.
 *
 * Assumptions: `tx` of a row is the transaction that wrote it. A page shows only transactions below an edge under which
 * nothing can commit any more (`pg_snapshot_xmin`), so that no later commit can appear before a row that was read. Only
 * `pruneEvents` deletes rows, and it records how far it deleted.
 */
import { type Contents, NO_CONTENTS } from "#src/runtime/events/content.ts";
import { kebab, type Transition, transitionOf, type TransitionRow } from "#src/runtime/events/transition.ts";
import { placeOf } from "#src/runtime/events/generation.ts";
import { comparePositions, type Position } from "#src/runtime/events/position.ts";
import type { Store } from "#src/store/store.ts";

/** Selects transitions; a missing member matches all. */
export interface EventFilter {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  /** In kebab case, as in the subject. */
  readonly transition?: string | undefined;
}

/** A transition and the position after it. */
export interface LoggedEvent {
  readonly transition: Transition;
  readonly position: Position;
}

export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Where the next page begins. */
  readonly next: Position;
  /** Whether the page ended before the edge did. */
  readonly more: boolean;
  /** Whether the requested position was deleted: the page then begins at the oldest row. */
  readonly reset: boolean;
}

/** Most rows that one statement reads. */
const SCAN = 4_096;

/** Whether a transition passes a filter. */
export function passes({ entity, type }: Transition, filter: EventFilter): boolean {
  return (filter.kind === undefined || filter.kind === entity.kind) &&
    (filter.id === undefined || filter.id === entity.id) &&
    (filter.transition === undefined || filter.transition === kebab(type));
}

/**
 * The next transitions after a position, at most `limit`. `edge` is a transaction id below which the caller knows that
 * all transactions have ended; without it the page ends at the oldest open transaction of the whole server. Without
 * `contents` the transitions have no content.
 *
 * @example
 * ```ts
 * let page = await readPage(store, START, { kind: "door" }, 100);
 * while (page.more) page = await readPage(store, page.next, { kind: "door" }, 100);
 * ```
 */
export async function readPage(
  store: Store,
  after: Position,
  filter: EventFilter,
  limit: number,
  { edge, contents = NO_CONTENTS }: { readonly edge?: bigint | undefined; readonly contents?: Contents } = {},
): Promise<EventPage> {
  const { sql } = store;
  const { kind, id, transition } = filter;
  // The rows of one entity are few, and their versions are in the order of commits. Any other filter reads the log in
  // stretches of `SCAN` rows.
  const single = kind !== undefined && id !== undefined;
  const most = single || (kind ?? id ?? transition) === undefined ? limit : Math.max(limit, SCAN);
  const one = single ? sql`and o.kind = ${kind} and o.id = ${id}` : sql``;
  // Earlier versions of the entity are not read again.
  const { entity, version } = after;
  const rest = single && entity?.kind === kind && entity?.id === id && version !== undefined
    ? sql`and o.version > ${version}::bigint`
    : sql``;
  const order = single ? sql`o.version` : sql`o.tx, o.kind, o.id, o.version`;
  const rows = await sql<PageRow[]>`
    with bounds as materialized (
      select greatest(${placeOf(sql, sql`pg_snapshot_xmin(pg_current_snapshot())`)}, ${
    edge?.toString() ?? "0"
  }::xid8) as edge,
        (select tx from outbox_pruned) as pruned)
    select b.edge::text, b.pruned::text, e.*
    from bounds b left join lateral (
      select * from (
        select s.*, s.tx::text as tx_text, row_number() over (order by s.tx, s.kind, s.id, s.version) as place,
          count(*) over () as scanned
        from (
          select o.tx, o.kind, o.id, o.version, o.from_state, o.to_state, o.type, o.cause, o.at, o.body, o.generation from outbox o
          where o.tx >= ${after.tx.toString()}::xid8 and o.tx > b.pruned and o.tx < b.edge
            and (o.tx > ${after.tx.toString()}::xid8
              or (o.kind, o.id, o.version) > (${after.entity?.kind ?? ""}, ${after.entity?.id ?? ""}, ${
    after.version ?? 0
  }::bigint))
            ${one} ${rest}
          order by ${order} limit ${most}) s) n
      where n.place = n.scanned or (
        (${kind ?? null}::text is null or n.kind = ${kind ?? null}) and (${id ?? null}::text is null or n.id = ${
    id ?? null
  })
        and (${transition ?? null}::text is null or lower(regexp_replace(regexp_replace(n.type,
          '([a-z0-9])([A-Z])', '\\1-\\2', 'g'), '[^A-Za-z0-9]+', '-', 'g')) = ${transition ?? null}))
      order by n.place limit ${limit}) e on true
    order by e.place`;
  const found = rows.filter((row): row is PageRow & EventRow => row.kind !== null).map((row) =>
    loggedEvent(row, contents)
  );
  const events = found.filter((event) => passes(event.transition, filter));
  const [first] = rows;
  // The bounds are a row even where no transition is found.
  if (first === undefined) throw new Error("the bounds of a page are missing");
  const to: Position = { tx: BigInt(first.edge) };
  const pruned = BigInt(first.pruned);
  const reset = after.tx <= pruned && after.tx > 0n;
  const last = found.at(-1)?.position;
  const more = found.length >= limit || Number(first.scanned ?? 0) >= most;
  let next = more && last !== undefined ? last : furthest(last ?? after, to);
  if (after.tx <= pruned) next = furthest(next, { tx: pruned + 1n });
  return { events, next, more, reset };
}

/**
 * Deletes the oldest published transitions, up to the first one younger than `olderMs`. Resolves to the number of
 * deleted rows, about `most` at most. A reader at an earlier position gets `EventPage.reset`.
 */
export async function pruneEvents(store: Store, olderMs: number, most = 10_000): Promise<number> {
  const { sql } = store;
  const rows = await sql`
    with page as (
      select tx, published and created <= now() - ${olderMs} * interval '1 ms' and not exists (
          select 1 from outbox_unpublished u where u.partition = o.partition and u.kind = o.kind and u.id = o.id
            and u.version = o.version) as done
      from outbox o
      where tx < ${placeOf(sql, sql`pg_snapshot_xmin(pg_current_snapshot())`)} order by tx limit ${most}),
    stop as (
      select tx from page where not done
      -- The page may end within a transaction.
      union all select tx from (select tx from page order by tx desc limit 1) x where (select count(*) from page) = ${most}),
    last as (
      select tx from page where not exists (select 1 from stop where stop.tx <= page.tx) order by tx desc limit 1),
    gone as (delete from outbox o using last where o.tx <= last.tx returning 1),
    checkpoints as (delete from outbox_sequence s using last where s.tx <= last.tx returning 1),
    noted as (
      update outbox_pruned p set tx = greatest(p.tx, last.tx), rows = p.rows + (select count(*) from gone) from last returning 1)
    select from gone`;
  return rows.length;
}

function furthest(a: Position, b: Position): Position {
  return comparePositions(a, b) >= 0 ? a : b;
}

interface PageRow {
  edge: string;
  pruned: string;
  scanned: bigint | null;
  kind: string | null;
}

interface EventRow extends TransitionRow {
  tx_text: string;
}

function loggedEvent(row: EventRow, contents: Contents): LoggedEvent {
  const transition = transitionOf(row, contents);
  const { entity, version } = transition;
  return { transition, position: { tx: BigInt(row.tx_text), entity, version } };
}
