/** Deletes rows that no rollback reaches any more, in small pieces. */
import type { Projection } from "#src/chain/index/projection.ts";
import { MAIN, readCursor } from "#src/chain/index/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows deleted by one statement. */
const BATCH = 2_000;

/** Slot of the oldest block that is kept. */
async function oldestSlot(sql: Queries): Promise<bigint | undefined> {
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  return oldest?.slot ?? undefined;
}

/** Deletes some of what is more than `keepBlocks` below the cursor; gives whether there may be more. */
export async function prune(sql: Queries, keepBlocks: number): Promise<boolean> {
  const { at } = await readCursor(sql);
  const floor = at.height - keepBlocks;
  if (floor <= 0) return false;
  const blocks = await sql`delete from chain_block where slot = any(array(
    select slot from chain_block where height < ${floor} order by slot limit ${BATCH})) returning 1`;
  const oldest = await oldestSlot(sql);
  if (oldest === undefined) return false;
  const transactions = await sql`delete from chain_transaction where hash = any(array(
    select hash from chain_transaction t where from_slot < ${oldest}
      and not exists (select 1 from submission s where s.hash = t.hash)
      and not exists (select 1 from submission_status s where s.hash = t.hash) limit ${BATCH})) returning 1`;
  // a wallet that listed it has it in its own rows from now on
  await sql`delete from submission_wallet where (hash, wallet) in (
    select w.hash, w.wallet from submission_wallet w join chain_transaction t on t.hash = w.hash
    where t.to_slot is null and t.from_slot < ${oldest} limit ${BATCH})`;
  await sql`update submission_status set lapsed_until = null where hash = any(array(
    select hash from submission_status where lapsed_until <= ${oldest} limit ${BATCH}))`;
  await sql`delete from chain_rolled_back where hash = any(array(
    select hash from chain_rolled_back where slot < ${oldest} limit ${BATCH}))`;
  const outputs = await sql`delete from chain_utxo where ref = any(array(
    select ref from chain_utxo where to_slot < ${oldest} limit ${BATCH})) returning 1`;
  return [blocks, transactions, outputs].some((deleted) => deleted.length === BATCH);
}

/**
 * Deletes some rows that ended before the oldest block that is kept; gives whether there may be more. Rows of members
 * that are being restored stay: their cursor may go back any distance.
 */
export async function pruneTransientRows(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  const oldest = await oldestSlot(sql);
  if (oldest === undefined) return false;
  for (const { name, passing, members } of projections) {
    for (const table of passing ?? []) {
      const mine = members?.tables.includes(table)
        ? sql`and (select m.cursor from chain_member m
            where m.projection = ${name} and m.member = t.${sql(members.column)}) = ${MAIN}`
        : sql``;
      const deleted = await sql`delete from ${sql(table)} where ctid = any(array(
        select t.ctid from ${sql(table)} t where t.to_slot < ${oldest} ${mine} limit ${BATCH})) returning 1`;
      if (deleted.length === BATCH) return true;
    }
  }
  return false;
}
