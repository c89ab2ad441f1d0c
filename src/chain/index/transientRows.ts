/** Deletes ended rows that were kept only for rollbacks, once no rollback reaches them, in small pieces. */
import type { Projection } from "#src/cardano/projection.ts";
import { MAIN } from "#src/chain/index/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows deleted by one statement. */
const BATCH = 2_000;

/**
 * Deletes some rows that ended before the oldest block that is kept; gives whether there may be more. Rows of members
 * that are being restored stay: their cursor may go back any distance.
 */
export async function pruneTransientRows(sql: Queries, projections: readonly Projection[]): Promise<boolean> {
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  if (oldest?.slot == null) return false;
  for (const { name, passing, members } of projections) {
    for (const table of passing ?? []) {
      const mine = members?.tables.includes(table)
        ? sql`and (select m.cursor from chain_member m
            where m.projection = ${name} and m.member = t.${sql(members.column)}) = ${MAIN}`
        : sql``;
      const deleted = await sql`delete from ${sql(table)} where ctid = any(array(
        select t.ctid from ${sql(table)} t where t.to_slot < ${oldest.slot} ${mine} limit ${BATCH})) returning 1`;
      if (deleted.length === BATCH) return true;
    }
  }
  return false;
}
