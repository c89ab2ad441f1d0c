/**
 * A projection derives one feature's rows from blocks. It is pure; the indexer runs the SQL.
 *
 * Every table of a projection carries `from_slot` and `to_slot`: a row is live while `to_slot` is null, and a rollback to slot p
 * deletes rows with `from_slot > p` and clears `to_slot > p`. Tables without these columns are only read.
 */
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import type { Json } from "#src/base/json.ts";

/** A row as SQL gives it: int8 as bigint, bytea as bytes, jsonb parsed. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A query for live rows of a table whose column has one of some values, or is at most a value. `above` is an exclusive lower
 * bound, for `undoKeys` only: queries with it are not merged across blocks.
 */
export type RowQuery =
  | { readonly table: string; readonly column: string; readonly in: readonly (string | bigint | number)[] }
  | { readonly table: string; readonly column: string; readonly atMost: bigint | number; readonly above?: number };

/**
 * Rows by table, in no particular order. Each answered query has an entry too (`askedKey`), so that a fold can distinguish
 * "no such row" from "not queried yet".
 */
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** The key in `Rows` that marks a query as answered. */
export function askedKey(query: RowQuery): string {
  const { table, column } = query;
  if ("in" in query) return `?${table}.${column}=${query.in.join()}`;
  return `?${table}.${column}<=${query.atMost}${query.above === undefined ? "" : `>${query.above}`}`;
}

/** Queries that are not answered yet. */
export function unanswered(rows: Rows, queries: readonly RowQuery[]): RowQuery[] {
  return queries.filter((query) => !rows.has(askedKey(query)));
}

/** A change to an index table, at the slot of the block. */
export type RowWrite =
  | { readonly type: "insert"; readonly table: string; readonly row: Row }
  /** Ends the live row that has these values; the follower sets `to_slot` (and `set`, where given). */
  | { readonly type: "close"; readonly table: string; readonly key: Row };

/** An entity that a block touched, and the event that its actor is to see. */
export interface Touched {
  readonly entity: { readonly kind: string; readonly id: string };
  readonly event: { readonly type: string; readonly [field: string]: Json };
  /** Set where each block repeats the event while it holds: one row that the entity has not read is enough. */
  readonly oneUnread?: true;
}

/**
 * A missing input of a fold, such as more addresses of a wallet, to be created before the block is folded again. Plain
 * values, which the supply of the projection understands.
 */
export interface Want {
  readonly [field: string]: Json;
}

/**
 * The result of a fold: changes and touched entities; or queries for more rows (the fold is then called again with them
 * added); or missing inputs to create first (the fold is then called again after all its rows are read again).
 */
export type Folded =
  | { readonly type: "done"; readonly writes: readonly RowWrite[]; readonly touched: readonly Touched[] }
  | { readonly type: "more"; readonly queries: readonly RowQuery[] }
  | { readonly type: "want"; readonly wants: readonly Want[] };

/**
 * Members (such as wallets) may be at different positions of the chain, each at exactly one: a wallet that is being
 * restored is read from its first block on while the others are at the tip. Of the tables named here a fold sees only the
 * rows of members at its own position, and the key of a `close` in them has the member's id.
 */
export interface Membership {
  /** Column of the member's id, text, in all of these tables. */
  readonly column: string;
  /** Tables whose rows belong to one member, index tables and others. */
  readonly tables: readonly string[];
  /** Those of them that are no index tables and whose rows are removed with the member. */
  readonly kept?: readonly string[];
  /** Rows that `joined` needs. */
  joinedKeys?(members: readonly string[]): readonly RowQuery[];
  /** Events for members that have caught up and join the main cursor at `at`. */
  joined?(members: readonly string[], at: Point, rows: Rows): readonly Touched[];
}

/**
 * A projection. Both functions are pure: the same block and rows give the same answer. Many blocks may be folded before the rows of the
 * first are written; what a fold is shown is the same as if each had been written at once.
 */
export interface Projection {
  readonly name: string;
  /** Index tables that this projection writes. */
  readonly tables: readonly string[];
  /** Those of them whose ended rows are kept for rollbacks alone. */
  readonly passing?: readonly string[];
  /** Set where the projection has members at positions of their own. */
  readonly members?: Membership;
  /** Rows that the fold of a block needs. */
  keys(block: ScannedBlock): readonly RowQuery[];
  /**
   * `settled`: no rollback can reach the block, so rows kept only for rollbacks need not be written. `restoring`: the block is read for
   * members of a restore group, not with all others.
   */
  fold(block: ScannedBlock, rows: Rows, settled: boolean, restoring?: boolean): Folded;
  /** Additional rows that `undo` needs after a rollback between two slots; read after the undo. */
  undoKeys?(affected: Rows, way: { readonly from: number; readonly to: number }): readonly RowQuery[];
  /**
   * The events of entities for a rollback to `point`. `affected` are the rows that the undo deletes or reopens, as they were
   * before it; `rows` has the answers to `undoKeys` after it.
   */
  undo(point: Point, affected: Rows, rows: Rows): readonly Touched[];
}
