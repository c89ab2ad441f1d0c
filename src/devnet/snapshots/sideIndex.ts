/**
 * The rows that blocks beside the chain add to its index.
 *
 * Assumptions: the rows of a block follow from it and the blocks before it, so they are the same whenever it is
 * appended again. An output's row is kept without its spending, which is a fact of another block. Rows of the largest
 * tables are kept as rows, the others as JSON, as an earlier version kept all.
 */
import { DISTINCT, nameOf, type TableName } from "#src/devnet/index/insert.ts";
import { TABLES, TABLES_BY_HASH } from "#src/devnet/index/write.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Tables of the index that have one of their own beside the chain. */
const ROW_TABLES = ["tx", "output", "address"] as const;

/** Tables beside the chain that hold rows of the index. */
export const SIDE_INDEX: readonly string[] = ["devnet_side_index", ...ROW_TABLES.map(sideName)];

function sideName(table: typeof ROW_TABLES[number]): string {
  return `devnet_side_index_${table}`;
}

/** The columns that are kept as rows. */
function columnsOf(sql: Queries, table: typeof ROW_TABLES[number]): Fragment {
  switch (table) {
    case "tx":
      return sql`height, tx_index, hash, fee, deposit, size, valid, cbor`;
    case "output":
      return sql`tx_hash, index, height, tx_index, address, payment, stake, lovelace, datum_hash, datum, script_hash`;
    case "address":
      return sql`address, height, tx_index, payment, stake, tx_hash`;
  }
}

const isJson = (table: TableName): boolean => !ROW_TABLES.some((one) => one === table);

/** Copies the index rows of some blocks of the chain; `which` is a condition on `block`. Their spends are kept already. */
export async function keepSideIndex(sql: Queries, which: Fragment): Promise<void> {
  const keep = (relation: string, rows: Fragment, of: Fragment) =>
    sql`
      insert into devnet_side_index (block, relation, rows)
      select block.hash, ${relation}, json_agg(${rows}) from devnet_block as block join ${of} where ${which} group by block.hash`;
  const found = (table: TableName) =>
    TABLES_BY_HASH.includes(table)
      ? sql`devnet_index_tx as tx on tx.height = block.height join ${
        sql(nameOf(table))
      } as one on one.tx_hash = tx.hash`
      : sql`${sql(nameOf(table))} as one on one.height = block.height`;
  await Promise.all([
    ...TABLES.filter(isJson).map((table) => keep(table, sql`one`, found(table))),
    ...ROW_TABLES.map((table) =>
      sql`
        insert into ${sql(sideName(table))} (block, ${columnsOf(sql, table)})
        select of_block, ${columnsOf(sql, table)} from (
          select block.hash as of_block, one.* from devnet_block as block join ${found(table)} where ${which}) as kept`
    ),
    keep(
      "spend",
      sql`json_build_object('tx_hash', one.tx_hash, 'index', one.index, 'spent_height', spent_height,
        'spent_index', spent_index, 'spent_tx', spent_tx)`,
      sql`devnet_side_spend as spend on spend.block = block.hash
        join devnet_index_output as one on one.tx_hash = spend.tx_hash and one.index = spend.index`,
    ),
  ]);
}

/**
 * Appends the index rows of blocks that are on the chain again; `appended` is the join of `one.block` with these
 * blocks. Gives whether each block had rows; if not, the index does not end at the tip.
 */
export async function appendSideIndex(sql: Queries, appended: Fragment, blocks: number): Promise<boolean> {
  const { indexed } = await onlyRow(sql<{ indexed: number }[]>`
    select count(*)::int as indexed from devnet_side_index as one join ${appended} where relation = 'block'`);
  if (indexed < blocks) return false;
  const rowsOf = (relation: TableName | "spend", table: TableName) =>
    sql`devnet_side_index as one join ${appended} and relation = ${relation}
      cross join lateral json_populate_recordset(null::${sql(nameOf(table))}, one.rows) as added`;
  await Promise.all(TABLES.map((table) =>
    sql`
      insert into ${sql(nameOf(table))} select added.* from ${rowsOf(table, table)}
      ${DISTINCT.has(table) ? sql`on conflict do nothing` : sql``}`
  ));
  await Promise.all(ROW_TABLES.map((table) =>
    sql`
      insert into ${sql(nameOf(table))} (${columnsOf(sql, table)})
      select ${columnsOf(sql, table)} from (select one.* from ${sql(sideName(table))} as one join ${appended}) as kept`
  ));
  await sql`
    update devnet_index_output as output
    set spent_height = added.spent_height, spent_index = added.spent_index, spent_tx = added.spent_tx
    from ${rowsOf("spend", "output")} where output.tx_hash = added.tx_hash and output.index = added.index`;
  await sql`
    update devnet_index as ending set height = tip.height, hash = tip.hash
    from (select height, hash from devnet_block order by height desc limit 1) as tip`;
  return true;
}
