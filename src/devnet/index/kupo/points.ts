/** Points of the chain as Kupo sees them: what it has read (the index), and the tip of the node (the blocks). */
import type { Point } from "#src/cardano/block.ts";
import { type PatternRow, patternRows } from "#src/devnet/index/kupo/patterns.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** What Kupo has read, and what it matches. */
export interface KupoState {
  /** The newest block in the index; undefined: none. */
  readonly checkpoint: Point | undefined;
  /** Slot of the chain's newest block; undefined: none. */
  readonly tip: number | undefined;
  readonly patterns: readonly PatternRow[];
}

interface PointRow {
  readonly slot: bigint;
  readonly hash: string;
}

const pointOf = ({ slot, hash }: PointRow): Point => ({ slot: Number(slot), hash });

/** Reads the state. */
export async function readState(sql: Queries): Promise<KupoState> {
  const row = await onlyRow(sql<(Partial<PointRow> & { tip: bigint | null; patterns: PatternRow[] })[]>`
    select b.slot, b.hash, (select max(slot) from devnet_block) as tip, ${patternRows(sql)} as patterns
    from (select) always left join devnet_index i on true left join devnet_block b on b.height = i.height`);
  const { slot = null, hash = null, tip, patterns } = row;
  return {
    checkpoint: slot === null || hash === null ? undefined : pointOf({ slot, hash }),
    tip: tip === null ? undefined : Number(tip),
    patterns,
  };
}

/** A block. */
export interface BlockPoint extends Point {
  readonly height: number;
}

/** The newest block at or before a slot; undefined: none. */
export async function readBlockUntil(sql: Queries, slot: bigint): Promise<BlockPoint | undefined> {
  const [row] = await sql<(PointRow & { height: bigint })[]>`
    select height, slot, hash from devnet_block where slot <= ${slot} order by slot desc limit 1`;
  return row && { ...pointOf(row), height: Number(row.height) };
}

/** The oldest block at or after a slot; undefined: none. */
export async function readBlockFrom(sql: Queries, slot: bigint): Promise<BlockPoint | undefined> {
  const [row] = await sql<(PointRow & { height: bigint })[]>`
    select height, slot, hash from devnet_block where slot >= ${slot} order by slot limit 1`;
  return row && { ...pointOf(row), height: Number(row.height) };
}

/** Of each distance in slots from the newest block, the oldest block that is not farther; newest first. */
export async function readCheckpoints(sql: Queries, distances: readonly number[]): Promise<Point[]> {
  const rows = await sql<PointRow[]>`
    select distinct b.slot, b.hash
    from (select max(slot) as tip from devnet_block) newest, unnest(${
    sql.array([...distances])
  }::bigint[]) as d (distance),
      lateral (select slot, hash from devnet_block where slot >= newest.tip - d.distance order by slot limit 1) b
    order by b.slot desc`;
  return rows.map(pointOf);
}

/** A transaction of a block: `[body, witnesses, valid, auxiliary data]`. */
export interface BlockTransaction {
  readonly hash: string;
  readonly cbor: Uint8Array;
}

/** The transactions of a block, in order. */
export async function readBlockTransactions(sql: Queries, height: number): Promise<BlockTransaction[]> {
  const rows = await sql<BlockTransaction[]>`
    select hash, cbor from devnet_index_tx where height = ${height} order by tx_index`;
  return rows.map(({ hash, cbor }) => ({ hash, cbor: new Uint8Array(cbor) }));
}
