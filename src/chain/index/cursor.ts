/** Cursors: how far the index has read, and the blocks that are kept as points to go on from. */
import type { Fragment, Queries } from "#src/store/store.ts";
import type { JsonRow } from "#src/store/readTogether.ts";
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import { insertRows } from "#src/chain/index/rows.ts";

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

/** The point in a row. */
export function pointOf({ slot, hash }: JsonRow): Point {
  return { slot: Number(slot), hash: String(hash) };
}

/** The point in a row, with its height. */
export function tipOf(row: JsonRow): Tip {
  return { ...pointOf(row), height: Number(row.height) };
}

/** Reads a cursor; undefined if it does not exist (any more). A slot of −1 is the origin. */
export async function readCursorById(sql: Queries, id: string): Promise<CursorState | undefined> {
  const [row] = await sql<(JsonRow & { generation: bigint })[]>`select * from chain_cursor where id = ${id}`;
  return row && { ...cursorOf(row), generation: row.generation };
}

/** The query of the main cursor, to be read together with others; `cursorOf` decodes its row. */
export const cursorQuery = (sql: Queries): Fragment =>
  sql`select slot, hash, height, tip_slot, tip_height from chain_cursor where id = ${MAIN}`;

/** The cursor in a row of `cursorQuery`. */
export function cursorOf(row: JsonRow): Cursor {
  return { at: tipOf(row), networkTip: { slot: Number(row.tip_slot), height: Number(row.tip_height) } };
}

/** Reads the main cursor. A slot of −1 is the origin. */
export async function readCursor(sql: Queries): Promise<Cursor> {
  const [row] = await sql<JsonRow[]>`${cursorQuery(sql)}`;
  if (!row) throw new Error("there is no main cursor");
  return cursorOf(row);
}

/** The slot up to which each block has at least `depth` blocks of the main cursor's chain above it; −1 where none has. */
export async function readSlotBelow(sql: Queries, depth: number): Promise<number> {
  const [row] = await sql<{ slot: bigint }[]>`
    select slot from chain_block where height <= (select height from chain_cursor where id = ${MAIN}) - ${depth}::int
    order by height desc limit 1`;
  return Number(row?.slot ?? -1);
}

/** Kept blocks above a slot, up to another one, whose height is a multiple of `every`; at most `most`, the oldest first. */
export async function readEveryBlock(
  sql: Queries,
  every: number,
  { after, until, most }: { readonly after: number; readonly until: number; readonly most?: number },
): Promise<readonly Point[]> {
  const rows = await sql<JsonRow[]>`select slot, hash from chain_block
    where slot > ${after} and slot <= ${until} and height % ${every}::int = 0 order by slot limit ${most ?? null}`;
  return rows.map(pointOf);
}

/**
 * Locks the main cursor until the commit and reads it. A writer that appends to the input log of entities that the indexer
 * writes to holds this lock, so that the order of the log is the order of commits.
 */
export async function lockCursor(sql: Queries): Promise<Tip> {
  const [row] = await sql<JsonRow[]>`select slot, hash, height from chain_cursor where id = ${MAIN} for update`;
  if (!row) throw new Error("there is no main cursor");
  return tipOf(row);
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
  const rows = await sql<JsonRow[]>`
    select slot, hash from (select slot, hash, row_number() over (order by slot desc) as n from chain_block) b
    where n <= 8 or n in (16, 32, 64, 128, 256, 512, 1024, 2048) or n % 1000 = 0 order by slot desc`;
  return rows.map(pointOf);
}

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
