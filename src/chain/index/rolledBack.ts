/** Rolled-back transactions. They are kept as long as the blocks of their slots. */
import type { Rows } from "#src/chain/index/projection.ts";
import type { Queries } from "#src/store/store.ts";

/** Records the transactions above a slot, within the rollback's transaction. */
export async function noteRolledBack(sql: Queries, slot: number, affected: Rows): Promise<void> {
  const rows = (affected.get("chain_transaction") ?? []).filter((row) => Number(row.from_slot) > slot);
  if (rows.length === 0) return;
  await sql`insert into chain_rolled_back (hash, slot)
    select * from unnest(${rows.map((row) => String(row.hash))}::text[], ${
    rows.map((row) => Number(row.from_slot))
  }::bigint[])
    on conflict (hash) do update set slot = excluded.slot`;
}

/** Slot of the last block that held a transaction and was rolled back; undefined if there is none. */
export async function rolledBackFrom(sql: Queries, hash: string): Promise<number | undefined> {
  const [row] = await sql<{ slot: bigint }[]>`select slot from chain_rolled_back where hash = ${hash}`;
  return row && Number(row.slot);
}
