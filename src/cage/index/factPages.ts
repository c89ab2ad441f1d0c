/**
 * Facts of a token as they stood under one of its states: all, those whose keys begin with some bytes, or those that changed since another
 * state; a page at a time.
 *
 * Hypotheses: facts change with the state alone, so that a state output determines them, in whichever block a rollback puts it; rows of
 * facts and ends of requests are kept for ever, so that every state can be read. Who reads several pages looks, with each, whether the state
 * is still there.
 */
import type { Row } from "#src/cardano/projection.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A state of a token. */
export interface StatePoint {
  /** The state output, `<hash>#<index>`. */
  readonly ref: string;
  readonly root: string;
  /** Of the block that made it. */
  readonly slot: number;
  /** Whether another one followed in the same block: nobody saw the facts as they were between. */
  readonly passed: boolean;
}

/** How a token stands, and its last state, unless nobody ever saw it. */
export type TokenPoint =
  | { readonly status: "unknown" }
  | {
    readonly status: "live" | "quarantined" | "ended";
    readonly state: StatePoint;
    /** Why the index does not vouch for its facts. */
    readonly reason?: string;
  };

/** A fact as it stood. */
export interface FactRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Of the block that set the value. */
  readonly slot: number;
}

/** Which facts, under which state. */
export interface FactQuery {
  readonly token: string;
  /** Slot of the state. */
  readonly slot: number;
  /** First bytes of the keys. */
  readonly prefix?: Uint8Array | undefined;
  /** Only what changed after this slot, in the order of the changes. */
  readonly since?: number | undefined;
  /** By keys, or by their digests, which is quicker to read; of no meaning with `since`. */
  readonly order: "key" | "digest";
}

export interface FactPage {
  readonly facts: readonly FactRow[];
  /** Keys that are no more; none without `since`. */
  readonly deleted: readonly Uint8Array[];
  /** Where the next page begins; undefined at the end. */
  readonly next?: string | undefined;
}

/** Bytes of a key by which the index of keys goes. */
const HEAD = 512;

const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);

function pointOf(row: Row): StatePoint {
  const slot = Number(row.from_slot);
  const passed = row.to_slot !== null && Number(row.to_slot) === slot;
  return { ref: row.ref as string, root: row.root as string, slot, passed };
}

/** How a token stands, without its output. */
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
    : { status: "quarantined", state, reason: row.reason as string };
}

/** A state of a token by its output; undefined where the chain has none such (any more). */
export async function readStateAt(sql: Queries, token: string, ref: string): Promise<StatePoint | undefined> {
  const [row] = await sql<Row[]>`
    select ref, root, from_slot, to_slot from token_state where ref = ${ref} and token = ${token}`;
  return row && pointOf(row);
}

/** A page of at most so many facts behind a place that a page before gave; undefined where that place is none (any more). */
export async function readFactPage(
  sql: Queries,
  query: FactQuery,
  after: string | undefined,
  most: number,
): Promise<FactPage | undefined> {
  const rows = query.since !== undefined
    ? await changedRows(sql, query, query.since, after, most + 1)
    : query.order === "key"
    ? await rowsByKey(sql, query, after, most + 1)
    : await rowsByDigest(sql, query, after, most + 1);
  if (rows === undefined) return undefined;
  const page = rows.slice(0, most);
  return {
    facts: page.filter(({ value }) => value !== null).map((row) => ({
      key: bytes(row.key),
      value: bytes(row.value),
      slot: Number(row.from_slot),
    })),
    deleted: page.filter(({ value }) => value === null).map((row) => bytes(row.key)),
    ...(rows.length > most ? { next: page.at(-1)!.place as string } : {}),
  };
}

/** The condition that a row of `fact` under some name held at a slot. */
const stood = (sql: Queries, name: string, slot: number): Fragment =>
  sql`${sql(name)}.from_slot <= ${slot} and (${sql(name)}.to_slot is null or ${sql(name)}.to_slot > ${slot})`;

async function rowsByDigest(sql: Queries, { token, slot }: FactQuery, after: string | undefined, most: number) {
  // Digits of a digest end before "g".
  const [low, high] = [`${token}:${after ?? ""}`, `${token}:g`];
  return await sql<Row[]>`select f.path as place, f.key, f.value, f.from_slot from fact f
    where f.entry > ${low} and f.entry < ${high} and ${stood(sql, "f", slot)} order by f.entry limit ${most}`;
}

async function rowsByKey(
  sql: Queries,
  { token, slot, prefix = new Uint8Array() }: FactQuery,
  after: string | undefined,
  most: number,
) {
  const head = prefix.subarray(0, HEAD);
  const end = prefix.length > HEAD ? undefined : following(head);
  const bounds = [
    sql`substr(f.key, 1, 512) >= ${head}`,
    ...(end ? [sql`substr(f.key, 1, 512) < ${end}`] : []),
    ...(prefix.length > HEAD
      ? [sql`substr(f.key, 1, 512) <= ${head} and substr(f.key, 1, ${prefix.length}::int) = ${prefix}`]
      : []),
  ];
  if (after !== undefined) {
    const [row] = await sql<Row[]>`
      select substr(key, 1, 512) as head from fact where entry = ${`${token}:${after}`} limit 1`;
    if (!row) return undefined;
    bounds.push(sql`(substr(f.key, 1, 512), f.path) > (${bytes(row.head)}, ${after})`);
  }
  return await sql<Row[]>`select f.path as place, f.key, f.value, f.from_slot from fact f
    where f.token = ${token} and ${bounds.reduce((all, one) => sql`${all} and ${one}`)} and ${stood(sql, "f", slot)}
    order by substr(f.key, 1, 512), f.path limit ${most}`;
}

/** The least bytes after all that begin with some; undefined where there are none. */
function following(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const next = prefix.slice(0, length);
  next[length - 1]!++;
  return next;
}

/** Keys at their last change after a slot: with the value, or without one where it had one at that slot and has none now. */
async function changedRows(
  sql: Queries,
  { token, slot, prefix }: FactQuery,
  since: number,
  after: string | undefined,
  most: number,
) {
  let from = sql`e.from_slot > ${since}`;
  if (after !== undefined) {
    const [row] = await sql<Row[]>`select from_slot, position from token_request_end where ref = ${after}`;
    if (!row) return undefined;
    from = sql`(e.from_slot, e.position) > (${row.from_slot as bigint}, ${row.position as bigint})`;
  }
  const begins = prefix === undefined || prefix.length === 0
    ? sql``
    : sql`and substr(coalesce(f.key, b.key), 1, ${prefix.length}::int) = ${prefix}`;
  // in order first, and then looked up row by row: the planner, which knows little of these tables, was seen to join all with all
  return await sql<Row[]>`
    select e.ref as place, coalesce(f.key, b.key) as key, f.value, f.from_slot
    from (select ref, entry, from_slot, position from token_request_end e
      where e.token = ${token} and e.status = 'applied' and ${from} and e.from_slot <= ${slot}
      order by e.from_slot, e.position offset 0) e
    left join lateral (select key, value, from_slot from fact f
      where f.entry = e.entry and ${stood(sql, "f", slot)} offset 0) f on true
    left join lateral (select key from fact b
      where f.key is null and b.entry = e.entry and ${stood(sql, "b", since)} offset 0) b on true
    where (f.from_slot > ${since} or b.key is not null) ${begins}
      and e.ref = (select last.ref from token_request_end last
        where last.entry = e.entry and last.status = 'applied' and last.from_slot <= ${slot}
        order by last.from_slot desc, last.position desc limit 1)
    order by e.from_slot, e.position limit ${most}`;
}
