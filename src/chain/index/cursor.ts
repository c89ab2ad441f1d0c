/** Cursors: how far the index has read. */
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import type { Point, Tip } from "#src/cardano/block.ts";

/** Id of the main cursor. Only members that are being restored have others. */
export const MAIN = "main";

/** The cursor's position and the newest tip that the network reported. */
export interface Cursor {
  readonly at: Tip;
  readonly networkTip: { readonly slot: number; readonly height: number };
}

/** A cursor, with its generation. */
export interface CursorState extends Cursor {
  /** Increases whenever members are assigned to the cursor or leave it. */
  readonly generation: bigint;
}

/** Reads a cursor; undefined if it does not exist (any more). A slot of −1 is the origin. */
export async function readCursorById(sql: Queries, id: string): Promise<CursorState | undefined> {
  const [row] = await sql<
    { slot: bigint; hash: string; height: bigint; tip_slot: bigint; tip_height: bigint; generation: bigint }[]
  >`select * from chain_cursor where id = ${id}`;
  return row && {
    at: { slot: Number(row.slot), hash: row.hash, height: Number(row.height) },
    networkTip: { slot: Number(row.tip_slot), height: Number(row.tip_height) },
    generation: row.generation,
  };
}

/** The query of the main cursor, to be read together with others; `cursorOf` decodes its row. */
export const cursorQuery = (sql: Queries): Fragment =>
  sql`select slot, hash, height, tip_slot, tip_height from chain_cursor where id = ${MAIN}`;

/** The cursor in a row of `cursorQuery`. */
export function cursorOf({ slot, hash, height, tip_slot, tip_height }: JsonRow): Cursor {
  return {
    at: { slot: Number(slot), hash: String(hash), height: Number(height) },
    networkTip: { slot: Number(tip_slot), height: Number(tip_height) },
  };
}

/** Reads the main cursor. A slot of −1 is the origin. */
export async function readCursor(sql: Queries): Promise<Cursor> {
  const { at, networkTip } = (await readCursorById(sql, MAIN))!;
  return { at, networkTip };
}

/** Whether a point that the index has read is still on the chain and recent enough to be kept. */
export async function isKeptPoint(sql: Queries, { slot, hash }: Point): Promise<boolean> {
  if (slot < 0) return true;
  return (await sql`select 1 from chain_block where slot = ${slot} and hash = ${hash}`).length > 0;
}

/** Hash of the block at a slot; empty if no block of that slot is kept, since no rollback reaches it. */
export async function blockHashAt(sql: Queries, slot: number): Promise<string> {
  const [row] = await sql<{ hash: string }[]>`select hash from chain_block where slot = ${slot}`;
  return row?.hash ?? "";
}

/** Points to intersect with, newest first: dense near the tip, then ever sparser. */
export async function readPoints(sql: Queries): Promise<Point[]> {
  const rows = await sql<{ slot: bigint; hash: string }[]>`
    select slot, hash from (select slot, hash, row_number() over (order by slot desc) as n from chain_block) b
    where n <= 8 or n in (16, 32, 64, 128, 256, 512, 1024, 2048) or n % 1000 = 0 order by slot desc`;
  return rows.map((row) => ({ slot: Number(row.slot), hash: row.hash }));
}
