/**
 * The SQL of projections, the same for every table.
 *
 * Assumptions: one follower writes index tables, under its lease's epoch. A row is live while its `to_slot` is null, so
 * a rollback to slot p deletes what began after p and reopens what ended after p, and does nothing else. A member
 * (`chain_member`) belongs to one cursor, whose indexer reads and writes only the rows of its members.
 */
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { askedKey, type Projection, type Row, type RowQuery, type Rows } from "#src/chain/index/projection.ts";
import type { Catalog } from "#src/chain/index/catalog.ts";
import type { Queries } from "#src/store/store.ts";

/** The rows that a cursor's indexer may see. */
export interface CursorScope {
  readonly cursor: string;
  /** Index tables. */
  readonly tables: ReadonlySet<string>;
  /** Tables of members; only rows of the cursor's members are seen. */
  readonly members: ReadonlyMap<string, { readonly projection: string; readonly column: string }>;
}

/** The rows that some projections see at a cursor. */
export function scopeOf(projections: readonly Projection[], cursor: string): CursorScope {
  return {
    cursor,
    tables: new Set(projections.flatMap(({ tables }) => tables)),
    members: new Map(
      projections.flatMap(({ name, members }) =>
        members ? members.tables.map((table) => [table, { projection: name, column: members.column }] as const) : []
      ),
    ),
  };
}

/**
 * The condition that a row's member belongs to this cursor. As a scalar subquery it is evaluated row by row. As
 * `exists` it becomes a join, and the planner, which has few statistics of these tables, was seen to start from all
 * members.
 */
function ofCursor(sql: Queries, table: string, { members, cursor }: CursorScope) {
  const member = members.get(table);
  return member === undefined ? sql`` : sql`and (select m.cursor from chain_member m
    where m.projection = ${member.projection} and m.member = t.${sql(member.column)}) = ${cursor}`;
}

/** Values for `= any(…)`. */
function listOf(sql: Queries, values: readonly (string | bigint | number)[]) {
  return typeof values[0] === "string"
    ? sql.array(values.map(String))
    : sql.array(values.map((value) => BigInt(value)));
}

/**
 * Rows that answer a query: live rows of index tables, all rows of other tables. It is one statement, however many
 * values there are; each value uses the column's index (`offset 0` prevents a join, which was seen to read a table of
 * 400,000 rows for 2,000 values).
 */
export async function fetchOne(sql: Queries, query: RowQuery, reach: CursorScope): Promise<readonly Row[]> {
  if ("in" in query && query.in.length === 0) return [];
  const table = sql(query.table);
  const column = sql(query.column);
  const live = reach.tables.has(query.table) ? sql`and t.to_slot is null` : sql``;
  const mine = ofCursor(sql, query.table, reach);
  return "in" in query
    ? await sql<Row[]>`select t.* from unnest(${listOf(sql, query.in)}) wanted
        cross join lateral (select * from ${table} t where t.${column} = wanted ${live} offset 0) t where true ${mine}`
    : await sql<Row[]>`select t.* from ${table} t where t.${column} <= ${query.atMost}
        ${query.above === undefined ? sql`` : sql`and t.${column} > ${query.above}`} ${live} ${mine}`;
}

/** The rows that answer some queries, as a fold sees them. */
export async function fetchRows(sql: Queries, queries: readonly RowQuery[], reach: CursorScope): Promise<Rows> {
  const answers = await Promise.all(queries.map((query) => fetchOne(sql, query, reach)));
  return rowsOf(queries, answers);
}

/** Rows by table, each once, with an entry for each query (`askedKey`). */
export function rowsOf(queries: readonly RowQuery[], answers: readonly (readonly Row[])[]): Rows {
  return queries.reduce<Rows>(
    (rows, query, i) => mergeRows(rows, new Map([[askedKey(query), []], [query.table, answers[i] ?? []]])),
    new Map(),
  );
}

/** The rows of two answers together, without duplicates. */
export function mergeRows(a: Rows, b: Rows): Rows {
  const merged = new Map(a);
  for (const [table, rows] of b) {
    const known = merged.get(table) ?? [];
    if (known.length === 0 || rows.length === 0) {
      merged.set(table, known.length === 0 ? rows : known);
      continue;
    }
    const seen = new Set(known.map(rowIdentity));
    merged.set(table, [...known, ...rows.filter((row) => !seen.has(rowIdentity(row)))]);
  }
  return merged;
}

/** A text that identifies a row of a table: every table and view has identifying columns that are not bytes. */
function rowIdentity(row: Row): string {
  return Object.values(row).map((value) => value instanceof Uint8Array ? "" : String(value)).join("|");
}

/** Rows of a table as JSON for `json_populate_recordset`. */
function recordset(rows: readonly Row[]): string {
  return toJson(rows.map((row) => {
    const plain: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      // as strings, which every type accepts: the fast JSON writer refuses a bigint
      plain[column] = value instanceof Uint8Array
        ? `\\x${toHex(value)}`
        : typeof value === "bigint"
        ? value.toString()
        : value;
    }
    return plain;
  }));
}

/** Ends live rows: each of `rows` holds the `key` columns of one row, and its `to_slot`. */
export async function closeRows(
  sql: Queries,
  table: string,
  key: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const same = key.map((column) => sql`and t.${sql(column)} = x.${sql(column)}`);
  await sql`update ${sql(table)} t set to_slot = x.to_slot
    from json_populate_recordset(null::${sql(table)}, ${recordset(rows)}::text::json) x
    where t.to_slot is null ${same}`;
}

/** Inserts rows that have the same columns. */
export async function insertRows(
  sql: Queries,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const list = columns.map((column, i) => i === 0 ? sql`${sql(column)}` : sql`, ${sql(column)}`);
  await sql`insert into ${sql(table)} (${list}) select ${list}
    from json_populate_recordset(null::${sql(table)}, ${recordset(rows)}::text::json)`;
}

/**
 * Undoes index tables from a cursor's slot down to another; gives the rows that began or ended between, as they were.
 * There are no rows above the cursor except dead tuples of a recent undo; the upper bound keeps PostgreSQL from reading
 * those each time.
 */
export async function undoRows(sql: Queries, from: number, to: number, reach: CursorScope): Promise<Rows> {
  const between = (column: string) => sql`${sql(column)} > ${to} and ${sql(column)} <= ${from}`;
  // the statements are sent together; the connection keeps their order
  const affected = await Promise.all([...reach.tables].map(async (table) => {
    const name = sql(table);
    const mine = ofCursor(sql, table, reach);
    const began = between("from_slot");
    const ended = between("to_slot");
    const [rows] = await Promise.all([
      sql<Row[]>`select t.* from ${name} t where (${began} or ${ended}) ${mine}`,
      sql`delete from ${name} t where ${began} ${mine}`,
      sql`update ${name} t set to_slot = null where ${ended} ${mine}`,
    ]);
    return [table, rows] as const;
  }));
  return new Map(affected);
}

/** An integer of a row, as a bigint. Throws for other values. */
export function bigintOf(value: unknown): bigint {
  return typeof value === "bigint" ? value : BigInt(String(value));
}

/** A row as SQL would return it: with every column, `int8` as bigint. */
export function asStored(catalog: Catalog, table: string, row: Row): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const [column, type] of catalog.shape(table).columns) {
    const value = row[column];
    stored[column] = value === undefined || value === null ? null : type === "int8" ? bigintOf(value) : value;
  }
  return stored;
}
