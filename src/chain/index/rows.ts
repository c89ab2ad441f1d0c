/**
 * The SQL of projections, the same for every table.
 *
 * Hypotheses: one follower writes index tables, under its lease's epoch; a row is live while its `to_slot` is null; so a rollback
 * to slot p is "delete what began after p, reopen what ended after p" and nothing else; a thing of `chain_member` belongs to one
 * cursor, so whoever reads for that cursor reads and writes its rows alone.
 */
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { askedKey, type Projection, type Row, type RowQuery, type Rows } from "#src/cardano/projection.ts";
import type { Catalog } from "#src/chain/index/catalog.ts";
import type { Queries } from "#src/store/store.ts";

/** Which rows a cursor's reader has to do with. */
export interface Reach {
  readonly cursor: string;
  /** Index tables. */
  readonly tables: ReadonlySet<string>;
  /** Tables of things, of which the cursor's alone are seen. */
  readonly members: ReadonlyMap<string, { readonly projection: string; readonly column: string }>;
}

/** What some projections have to do with at a cursor. */
export function reachOf(projections: readonly Projection[], cursor: string): Reach {
  return {
    cursor,
    tables: new Set(projections.flatMap(({ tables }) => tables)),
    members: new Map(
      projections.flatMap(({ name, members }) =>
        (members?.tables ?? []).map((table) => [table, { projection: name, column: members!.column }] as const)
      ),
    ),
  };
}

/**
 * The condition that a row's thing is read at this cursor. A subquery that gives a value is looked up row by row; as `exists` it is
 * joined, and the planner, which knows little of these tables, was seen to begin with all things there are.
 */
function belongs(sql: Queries, table: string, { members, cursor }: Reach) {
  const member = members.get(table);
  return member === undefined ? sql`` : sql`and (select m.cursor from chain_member m
    where m.projection = ${member.projection} and m.member = t.${sql(member.column)}) = ${cursor}`;
}

/** Values for `= any(…)`. */
function listOf(sql: Queries, values: readonly (string | bigint | number)[]) {
  return typeof values[0] === "string"
    ? sql.array(values as string[])
    : sql.array(values.map((value) => BigInt(value)));
}

/**
 * Rows that answer a query: live ones of index tables, all of other tables. One statement, however many values are asked for; each value
 * is looked up by the column's index (`offset 0` keeps it so: a join was seen to read a table of 400,000 rows for 2,000 values).
 */
export async function fetchOne(sql: Queries, query: RowQuery, reach: Reach): Promise<readonly Row[]> {
  if ("in" in query && query.in.length === 0) return [];
  const table = sql(query.table);
  const column = sql(query.column);
  const live = reach.tables.has(query.table) ? sql`and t.to_slot is null` : sql``;
  const mine = belongs(sql, query.table, reach);
  return "in" in query
    ? await sql<Row[]>`select t.* from unnest(${listOf(sql, query.in)}) wanted
        cross join lateral (select * from ${table} t where t.${column} = wanted ${live} offset 0) t where true ${mine}`
    : await sql<Row[]>`select t.* from ${table} t where t.${column} <= ${query.atMost}
        ${query.above === undefined ? sql`` : sql`and t.${column} > ${query.above}`} ${live} ${mine}`;
}

/** Answers queries as a fold sees them. */
export async function fetchRows(sql: Queries, queries: readonly RowQuery[], reach: Reach): Promise<Rows> {
  const answers = await Promise.all(queries.map((query) => fetchOne(sql, query, reach)));
  return rowsOf(queries, answers);
}

/** Rows by table, each once, with the entries that say what was asked. */
export function rowsOf(queries: readonly RowQuery[], answers: readonly (readonly Row[])[]): Rows {
  let rows: Rows = new Map();
  queries.forEach((query, i) => {
    rows = mergeRows(rows, new Map([[askedKey(query), []], [query.table, answers[i]!]]));
  });
  return rows;
}

/** Rows of two answers together; a row that both hold stands once. */
export function mergeRows(a: Rows, b: Rows): Rows {
  const merged = new Map(a);
  for (const [table, rows] of b) {
    const known = merged.get(table) ?? [];
    if (known.length === 0 || rows.length === 0) {
      merged.set(table, known.length === 0 ? rows : known);
      continue;
    }
    const seen = new Set(known.map(identity));
    merged.set(table, [...known, ...rows.filter((row) => !seen.has(identity(row)))]);
  }
  return merged;
}

/** Tells rows of a table apart; every table and view has columns that do and that are no bytes. */
function identity(row: Row): string {
  return Object.values(row).map((value) => value instanceof Uint8Array ? "" : String(value)).join("|");
}

/** Rows of one table as a JSON text that `json_populate_recordset` reads. */
function recordset(rows: readonly Row[]): string {
  return toJson(rows.map((row) => {
    const plain: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      // as texts, which every type reads: the fast writer of JSON refuses a bigint
      plain[column] = value instanceof Uint8Array
        ? `\\x${toHex(value)}`
        : typeof value === "bigint"
        ? value.toString()
        : value;
    }
    return plain;
  }));
}

/** Ends live rows: each of `rows` holds the `key` columns of one, and its `to_slot`. */
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
 * Undoes index tables from a cursor's slot down to another; gives the rows that began or ended between, as they were. Nothing is above
 * the cursor but what was undone a moment ago, which only the bound keeps PostgreSQL from reading through each time.
 */
export async function undoRows(sql: Queries, from: number, to: number, reach: Reach): Promise<Rows> {
  const between = (column: string) => sql`${sql(column)} > ${to} and ${sql(column)} <= ${from}`;
  // all of it is on its way at once; the connection keeps the order
  const affected = await Promise.all([...reach.tables].map(async (table) => {
    const name = sql(table);
    const mine = belongs(sql, table, reach);
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

/** A row as SQL would give it back: every column there, `int8` as bigint. */
export function asStored(catalog: Catalog, table: string, row: Row): Row {
  const stored: Record<string, unknown> = {};
  for (const [column, type] of catalog.shape(table).columns) {
    const value = row[column];
    stored[column] = value === undefined || value === null
      ? null
      : type === "int8"
      ? BigInt(value as number | bigint | string)
      : value;
  }
  return stored;
}
