/**
 * What is remembered of blocks that were read: which follows which, and what their folds ask for. Things that are read apart pass over
 * those that say nothing of them.
 *
 * Hypotheses: of a block whose keys find none of a thing's rows nothing changes for the thing (`Projection.keys`); a memory that is lost
 * costs time alone; what was taken back may still be remembered, so whoever passes along here makes sure that the place is on the chain.
 */
import { type Point, samePoint, type Tip } from "#src/cardano/block.ts";
import type { Projection, RowQuery } from "#src/cardano/projection.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Forward } from "#src/chain/index/lookAhead.ts";
import type { Queries } from "#src/store/store.ts";

/** Values that are remembered at the most, 8 bytes each; a block counts for some besides. */
const MOST_VALUES = 4_000_000;
const BLOCK_COSTS = 30;
/** Rows of things beyond which nobody looks whether blocks concern them. */
const MOST_ROWS = 500_000;

/** A remembered block: its place, and marks of the values that it asks for. */
interface Step {
  readonly at: Tip;
  readonly marks: readonly number[];
}

/** A column that blocks asked for, and what its values' marks begin with. */
interface Column {
  readonly table: string;
  readonly column: string;
  readonly seed: number;
}

/** The values that blocks can find rows of some things by. */
export interface Concerns {
  readonly marks: ReadonlySet<number>;
  /** How many columns these are of: blocks that ask for others are not judged by them. */
  readonly columns: number;
}

/** The memory of what one projection read. */
export class Trail {
  private readonly after = new Map<string, Step>();
  private readonly columns = new Map<string, Column>();
  private readonly bounds = new Map<string, { readonly table: string; readonly column: string }>();
  private size = 0;

  constructor(readonly projection: Projection, private readonly most = MOST_VALUES) {}

  /** Remembers blocks that follow a place, one after another; `keys` gives what the projection asks for. */
  add(from: Point, steps: readonly Forward[], keys: (step: Forward) => readonly RowQuery[]): void {
    let { hash } = from;
    for (const step of steps) {
      const { slot, height } = step.block;
      this.put(hash, { at: { slot, height, hash: step.block.hash }, marks: this.marks(keys(step)) });
      hash = step.block.hash;
    }
  }

  /** What the rows of a cursor's things can be found by; undefined where it is not known or too much. */
  async concerns(sql: Queries, cursor: string): Promise<Concerns | undefined> {
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
        where ${mine} and t.${sql(column)} is not null ${live(table)} limit ${MOST_ROWS}`;
      for (const { value } of rows) found.add(mark(seed, value));
      if (found.size >= MOST_ROWS) return undefined;
    }
    return { marks: found, columns: known };
  }

  /** The last place from `from` to `to` before which no remembered block concerns things: `from` where the next one does, or is not known. */
  async pass(from: Tip, to: Point, concerns: Concerns): Promise<Tip> {
    const pace = new EventLoopPacer();
    let at = from;
    while (!samePoint(at, to)) {
      const next = this.after.get(at.hash);
      if (!next || next.at.slot > to.slot || this.known !== concerns.columns) break;
      if (next.marks.some((one) => concerns.marks.has(one))) break;
      at = next.at;
      await pace.step();
    }
    return at;
  }

  private get known(): number {
    return this.columns.size + this.bounds.size;
  }

  private put(after: string, step: Step): void {
    this.forget(after);
    this.after.set(after, step);
    this.size += step.marks.length + BLOCK_COSTS;
    for (const oldest of this.after.keys()) {
      if (this.size <= this.most) return;
      this.forget(oldest);
    }
  }

  private forget(after: string): void {
    const step = this.after.get(after);
    if (!step) return;
    this.after.delete(after);
    this.size -= step.marks.length + BLOCK_COSTS;
  }

  private marks(queries: readonly RowQuery[]): readonly number[] {
    // an array of its own kind would take 8 bytes a value as well, and the time of all the marks in it to be made
    const marks: number[] = [];
    for (const query of queries) {
      const { table, column } = query;
      const place = `${table}.${column}`;
      if (!("in" in query)) {
        if (!this.bounds.has(place)) this.bounds.set(place, { table, column });
        continue;
      }
      let known = this.columns.get(place);
      if (!known) this.columns.set(place, known = { table, column, seed: mark(0, place) });
      for (const value of query.in) marks.push(mark(known.seed, String(value)));
    }
    // without the room that is left in it
    return marks.slice();
  }
}

/** Of a longer text the first and the last characters make its mark: those of hashes tell them apart, and blocks ask for thousands. */
const FIRST = 24;
const LAST = 8;

/** 53 bits of a value in a column: two that share one make a block be read in vain. */
function mark(seed: number, value: string): number {
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
