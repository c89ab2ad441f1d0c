/** The index of tokens in memory, with the constraints of its tables: a violation throws. */
import { concat, fromHex } from "#src/base/bytes.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import {
  askedKey,
  type Row,
  type RowQuery,
  type Rows,
  type RowWrite,
  type Touched,
} from "#src/chain/index/projection.ts";
import { cageProjection, type CageProjectionOptions } from "#src/tokens/index/projection.ts";

type Line = Record<string, unknown>;

/** Columns that are unique among all rows. */
const UNIQUE: Readonly<Record<string, readonly string[]>> = {
  token_state: ["ref"],
  token_request: ["ref"],
  token_request_end: ["ref"],
  token_end: ["token"],
  token_quarantine: ["token", "from_slot"],
  token_bucket: ["token", "bucket", "from_slot"],
  fact: ["entry", "from_slot"],
};
/** Columns that are unique among live rows. */
const UNIQUE_LIVE: Readonly<Record<string, readonly string[]>> = { fact: ["entry"] };

const numberOf = (bucket: number) => Uint8Array.of(bucket >> 8, bucket & 255);

export class MemoryIndex {
  private readonly tables = new Map<string, Line[]>();
  private readonly projection;
  /** The events, in order. */
  readonly events: Touched[] = [];

  constructor(options: CageProjectionOptions) {
    this.projection = cageProjection(options);
  }

  /** All rows of a table. */
  all(table: string): readonly Row[] {
    return this.tables.get(table) ?? [];
  }

  /** Live rows of a table, or the rows of a view. */
  live(table: string): readonly Row[] {
    const rows = this.all(table).filter((row) => row.to_slot === null);
    switch (table) {
      case "token_history":
        return this.all("token_state");
      case "token_leaves":
        return this.packed(
          "token",
          this.live("fact"),
          (row) => [fromHex(row.path as string), row.digest as Uint8Array],
          "leaves",
        );
      case "bucket_leaves":
        return this.packed(
          "bucket",
          this.live("fact"),
          (row) => [fromHex(row.path as string), row.digest as Uint8Array],
          "leaves",
        );
      case "token_cut":
        return this.packed(
          "token",
          this.live("token_bucket"),
          (row) => [numberOf(row.bucket as number), row.hash as Uint8Array],
          "hashes",
        );
      default:
        return rows;
    }
  }

  private packed(by: string, rows: readonly Row[], pack: (row: Row) => Uint8Array[], as: string): Row[] {
    const groups = new Map<unknown, Uint8Array[]>();
    for (const row of rows) groups.set(row[by], [...(groups.get(row[by]) ?? []), ...pack(row)]);
    return [...groups].map(([key, parts]) => ({ [by]: key, [as]: concat(...parts) }));
  }

  /** Follows a block; returns its events. */
  follow(block: ScannedBlock): readonly Touched[] {
    const rows = new Map<string, readonly Row[]>();
    this.answer(this.projection.keys(block), rows);
    for (;;) {
      const folded = this.projection.fold(block, rows as Rows, false);
      if (folded.type === "want") throw new Error("no dependency of a token is created");
      if (folded.type === "more") this.answer(folded.queries, rows);
      else {
        this.write(block.slot, folded.writes);
        this.events.push(...folded.touched);
        return folded.touched;
      }
    }
  }

  /** Rolls back to a point. */
  rollback(point: Point): readonly Touched[] {
    const affected = new Map<string, Row[]>();
    for (const table of this.projection.tables) {
      const rows = this.tables.get(table) ?? [];
      const after = (slot: unknown) => slot !== null && (slot as number) > point.slot;
      affected.set(table, rows.filter((row) => after(row.from_slot) || after(row.to_slot)).map((row) => ({ ...row })));
      this.tables.set(table, rows.filter((row) => !after(row.from_slot)));
      for (const row of this.tables.get(table)!) if (after(row.to_slot)) row.to_slot = null;
    }
    const rows = new Map<string, readonly Row[]>();
    this.answer(this.projection.undoKeys!(affected, { from: Number.MAX_SAFE_INTEGER, to: point.slot }), rows);
    const touched = this.projection.undo(point, affected, rows);
    this.events.push(...touched);
    return touched;
  }

  private answer(queries: readonly RowQuery[], rows: Map<string, readonly Row[]>): void {
    for (const query of queries) {
      const found = this.live(query.table).filter((row) =>
        "in" in query && query.in.includes(row[query.column] as string)
      );
      const known = rows.get(query.table) ?? [];
      const keys = new Set(known.map((row) => this.identity(row)));
      rows.set(query.table, [...known, ...found.filter((row) => !keys.has(this.identity(row)))]);
      rows.set(askedKey(query), found);
    }
  }

  private identity(row: Row): string {
    return Object.values(row).map((value) => value instanceof Uint8Array ? "" : String(value)).join("|");
  }

  private write(slot: number, writes: readonly RowWrite[]): void {
    for (const write of writes) {
      if (write.type !== "close") continue;
      const key = Object.entries(write.key);
      for (const row of this.tables.get(write.table) ?? []) {
        if (row.to_slot === null && key.every(([column, value]) => row[column] === value)) row.to_slot = slot;
      }
    }
    for (const write of writes) {
      if (write.type !== "insert") continue;
      const { table } = write;
      const row: Line = { to_slot: null, ...write.row, from_slot: slot };
      const rows = this.tables.get(table) ?? [];
      this.tables.set(table, rows);
      const twin = (columns: readonly string[] | undefined, among: readonly Line[]) =>
        columns !== undefined && among.some((other) => columns.every((column) => other[column] === row[column]));
      const live = rows.filter(({ to_slot }) => to_slot === null);
      if (twin(UNIQUE[table], rows) || (row.to_slot === null && twin(UNIQUE_LIVE[table], live))) {
        throw new Error(
          `${table} has such a row already: ${JSON.stringify(row, (_, v) => typeof v === "bigint" ? `${v}` : v)}`,
        );
      }
      rows.push(row);
    }
  }
}
