/**
 * Writes the index of the chain, in the database transaction of the blocks.
 *
 * Assumptions: a transaction sends statements without waiting for the results of those before, so a block takes one
 * round trip. Rows name the block they come from, so a rollback deletes those above a height.
 */
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { foldBlock, type IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { type IndexChanges, type IndexRows, noChanges, type SpentRow } from "#src/devnet/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

export type TableName = keyof IndexRows;
type Statement = PromiseLike<unknown>;

/** Tables with one row for the same content, however often the chain holds it: that of the first time. */
export const DISTINCT: ReadonlySet<TableName> = new Set(["script", "datum"]);
/** Tables whose rows are found by the hash of their transaction. */
export const TABLES_BY_HASH: readonly TableName[] = ["output", "asset"];
/** Tables whose rows are found by the height of their block. */
const TABLES_BY_HEIGHT: readonly TableName[] = [
  "block",
  "tx",
  "address",
  "asset_tx",
  "mint",
  "metadata",
  "script",
  "datum",
  "redeemer",
  "certificate",
  "proposal",
  "vote",
  "withdrawal",
  "epoch",
  "stake",
  "reward",
];
export const TABLES: readonly TableName[] = [...TABLES_BY_HASH, ...TABLES_BY_HEIGHT];

/** Adds blocks to the index, which are one after the other. */
export async function indexBlocks(sql: Queries, blocks: readonly IndexedBlock[]): Promise<void> {
  const last = blocks.at(-1);
  if (!last) return;
  const changes = noChanges();
  for (const block of blocks) foldBlock(block, changes);
  await writeChanges(sql, changes, last);
}

/** Writes what a block, or the genesis (height -1, no hash), adds to the index, and the newest block that it holds. */
export async function writeChanges(
  sql: Queries,
  { rows, spent }: IndexChanges,
  { height, hash }: Pick<IndexedBlock, "height" | "hash">,
): Promise<void> {
  const statements: Statement[] = TABLES.filter((table) => rows[table].length > 0)
    .map((table) => insert(sql, table, rows[table]));
  if (spent.length > 0) {
    const column = (name: keyof SpentRow) => sql.array(spent.map((row) => row[name]));
    statements.push(sql`
      update devnet_index_output o set spent_height = x.height, spent_index = x.position, spent_tx = x.tx
      from unnest(${column("tx_hash")}::text[], ${column("index")}::int[], ${column("spent_height")}::bigint[],
        ${column("spent_index")}::int[], ${column("spent_tx")}::text[]) x (tx_hash, index, height, position, tx)
      where o.tx_hash = x.tx_hash and o.index = x.index`);
  }
  statements.push(sql`insert into devnet_index (height, hash) values (${height}, ${hash})
    on conflict (one) do update set height = excluded.height, hash = excluded.hash`);
  await Promise.all(statements);
}

/** Removes the blocks above a height (-1: all) from the index. The block at the height is in `devnet_block`. */
export async function undoIndex(sql: Queries, height: number): Promise<void> {
  await Promise.all([
    // no index finds a spend by its height: what a transaction spends is at one of its addresses
    sql`update devnet_index_output o set spent_height = null, spent_index = null, spent_tx = null
      from (select distinct address from devnet_index_address where height > ${height}) a
      where o.address = a.address and o.spent_height > ${height}`,
    ...TABLES_BY_HASH.map((table): Statement =>
      sql`delete from ${sql(nameOf(table))} x using devnet_index_tx t where t.height > ${height} and x.tx_hash = t.hash`
    ),
    ...TABLES_BY_HEIGHT.map((table): Statement => sql`delete from ${sql(nameOf(table))} where height > ${height}`),
    sql`update devnet_index set height = ${height},
      hash = coalesce((select hash from devnet_block where height = ${height}), '')`,
  ]);
}

/** Empties the index. */
export async function clearIndex(sql: Queries): Promise<void> {
  const names = TABLES.map((table) => sql`, ${sql(nameOf(table))}`);
  await sql`truncate devnet_index ${names}`;
}

/** The full name of a table. */
export function nameOf(table: TableName): string {
  return `devnet_index_${table}`;
}

function insert(sql: Queries, table: TableName, rows: readonly object[]): Statement {
  const name = sql(nameOf(table));
  return sql`insert into ${name} select * from json_populate_recordset(null::${name}, ${recordset(rows)}::text::json)
    ${DISTINCT.has(table) ? sql`on conflict do nothing` : sql``}`;
}

/** Rows as JSON for `json_populate_recordset`. */
export function recordset(rows: readonly object[]): string {
  return toJson(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, columnValue(value)]))),
  );
}

/** A `bigint` becomes a text, which every type accepts: the fast writer of JSON refuses it. */
function columnValue(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Uint8Array ? `\\x${toHex(value)}` : value;
}
