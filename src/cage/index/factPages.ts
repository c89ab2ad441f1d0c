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
import { foldedBytes } from "#src/cage/index/foldedBytes.ts";
import type { Row } from "#src/cardano/projection.ts";
import { bigint, bytes, maybeSlot, number, text } from "#src/cage/index/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A state of a token. */
export interface StatePoint {
  /** The state output, `<hash>#<index>`. */
  readonly ref: string;
  readonly root: string;
  /** Slot of the block that made it. */
  readonly slot: number;
  /** Whether another state followed in the same block, so that these facts were never visible at a block boundary. */
  readonly superseded: boolean;
}

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
  /** Slot of the state. */
  readonly slot: number;
  /** Prefix of the keys. */
  readonly prefix?: Uint8Array | undefined;
  /** Bytes that the key or the value contains; only with `order: "key"`. */
  readonly contains?: Uint8Array | undefined;
  /** Whether `contains` finds letters in any case. */
  readonly ignoreCase?: boolean;
  /** Only what changed after this slot, in the order of the changes. */
  readonly since?: number | undefined;
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
  const superseded = maybeSlot(row, "to_slot") === slot;
  return { ref: text(row, "ref"), root: text(row, "root"), slot, superseded };
}

/** A token's status and last state, without its output. */
export async function readTokenPoint(sql: Queries, token: string): Promise<TokenPoint> {
  const [row] = await sql<Row[]>`
    select s.ref, s.root, s.from_slot, s.to_slot,
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
    select ref, root, from_slot, to_slot from token_state where ref = ${ref} and token = ${token}`;
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

async function rowsByDigest(sql: Queries, { token, slot }: FactQuery, after: string | undefined, limit: number) {
  // Digits of a digest end before "g".
  const [low, high] = [`${token}:${after ?? ""}`, `${token}:g`];
  return await sql<Row[]>`select f.path as place, f.key, f.value, f.from_slot from fact f
    where f.entry > ${low} and f.entry < ${high} and ${heldAt(sql, "f", slot)} order by f.entry limit ${limit}`;
}

async function rowsByKey(
  sql: Queries,
  { token, slot, prefix = new Uint8Array(), contains, ignoreCase = false }: FactQuery,
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

/** Keys at their last change after `since`: with the new value, or without one if the key was deleted. */
async function changedRows(
  sql: Queries,
  { token, slot, prefix }: FactQuery,
  since: number,
  after: string | undefined,
  limit: number,
) {
  let from = sql`e.from_slot > ${since}`;
  if (after !== undefined) {
    const [row] = await sql<Row[]>`select from_slot, position from token_request_end where ref = ${after}`;
    if (!row) return undefined;
    from = sql`(e.from_slot, e.position) > (${bigint(row, "from_slot")}, ${bigint(row, "position")})`;
  }
  const begins = prefix === undefined || prefix.length === 0
    ? sql``
    : sql`and substr(coalesce(f.key, b.key), 1, ${prefix.length}::int) = ${prefix}`;
  // `offset 0` fixes the plan: order first, then look up row by row. Without statistics the planner was seen to join
  // whole tables.
  return await sql<Row[]>`
    select e.ref as place, coalesce(f.key, b.key) as key, f.value, f.from_slot
    from (select ref, entry, from_slot, position from token_request_end e
      where e.token = ${token} and e.status = 'applied' and ${from} and e.from_slot <= ${slot}
      order by e.from_slot, e.position offset 0) e
    left join lateral (select key, value, from_slot from fact f
      where f.entry = e.entry and ${heldAt(sql, "f", slot)} offset 0) f on true
    left join lateral (select key from fact b
      where f.key is null and b.entry = e.entry and ${heldAt(sql, "b", since)} offset 0) b on true
    where (f.from_slot > ${since} or b.key is not null) ${begins}
      and e.ref = (select last.ref from token_request_end last
        where last.entry = e.entry and last.status = 'applied' and last.from_slot <= ${slot}
        order by last.from_slot desc, last.position desc limit 1)
    order by e.from_slot, e.position limit ${limit}`;
}
