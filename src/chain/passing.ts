/** Forgets ended rows that were kept for rollbacks alone, once none reaches them, a piece at a time. */
import type { Projection } from "#src/cardano/projection.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows that are deleted at once. */
const AT_ONCE = 2_000;

/** Deletes some of what ended before the oldest block that is kept; gives whether there may be more. */
export async function prunePassing(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  if (oldest?.slot == null) return false;
  for (const table of projections.flatMap(({ passing }) => passing ?? [])) {
    const deleted = await sql`delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where to_slot < ${oldest.slot} limit ${AT_ONCE})) returning 1`;
    if (deleted.length === AT_ONCE) return true;
  }
  return false;
}
