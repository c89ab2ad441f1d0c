/**
 * Where a rollback stops over: a deep one is taken in steps, each of which is a rollback of its own, to a place between.
 *
 * Hypotheses: the rows that began or ended after a slot are what a rollback to it costs; a cursor may stand between two blocks, where it
 * has no hash and no network knows its place: whoever goes on from there after a crash goes back further first.
 */
import type { Point, Tip } from "#src/cardano/block.ts";
import type { Queries } from "#src/store/store.ts";

/** The hash of a cursor that stands at no block; no block has it. */
export const BETWEEN = "between blocks";

/** What is to be rolled back. */
export interface Way {
  readonly from: Point;
  readonly to: Tip;
  /** Index tables. */
  readonly tables: Iterable<string>;
  /** Whether the cursor's blocks are kept as points: then it stops at those alone, and its steps are blocks; otherwise they are slots. */
  readonly hasPoints: boolean;
}

/** A place on the way, and how many blocks or slots it is back. */
export interface Stopover {
  readonly place: Tip;
  readonly steps: number;
}

/** The next place of a rollback: `steps` back, or half as many, and so on, until at most `rows` rows change on the way there. */
export async function stopover(sql: Queries, way: Way, steps: number, rows: number): Promise<Stopover> {
  for (;; steps = steps >> 1) {
    const place = await placeBack(sql, way, steps);
    if (steps === 1 || await rowsBetween(sql, way, place.slot) <= rows) return { place, steps };
  }
}

async function placeBack(sql: Queries, { from, to, hasPoints }: Way, steps: number): Promise<Tip> {
  if (!hasPoints) {
    const slot = from.slot - steps;
    return slot > to.slot ? { slot, hash: BETWEEN, height: to.height } : to;
  }
  const [place] = await sql<{ slot: bigint; hash: string; height: bigint }[]>`select slot, hash, height from chain_block
    where slot < ${from.slot} and slot > ${to.slot} order by slot desc offset ${steps - 1} limit 1`;
  return place ? { slot: Number(place.slot), hash: place.hash, height: Number(place.height) } : to;
}

/** How many rows began or ended after a slot. */
async function rowsBetween(sql: Queries, { from, tables }: Way, slot: number): Promise<number> {
  const count = (table: string, column: string) =>
    sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}
      where ${sql(column)} > ${slot} and ${sql(column)} <= ${from.slot}`;
  const counts = await Promise.all(
    [...tables].flatMap((table) => [count(table, "from_slot"), count(table, "to_slot")]),
  );
  return counts.flat().reduce((sum, { count }) => sum + count, 0);
}
