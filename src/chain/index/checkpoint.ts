/**
 * Checkpoints of a rollback: a rollback that changes many rows is done in several transactions, each to a checkpoint.
 *
 * Assumptions: the cost of a rollback to a slot is the number of rows that began or ended after it. A checkpoint may be
 * between two blocks, where there is no hash and no network can intersect; a restart from there has to go back further
 * first.
 */
import type { Point, Tip } from "#src/cardano/block.ts";
import { tipOf } from "#src/chain/index/cursor.ts";
import type { Queries } from "#src/store/store.ts";

/** The hash of a cursor that is between two blocks. No block has it. */
export const BETWEEN_BLOCKS = "between blocks";

/** A rollback. */
interface RollbackRange {
  readonly from: Point;
  readonly to: Tip;
  /** Index tables. */
  readonly tables: Iterable<string>;
  /**
   * Whether the cursor's blocks are kept as points. Then checkpoints are blocks, and distances are in blocks; otherwise
   * in slots.
   */
  readonly hasPoints: boolean;
}

/** A position on the way of a rollback, and its distance in blocks or slots. */
interface Checkpoint {
  readonly position: Tip;
  readonly distance: number;
}

/** The next checkpoint: `distance` back, or half as far, and so on, until at most `rows` rows change on the way. */
export async function nextCheckpoint(
  sql: Queries,
  range: RollbackRange,
  distance: number,
  rows: number,
): Promise<Checkpoint> {
  for (;; distance = distance >> 1) {
    const position = await positionBack(sql, range, distance);
    if (distance === 1 || await countRows(sql, range, position.slot) <= rows) return { position, distance };
  }
}

async function positionBack(sql: Queries, { from, to, hasPoints }: RollbackRange, distance: number): Promise<Tip> {
  if (!hasPoints) {
    const slot = from.slot - distance;
    return slot > to.slot ? { slot, hash: BETWEEN_BLOCKS, height: to.height } : to;
  }
  const [place] = await sql<{ slot: bigint; hash: string; height: bigint }[]>`select slot, hash, height from chain_block
    where slot < ${from.slot} and slot > ${to.slot} order by slot desc offset ${distance - 1} limit 1`;
  return place ? tipOf(place) : to;
}

/** Number of rows that began or ended after a slot. */
async function countRows(sql: Queries, { from, tables }: RollbackRange, slot: number): Promise<number> {
  const count = (table: string, column: string) =>
    sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}
      where ${sql(column)} > ${slot} and ${sql(column)} <= ${from.slot}`;
  const counts = await Promise.all(
    [...tables].flatMap((table) => [count(table, "from_slot"), count(table, "to_slot")]),
  );
  return counts.flat().reduce((sum, { count }) => sum + count, 0);
}
