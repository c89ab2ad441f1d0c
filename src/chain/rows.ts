/**
 * The SQL of projections, the same for every table.
 *
 * Hypotheses: one follower writes index tables, under its lease's epoch, in one transaction a block; a row is live while its
 * `to_slot` is null; so a rollback to slot p is "delete what began after p, reopen what ended after p" and nothing else.
 */
import type { Queries } from "#src/store/store.ts";
import {
  askedKey,
  type Projection,
  type Row,
  type RowQuery,
  type Rows,
  type RowWrite,
} from "#src/cardano/projection.ts";

const INSERT_AT_ONCE = 1_000;

/** Index tables of some projections. */
export function tablesOf(projections: readonly Projection[]): ReadonlySet<string> {
  return new Set(projections.flatMap((projection) => projection.tables));
}

/** Answers row queries: only live rows of index tables, all rows of other tables. */
export async function fetchRows(
  sql: Queries,
  queries: readonly RowQuery[],
  indexTables: ReadonlySet<string>,
): Promise<Rows> {
  const answers = await Promise.all(queries.map(async (query) => {
    if ("in" in query && query.in.length === 0) return [];
    const condition = "in" in query
      ? sql`${sql(query.column)} = any(${sql.array([...query.in] as string[])})`
      : sql`${sql(query.column)} <= ${query.atMost}`;
    const live = indexTables.has(query.table) ? sql`and to_slot is null` : sql``;
    return await sql<Row[]>`select * from ${sql(query.table)} where ${condition} ${live}`;
  }));
  const rows = new Map<string, Row[]>();
  queries.forEach((query, i) => {
    rows.set(askedKey(query), []);
    rows.set(query.table, [...(rows.get(query.table) ?? []), ...answers[i]!]);
  });
  return rows;
}

/** Rows of two answers together; a row that both hold stands once. */
export function mergeRows(a: Rows, b: Rows): Rows {
  const merged = new Map(a);
  for (const [table, rows] of b) {
    const known = merged.get(table) ?? [];
    const seen = new Set(known.map(identity));
    merged.set(table, [...known, ...rows.filter((row) => !seen.has(identity(row)))]);
  }
  return merged;
}

/** Tells rows of a table apart; every table and view has columns that do and that are no bytes. */
function identity(row: Row): string {
  return Object.values(row).map((value) => value instanceof Uint8Array ? "" : String(value)).join("|");
}

/** Writes what a block changes: ends first, so that a row may be replaced within one block. */
export async function writeRows(sql: Queries, slot: number, writes: readonly RowWrite[]): Promise<void> {
  await Promise.all(
    writes.filter((write) => write.type === "close").map((write) => {
      const conditions = Object.entries(write.key).map(([column, value]) =>
        sql`and ${sql(column)} = ${value as string}`
      );
      return sql`update ${sql(write.table)} set to_slot = ${slot} where to_slot is null ${conditions}`;
    }),
  );
  const inserts = new Map<string, Row[]>();
  for (const write of writes) {
    if (write.type !== "insert") continue;
    const row = { to_slot: null, ...write.row, from_slot: slot };
    const rows = inserts.get(write.table);
    if (rows) rows.push(row);
    else inserts.set(write.table, [row]);
  }
  for (const [table, rows] of inserts) {
    for (let i = 0; i < rows.length; i += INSERT_AT_ONCE) {
      await sql`insert into ${sql(table)} ${sql(rows.slice(i, i + INSERT_AT_ONCE) as Record<string, string>[])}`;
    }
  }
}

/** Undoes index tables down to a slot; gives the rows that began or ended after it, as they were. */
export async function undoRows(sql: Queries, slot: number, tables: ReadonlySet<string>): Promise<Rows> {
  const affected = new Map<string, readonly Row[]>();
  for (const table of tables) {
    affected.set(table, await sql<Row[]>`select * from ${sql(table)} where from_slot > ${slot} or to_slot > ${slot}`);
    await sql`delete from ${sql(table)} where from_slot > ${slot}`;
    await sql`update ${sql(table)} set to_slot = null where to_slot > ${slot}`;
  }
  return affected;
}
