/**
 * Writes the index of the chain, in the database transaction of the blocks.
 *
 * Assumptions: a transaction sends statements without waiting for the results of those before, so a block takes one
 * round trip. Rows name the block they come from, so a rollback deletes those above a height.
 */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { inTurns } from "#src/base/steps.ts";
import { foldBlockInSteps, type IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { insertOutputs, insertRows, nameOf, outputKey, type TableName } from "#src/devnet/index/insert.ts";
import { type IndexChanges, noChanges, type SpentRow } from "#src/devnet/index/rows.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { together } from "#src/store/together.ts";

type Statement = PromiseLike<unknown>;

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
  "outcome",
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
  const pacer = new EventLoopPacer();
  for (const block of blocks) await inTurns(foldBlockInSteps(block, changes), pacer);
  await writeChanges(sql, changes, last);
}

/** Writes what a block, or the genesis (height -1, no hash), adds to the index, and the newest block that it holds. */
export async function writeChanges(
  sql: Queries,
  { rows, spent }: IndexChanges,
  { height, hash }: Pick<IndexedBlock, "height" | "hash">,
): Promise<void> {
  const spends = new Map(spent.map((row) => [outputKey(row), row]));
  const statements: Statement[] = [];
  for (const table of TABLES) {
    if (rows[table].length === 0) continue;
    statements.push(table === "output" ? insertOutputs(sql, rows.output, spends) : insertRows(sql, table, rows));
  }
  // outputs that these blocks create and spend are inserted as spent
  for (const row of rows.output) spends.delete(outputKey(row));
  if (spends.size > 0) {
    const earlier = [...spends.values()];
    const column = (name: keyof SpentRow) => sql.array(earlier.map((row) => row[name]));
    statements.push(sql`
      update devnet_index_output o set spent_height = x.height, spent_index = x.position, spent_tx = x.tx
      from unnest(${column("tx_hash")}::text[], ${column("index")}::int[], ${column("spent_height")}::bigint[],
        ${column("spent_index")}::int[], ${column("spent_tx")}::text[]) x (tx_hash, index, height, position, tx)
      where o.tx_hash = x.tx_hash and o.index = x.index`);
  }
  statements.push(sql`insert into devnet_index (height, hash) values (${height}, ${hash})
    on conflict (one) do update set height = excluded.height, hash = excluded.hash`);
  await together(statements);
}

/**
 * Removes the blocks above a height (-1: all) from the index. The block at the height is in `devnet_block`; `restored`
 * are the outputs up to it that blocks above it spent.
 */
export async function undoIndex(sql: Queries, height: number, restored: readonly OutRef[]): Promise<void> {
  await Promise.all([
    restored.length > 0 && sql`update devnet_index_output o set spent_height = null, spent_index = null, spent_tx = null
      from unnest(${sql.array(restored.map(({ txHash }) => txHash))}::text[],
        ${sql.array(restored.map(({ index }) => index))}::int[]) x (tx_hash, index)
      where o.tx_hash = x.tx_hash and o.index = x.index`,
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
