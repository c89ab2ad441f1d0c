/** Forgets blocks and transactions that no rollback reaches, a piece at a time. */
import { readCursor } from "#src/chain/index/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows that are deleted at once. */
const AT_ONCE = 2_000;

/** Deletes some of what lies deeper than `keepBlocks` below the cursor; gives whether there may be more. */
export async function prune(sql: Queries, keepBlocks: number): Promise<boolean> {
  const { at } = await readCursor(sql);
  const floor = at.height - keepBlocks;
  if (floor <= 0) return false;
  const blocks = await sql`delete from chain_block where slot = any(array(
    select slot from chain_block where height < ${floor} order by slot limit ${AT_ONCE})) returning 1`;
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  if (oldest?.slot == null) return false;
  const transactions = await sql`delete from chain_transaction where hash = any(array(
    select hash from chain_transaction t where from_slot < ${oldest.slot}
      and not exists (select 1 from submission s where s.hash = t.hash) limit ${AT_ONCE})) returning 1`;
  // whoever listed it has it in the index from now on, for ever
  await sql`delete from submission_wallet where (hash, wallet) in (
    select w.hash, w.wallet from submission_wallet w join chain_transaction t on t.hash = w.hash
    where t.to_slot is null and t.from_slot < ${oldest.slot} limit ${AT_ONCE})`;
  await sql`update submission_status set lapsed_until = null where hash = any(array(
    select hash from submission_status where lapsed_until <= ${oldest.slot} limit ${AT_ONCE}))`;
  await sql`delete from chain_rolled_back where hash = any(array(
    select hash from chain_rolled_back where slot < ${oldest.slot} limit ${AT_ONCE}))`;
  const outputs = await sql`delete from chain_utxo where ref = any(array(
    select ref from chain_utxo where to_slot < ${oldest.slot} limit ${AT_ONCE})) returning 1`;
  return [blocks, transactions, outputs].some((deleted) => deleted.length === AT_ONCE);
}
