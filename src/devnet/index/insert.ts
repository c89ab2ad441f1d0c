/**
 * Inserts rows of the index. Rows of the tables that every payment adds to are sent as an array for each column, which
 * takes the server half the time of JSON.
 */
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import type { IndexRows, SpentRow } from "#src/devnet/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

export type TableName = keyof IndexRows;
type Statement = PromiseLike<unknown>;

/** Tables with one row for the same content, however often the chain holds it: that of the first time. */
export const DISTINCT: ReadonlySet<TableName> = new Set(["script", "datum"]);

/** The full name of a table. */
export function nameOf(table: TableName): string {
  return `devnet_index_${table}`;
}

/** Rows that a statement inserts at most: the end of an epoch adds two for each account. */
const ROWS = 500;

/** Inserts the rows of a table; sent without waiting, but those after many. */
export function insertRows(sql: Queries, table: Exclude<TableName, "output">, rows: IndexRows): Statement {
  if (table === "tx") return insertTransactions(sql, rows.tx);
  if (table === "address") return insertAddresses(sql, rows.address);
  return insertJson(sql, table, rows[table]);
}

async function insertJson(sql: Queries, table: TableName, rows: readonly object[]): Promise<void> {
  const name = sql(nameOf(table));
  for (let from = 0; from < rows.length; from += ROWS) {
    await sql`insert into ${name} select * from json_populate_recordset(null::${name}, ${
      recordset(rows.slice(from, from + ROWS))
    }::text::json)
      ${DISTINCT.has(table) ? sql`on conflict do nothing` : sql``}`;
  }
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

/** The name of an output in a map. */
export function outputKey({ tx_hash, index }: Pick<SpentRow, "tx_hash" | "index">): string {
  return `${tx_hash}#${index}`;
}

/** Gives columns of rows as arrays; what a row lacks is null. */
function columnsOf<T>(sql: Queries, rows: readonly T[]) {
  return (value: (row: T) => string | number | bigint | undefined) => sql.array(rows.map((row) => value(row) ?? null));
}

function insertTransactions(sql: Queries, rows: IndexRows["tx"]): Statement {
  const column = columnsOf(sql, rows);
  return sql`
    insert into devnet_index_tx (height, tx_index, hash, fee, deposit, size, valid, cbor)
    select height, tx_index, hash, fee, deposit, size, valid::boolean, decode(cbor, 'hex') from unnest(
      ${column((row) => row.height)}::bigint[], ${column((row) => row.tx_index)}::int[],
      ${column((row) => row.hash)}::text[], ${column((row) => row.fee)}::bigint[],
      ${column((row) => row.deposit)}::bigint[], ${column((row) => row.size)}::int[],
      ${column((row) => String(row.valid))}::text[], ${column((row) => toHex(row.cbor))}::text[])
      as new (height, tx_index, hash, fee, deposit, size, valid, cbor)`;
}

/** Inserts outputs; those that the same blocks spend are `spent`, by `outputKey`. */
export function insertOutputs(
  sql: Queries,
  rows: IndexRows["output"],
  spent: ReadonlyMap<string, SpentRow>,
): Statement {
  type Row = IndexRows["output"][number] & Partial<Pick<SpentRow, "spent_height" | "spent_index" | "spent_tx">>;
  const all = spent.size === 0 ? rows : rows.map((row): Row => {
    const by = spent.get(outputKey(row));
    return by ? { ...by, ...row } : row;
  });
  const column = columnsOf<Row>(sql, all);
  return sql`
    insert into devnet_index_output (tx_hash, index, height, tx_index, address, payment, stake, lovelace, datum_hash,
      datum, script_hash, spent_height, spent_index, spent_tx)
    select tx_hash, index, height, tx_index, address, payment, stake, lovelace, datum_hash, decode(datum, 'hex'),
      script_hash, spent_height, spent_index, spent_tx from unnest(
      ${column((row) => row.tx_hash)}::text[], ${column((row) => row.index)}::int[],
      ${column((row) => row.height)}::bigint[], ${column((row) => row.tx_index)}::int[],
      ${column((row) => row.address)}::text[], ${column((row) => row.payment)}::text[],
      ${column((row) => row.stake)}::text[], ${column((row) => row.lovelace)}::bigint[],
      ${column((row) => row.datum_hash)}::text[], ${column((row) => row.datum && toHex(row.datum))}::text[],
      ${column((row) => row.script_hash)}::text[], ${column((row) => row.spent_height)}::bigint[],
      ${column((row) => row.spent_index)}::int[], ${column((row) => row.spent_tx)}::text[])
      as new (tx_hash, index, height, tx_index, address, payment, stake, lovelace, datum_hash, datum, script_hash,
        spent_height, spent_index, spent_tx)`;
}

function insertAddresses(sql: Queries, rows: IndexRows["address"]): Statement {
  const column = columnsOf(sql, rows);
  return sql`
    insert into devnet_index_address (address, height, tx_index, payment, stake, tx_hash)
    select address, height, tx_index, payment, stake, tx_hash from unnest(
      ${column((row) => row.address)}::text[], ${column((row) => row.height)}::bigint[],
      ${column((row) => row.tx_index)}::int[], ${column((row) => row.payment)}::text[],
      ${column((row) => row.stake)}::text[], ${column((row) => row.tx_hash)}::text[])
      as new (address, height, tx_index, payment, stake, tx_hash)`;
}
