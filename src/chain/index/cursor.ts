/** How far the index has read, for those who answer from its rows. */
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import type { Point, Tip } from "#src/cardano/block.ts";

/** The cursor of everything that is not being restored. */
export const MAIN = "main";

/** Where the index stands and the newest tip that the network told. */
export interface Cursor {
  readonly at: Tip;
  readonly networkTip: { readonly slot: number; readonly height: number };
}

/** A cursor as its reader sees it. */
export interface Place extends Cursor {
  /** Goes up when things come to the cursor or leave it. */
  readonly generation: bigint;
}

/** Reads a cursor, the main one unless said otherwise; undefined where it is no more. A slot of −1 is the origin. */
export async function readPlace(sql: Queries, id: string): Promise<Place | undefined> {
  const [row] = await sql<
    { slot: bigint; hash: string; height: bigint; tip_slot: bigint; tip_height: bigint; generation: bigint }[]
  >`select * from chain_cursor where id = ${id}`;
  return row && {
    at: { slot: Number(row.slot), hash: row.hash, height: Number(row.height) },
    networkTip: { slot: Number(row.tip_slot), height: Number(row.tip_height) },
    generation: row.generation,
  };
}

/** The main cursor, to be read together with other things; `cursorOf` makes it out of the row. */
export const cursorQuery = (sql: Queries): Fragment =>
  sql`select slot, hash, height, tip_slot, tip_height from chain_cursor where id = ${MAIN}`;

/** The cursor of a row of `cursorQuery`. */
export function cursorOf({ slot, hash, height, tip_slot, tip_height }: JsonRow): Cursor {
  return {
    at: { slot: Number(slot), hash: String(hash), height: Number(height) },
    networkTip: { slot: Number(tip_slot), height: Number(tip_height) },
  };
}

/** Reads the main cursor; a slot of −1 is the origin. */
export async function readCursor(sql: Queries): Promise<Cursor> {
  const { at, networkTip } = (await readPlace(sql, MAIN))!;
  return { at, networkTip };
}

/** Whether a point that the index had read is still one of its last blocks. */
export async function stands(sql: Queries, { slot, hash }: Point): Promise<boolean> {
  if (slot < 0) return true;
  return (await sql`select 1 from chain_block where slot = ${slot} and hash = ${hash}`).length > 0;
}

/** Hash of the block at a slot, while it is one of those that a rollback may still take away; empty after that. */
export async function blockAt(sql: Queries, slot: number): Promise<string> {
  const [row] = await sql<{ hash: string }[]>`select hash from chain_block where slot = ${slot}`;
  return row?.hash ?? "";
}

/** Points to go on from, newest first: dense near the tip, then ever wider, as a node expects them. */
export async function readPoints(sql: Queries): Promise<Point[]> {
  const rows = await sql<{ slot: bigint; hash: string }[]>`
    select slot, hash from (select slot, hash, row_number() over (order by slot desc) as n from chain_block) b
    where n <= 8 or n in (16, 32, 64, 128, 256, 512, 1024, 2048) or n % 1000 = 0 order by slot desc`;
  return rows.map((row) => ({ slot: Number(row.slot), hash: row.hash }));
}
