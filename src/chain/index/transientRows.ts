/** Forgets ended rows that were kept for rollbacks alone, once none reaches them, a piece at a time. */
import type { Projection } from "#src/cardano/projection.ts";
import { MAIN } from "#src/chain/index/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows that are deleted at once. */
const AT_ONCE = 2_000;

/**
 * Deletes some of what ended before the oldest block that is kept; gives whether there may be more. What is read apart may go back any way,
 * so that nothing of it is deleted.
 */
export async function prunePassing(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  if (oldest?.slot == null) return false;
  for (const { name, passing, members } of projections) {
    for (const table of passing ?? []) {
      const mine = members?.tables.includes(table)
        ? sql`and (select m.cursor from chain_member m
            where m.projection = ${name} and m.member = t.${sql(members.column)}) = ${MAIN}`
        : sql``;
      const deleted = await sql`delete from ${sql(table)} where ctid = any(array(
        select t.ctid from ${sql(table)} t where t.to_slot < ${oldest.slot} ${mine} limit ${AT_ONCE})) returning 1`;
      if (deleted.length === AT_ONCE) return true;
    }
  }
  return false;
}
