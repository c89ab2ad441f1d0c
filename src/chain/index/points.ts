/** Blocks as points of a cursor's way: which follow one another, and those that are kept to go on from. */
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { insertRows } from "#src/chain/index/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** Keeps blocks as points; of an epoch boundary block of Byron and the block that shares its slot, the second. */
export async function keepPoints(sql: Queries, at: Point, blocks: readonly ScannedBlock[]): Promise<void> {
  const bySlot = new Map(blocks.map((block) => [block.slot, block]));
  if (bySlot.has(at.slot)) await sql`delete from chain_block where slot = ${at.slot}`;
  const rows = [...bySlot.values()].map(({ slot, hash, height, previous }) => ({
    slot,
    hash,
    height,
    previous: previous ?? null,
  }));
  await insertRows(sql, "chain_block", ["slot", "hash", "height", "previous"], rows);
}

/**
 * Why a block does not follow a point, if it does not. An epoch boundary block of Byron shares its slot with the next
 * one.
 */
export function linkProblem(block: ScannedBlock, at: Point): string | undefined {
  if (at.slot < 0) return undefined;
  if (block.previous !== at.hash) return `block ${block.hash} does not follow ${at.hash}`;
  if (block.slot < at.slot) return `block at slot ${block.slot} does not follow slot ${at.slot}`;
  return undefined;
}
