/**
 * Memory of the blocks read most recently: their order, and what their folds query. Restore groups skip the blocks that
 * do not concern their members.
 *
 * Assumptions: a block whose keys find none of a member's rows changes nothing of the member (`Projection.keys`).
 * Entries that are dropped cost only time. Rolled-back blocks may still be here, so a caller that skips blocks checks
 * that the target is on the chain.
 */
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection, RowQuery } from "#src/chain/index/projection.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { ForwardStep } from "#src/chain/index/lookAhead.ts";
import type { Queries } from "#src/store/store.ts";

/** Fingerprints kept at most, 8 bytes each; a block itself counts as `BLOCK_COST` of them. */
const MAX_VALUES = 4_000_000;
const BLOCK_COST = 30;
/** Rows of a group's members above which blocks are not compared with them. */
const MAX_ROWS = 500_000;

/** A block, and the fingerprints of the values that its fold queries. */
interface RememberedBlock {
  readonly at: Tip;
  readonly fingerprints: readonly number[];
}

/** A column that folds query, and the seed of its values' fingerprints. */
interface QueriedColumn {
  readonly table: string;
  readonly column: string;
  readonly seed: number;
}

/** Fingerprints of the values by which a fold would find rows of a group's members. */
interface RowFingerprints {
  readonly values: ReadonlySet<number>;
  /** Number of columns they were read from. A fold that queries another column cannot be compared with them. */
  readonly columns: number;
}

/** The recent blocks of one projection. */
export class RecentBlocks {
  private readonly byParent = new Map<string, RememberedBlock>();
  private readonly columns = new Map<string, QueriedColumn>();
  private readonly bounds = new Map<string, { readonly table: string; readonly column: string }>();
  private size = 0;

  constructor(readonly projection: Projection, private readonly most = MAX_VALUES) {}

  /** Adds blocks that follow a position; `keys` gives what the projection queries for each. */
  add(from: Point, steps: readonly ForwardStep[], keys: (step: ForwardStep) => readonly RowQuery[]): void {
    let { hash } = from;
    for (const step of steps) {
      const { slot, height } = step.block;
      this.put(hash, { at: { slot, height, hash: step.block.hash }, fingerprints: this.fingerprints(keys(step)) });
      hash = step.block.hash;
    }
  }

  /** Fingerprints of the values in the rows of a cursor's members; undefined where unknown or too many. */
  async rowFingerprints(sql: Queries, cursor: string): Promise<RowFingerprints | undefined> {
    const { name, tables, members } = this.projection;
    if (!members) return undefined;
    const own = new Set(members.tables);
    const { known } = this;
    const found = new Set<number>();
    const live = (table: string) => tables.includes(table) ? sql`and t.to_slot is null` : sql``;
    const mine = sql`m.projection = ${name} and m.cursor = ${cursor}`;
    for (const { table } of this.bounds.values()) {
      if (!own.has(table)) return undefined;
      const [row] = await sql`select 1 from chain_member m join ${sql(table)} t on t.${sql(members.column)} = m.member
        where ${mine} ${live(table)} limit 1`;
      if (row) return undefined;
    }
    for (const { table, column, seed } of this.columns.values()) {
      if (!own.has(table)) return undefined;
      const rows = await sql<{ value: string }[]>`select distinct t.${sql(column)}::text as value
        from chain_member m join ${sql(table)} t on t.${sql(members.column)} = m.member
        where ${mine} and t.${sql(column)} is not null ${live(table)} limit ${MAX_ROWS}`;
      for (const { value } of rows) found.add(fingerprint(seed, value));
      if (found.size >= MAX_ROWS) return undefined;
    }
    return { values: found, columns: known };
  }

  /** The last position from `from` to `to` up to which every block is known and concerns none of the members. */
  async skipUnconcerned(from: Tip, to: Point, fingerprints: RowFingerprints): Promise<Tip> {
    const pace = new EventLoopPacer();
    let at = from;
    while (!samePoint(at, to)) {
      const next = this.byParent.get(at.hash);
      if (!next || next.at.slot > to.slot || this.known !== fingerprints.columns) break;
      if (next.fingerprints.some((one) => fingerprints.values.has(one))) break;
      at = next.at;
      await pace.step();
    }
    return at;
  }

  private get known(): number {
    return this.columns.size + this.bounds.size;
  }

  private put(parent: string, step: RememberedBlock): void {
    this.forget(parent);
    this.byParent.set(parent, step);
    this.size += step.fingerprints.length + BLOCK_COST;
    for (const oldest of this.byParent.keys()) {
      if (this.size <= this.most) return;
      this.forget(oldest);
    }
  }

  private forget(parent: string): void {
    const step = this.byParent.get(parent);
    if (!step) return;
    this.byParent.delete(parent);
    this.size -= step.fingerprints.length + BLOCK_COST;
  }

  private fingerprints(queries: readonly RowQuery[]): readonly number[] {
    // a typed array also takes 8 bytes a value, and would need a pass over all fingerprints to be made
    const fingerprints: number[] = [];
    for (const query of queries) {
      const { table, column } = query;
      const place = `${table}.${column}`;
      if (!("in" in query)) {
        if (!this.bounds.has(place)) this.bounds.set(place, { table, column });
        continue;
      }
      let known = this.columns.get(place);
      if (!known) this.columns.set(place, known = { table, column, seed: fingerprint(0, place) });
      for (const value of query.in) fingerprints.push(fingerprint(known.seed, String(value)));
    }
    // `slice` drops the array's spare capacity
    return fingerprints.slice();
  }
}

/**
 * Only these many first and last characters of a long value are hashed: they distinguish hashes, and folds query
 * thousands.
 */
const FIRST = 24;
const LAST = 8;

/** 53-bit fingerprint of a value in a column. A collision only costs the read of a block. */
function fingerprint(seed: number, value: string): number {
  const { length } = value;
  let high = 0xdeadbeef ^ (seed / 4_294_967_296) ^ length;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < length; i++) {
    if (i === FIRST && length > FIRST + LAST) i = length - LAST;
    const code = value.charCodeAt(i);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
