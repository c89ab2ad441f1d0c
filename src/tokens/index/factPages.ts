/**
 * Pages of a token's facts at one of its states: all facts, those whose keys have a prefix, or those that changed since
 * another state.
 *
 * Assumptions:
 * - Facts change only with the state, so a state output determines them, whatever block it is in after a rollback.
 * - Rows of facts and of ended requests are never deleted except by a rollback, so every state can be read.
 * - A caller that reads several pages checks with each page that the state still exists.
 */
import { concat } from "#src/base/bytes.ts";
import { foldedBytes } from "#src/tokens/index/foldedBytes.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { newestStates } from "#src/tokens/index/read.ts";
import { bigint, bytes, maybeSlot, number, text } from "#src/tokens/index/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A state of a token. */
export interface StatePoint {
  /** The state output, `<hash>#<index>`. */
  readonly ref: string;
  readonly root: string;
  /** Slot of the block that made it. */
  readonly slot: number;
  /** The place of the last change before this state; undefined within a block whose rows have no order. */
  readonly place: FactPlace | undefined;
}

/** A place among the changes of a token's facts: after all changes in earlier blocks, and those up to a position in its own. */
export interface FactPlace {
  readonly slot: number;
  /** 65536 × a transaction's index, and more; `END` for the end of the block. */
  readonly position: number;
}

/** The position of the end of a block. */
const END = Number.MAX_SAFE_INTEGER;

/** The end of the block at a slot. */
export const endOfBlock = (slot: number): FactPlace => ({ slot, position: END });

/** Whether a place is the end of a block: rows of facts hold for blocks. */
export const isEndOfBlock = ({ position }: FactPlace): boolean => position === END;

/** A token's status and its last state, if the token was ever seen. */
type TokenPoint =
  | { readonly status: "unknown" }
  | {
    readonly status: "live" | "quarantined" | "ended";
    readonly state: StatePoint;
    /** Why the token is quarantined. */
    readonly reason?: string;
  };

/** A fact at the queried state. */
export interface FactRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Slot of the block that set the value. */
  readonly slot: number;
}

/** Selects facts at one state. */
export interface FactQuery {
  readonly token: string;
  /** The place of the state; without `since` the end of a block. */
  readonly at: FactPlace;
  /** Prefix of the keys. */
  readonly prefix?: Uint8Array | undefined;
  /** Bytes that the key or the value contains; only with `order: "key"`. */
  readonly contains?: Uint8Array | undefined;
  /** Whether `contains` finds letters in any case. */
  readonly ignoreCase?: boolean;
  /** Only what changed after this place, in the order of the changes. */
  readonly since?: FactPlace | undefined;
  /** By key, or by digest, which is faster. Ignored with `since`. */
  readonly order: "key" | "digest";
}

export interface FactPage {
  readonly facts: readonly FactRow[];
  /** Deleted keys; empty without `since`. */
  readonly deleted: readonly Uint8Array[];
  /** Where the next page begins; undefined at the end. */
  readonly next?: string | undefined;
}

/** Leading bytes of a key that the database's index covers. */
const KEY_PREFIX_BYTES = 512;

function pointOf(row: Row): StatePoint {
  const slot = number(row, "from_slot");
  return { ref: text(row, "ref"), root: text(row, "root"), slot, place: placeOf(row, slot) };
}

/** The end of the block, or of the transaction that made the state where another state follows in the same block. */
function placeOf(row: Row, slot: number): FactPlace | undefined {
  if (maybeSlot(row, "to_slot") !== slot) return endOfBlock(slot);
  return row.position === null ? undefined : { slot, position: number(row, "position") | 0xffff };
}

/** A token's status and last state, without its output. */
export async function readTokenPoint(sql: Queries, token: string): Promise<TokenPoint> {
  const [row] = await sql<Row[]>`
    select s.ref, s.root, s.from_slot, s.to_slot, s.position,
      (select q.reason from token_quarantine q where q.token = s.token and q.to_slot is null limit 1) as reason
    from token_state s where s.token = ${token} order by s.from_slot desc, s.to_slot desc nulls first limit 1`;
  if (!row) return { status: "unknown" };
  const state = pointOf(row);
  if (row.to_slot !== null) return { status: "ended", state };
  return row.reason === null
    ? { status: "live", state }
    : { status: "quarantined", state, reason: text(row, "reason") };
}

/** A token's state by its output; undefined if the chain does not have it (any more). */
export async function readStateAt(sql: Queries, token: string, ref: string): Promise<StatePoint | undefined> {
  const [row] = await sql<Row[]>`
    select ref, root, from_slot, to_slot, position from token_state where ref = ${ref} and token = ${token}`;
  return row && pointOf(row);
}

/** A token's state at the end of the block at a slot; undefined if the token was booted later. */
export async function readStateAtSlot(sql: Queries, token: string, slot: number): Promise<StatePoint | undefined> {
  const [row] = await sql<Row[]>`
    select ref, root, from_slot, to_slot, position from token_state where ${newestStates(sql, token, slot)}
    order by to_slot desc nulls first limit 1`;
  return row && pointOf(row);
}

/**
 * A page of at most `limit` facts. `after` is the previous page's `next`. Undefined if that position does not exist (any
 * more).
 */
export async function readFactPage(
  sql: Queries,
  query: FactQuery,
  after: string | undefined,
  limit: number,
): Promise<FactPage | undefined> {
  const rows = query.since !== undefined
    ? await changedRows(sql, query, query.since, after, limit + 1)
    : query.order === "key"
    ? await rowsByKey(sql, query, after, limit + 1)
    : await rowsByDigest(sql, query, after, limit + 1);
  if (rows === undefined) return undefined;
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    facts: page.filter(({ value }) => value !== null).map((row) => ({
      key: bytes(row, "key"),
      value: bytes(row, "value"),
      slot: number(row, "from_slot"),
    })),
    deleted: page.filter(({ value }) => value === null).map((row) => bytes(row, "key")),
    ...(last && rows.length > limit ? { next: text(last, "place") } : {}),
  };
}

/** SQL condition: the row of `fact` with this alias was valid at a slot. */
const heldAt = (sql: Queries, name: string, slot: number): Fragment =>
  sql`${sql(name)}.from_slot <= ${slot} and (${sql(name)}.to_slot is null or ${sql(name)}.to_slot > ${slot})`;

async function rowsByDigest(
  sql: Queries,
  { token, at: { slot } }: FactQuery,
  after: string | undefined,
  limit: number,
) {
  // Digits of a digest end before "g".
  const [low, high] = [`${token}:${after ?? ""}`, `${token}:g`];
  return await sql<Row[]>`select f.path as place, f.key, f.value, f.from_slot from fact f
    where f.entry > ${low} and f.entry < ${high} and ${heldAt(sql, "f", slot)} order by f.entry limit ${limit}`;
}

async function rowsByKey(
  sql: Queries,
  { token, at: { slot }, prefix = new Uint8Array(), contains, ignoreCase = false }: FactQuery,
  after: string | undefined,
  limit: number,
) {
  const head = prefix.subarray(0, KEY_PREFIX_BYTES);
  const end = prefix.length > KEY_PREFIX_BYTES ? undefined : prefixEnd(head);
  const bounds = [
    sql`substr(f.key, 1, 512) >= ${head}`,
    ...(end ? [sql`substr(f.key, 1, 512) < ${end}`] : []),
    ...(prefix.length > KEY_PREFIX_BYTES
      ? [sql`substr(f.key, 1, 512) <= ${head} and substr(f.key, 1, ${prefix.length}::int) = ${prefix}`]
      : []),
  ];
  if (contains !== undefined && contains.length > 0) {
    const within = ignoreCase
      ? inAnyCase(sql, contains)
      : (column: Fragment) => sql`position(${contains} in ${column}) > 0`;
    bounds.push(sql`(${within(sql`f.key`)} or ${within(sql`f.value`)})`);
  }
  if (after !== undefined) {
    const [row] = await sql<Row[]>`
      select substr(key, 1, 512) as head from fact where entry = ${`${token}:${after}`} limit 1`;
    if (!row) return undefined;
    bounds.push(sql`(substr(f.key, 1, 512), f.path) > (${bytes(row, "head")}, ${after})`);
  }
  return await sql<Row[]>`select f.path as place, f.key, f.value, f.from_slot from fact f
    where f.token = ${token} and ${bounds.reduce((all, one) => sql`${all} and ${one}`)} and ${heldAt(sql, "f", slot)}
    order by substr(f.key, 1, 512), f.path limit ${limit}`;
}

/**
 * SQL condition: a column has some bytes, with letters in any case. The expression alone takes ten times as long as a
 * comparison of bytes; only rows that have a part of the bytes are compared with it.
 */
function inAnyCase(sql: Queries, bytes: Uint8Array): (column: Fragment) => Fragment {
  const { expression, part } = foldedBytes(bytes);
  const matches = (column: Fragment) => sql`encode(${column}, 'hex') ~ ${expression}`;
  if (part === "") return matches;
  return (column) =>
    sql`case when position(${part} in lower(encode(${column}, 'escape') collate "C")) > 0 then ${
      matches(column)
    } else false end`;
}

/** The smallest byte string after all those with a prefix; undefined if there is none. */
function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  const last = prefix[length - 1];
  return last === undefined ? undefined : concat(prefix.subarray(0, length - 1), Uint8Array.of(last + 1));
}

/**
 * Keys at their last change after `since`: with the value, or without one if the key had a value at `since` and has none now.
 *
 * Rows of facts hold for ends of blocks. What a place within a block is before is undone by the next request of the block
 * for the key: an insertion says that there was no value, any other what it was.
 */
async function changedRows(
  sql: Queries,
  { token, at, prefix }: FactQuery,
  since: FactPlace,
  after: string | undefined,
  limit: number,
) {
  let from = sql`(e.from_slot, e.position) > (${since.slot}, ${since.position})`;
  if (after !== undefined) {
    const [row] = await sql<Row[]>`select from_slot, position from token_request_end where ref = ${after}`;
    if (!row) return undefined;
    from = sql`(e.from_slot, e.position) > (${bigint(row, "from_slot")}, ${bigint(row, "position")})`;
  }
  const to = (name: string) => sql`(${sql(name)}.from_slot, ${sql(name)}.position) <= (${at.slot}, ${at.position})`;
  const nextAfter = ({ slot, position }: FactPlace) =>
    sql`(select r.type, r.old_value from token_request_end x join token_request r on r.ref = x.ref
      where x.entry = e.entry and x.status = 'applied' and x.from_slot = ${slot} and x.position > ${position}
      order by x.position limit 1)`;
  // of requests from before ends were kept, some count as applied that were not
  const first = isEndOfBlock(since) ? since.slot + 1 : since.slot;
  const begins = prefix === undefined || prefix.length === 0
    ? sql``
    : sql`and substr(r.key, 1, ${prefix.length}::int) = ${prefix}`;
  // `offset 0` fixes the plan: order first, then look up row by row. Without statistics the planner was seen to join
  // whole tables.
  return await sql<Row[]>`
    select e.ref as place, r.key, now.value, now.from_slot
    from (select ref, entry, from_slot, position from token_request_end e
      where e.token = ${token} and e.status = 'applied' and ${from} and ${to("e")}
      order by e.from_slot, e.position offset 0) e
    cross join lateral (select key from token_request r where r.ref = e.ref offset 0) r
    left join lateral ${nextAfter(at)} undo on true
    left join lateral ${nextAfter(since)} redo on true
    left join lateral (select value, from_slot from fact f
      where f.entry = e.entry and ${heldAt(sql, "f", at.slot)} offset 0) f on true
    left join lateral (select true as held from fact b
      where b.entry = e.entry and ${heldAt(sql, "b", since.slot)} offset 0) b on true
    cross join lateral (select
      case when undo.type is null then f.value else undo.old_value end as value,
      case when undo.type is null then f.from_slot else e.from_slot end as from_slot,
      case when redo.type is null then b.held else redo.type <> 'insert' end as before) now
    where case when now.value is null then now.before else now.from_slot >= ${first} end ${begins}
      and e.ref = (select last.ref from token_request_end last
        where last.entry = e.entry and last.status = 'applied' and ${to("last")}
        order by last.from_slot desc, last.position desc limit 1)
    order by e.from_slot, e.position limit ${limit}`;
}
