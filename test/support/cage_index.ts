/** The index of tokens over a chain in memory, with tables that are lists. */
import { concat, fromHex } from "#src/base/bytes.ts";
import { askedKey, type Row, type RowQuery, type Rows } from "#src/cardano/projection.ts";
import { cageProjection } from "#src/cage/index/projection.ts";
import { MemoryChain } from "./chain.ts";
import { policy } from "./whole_transaction.ts";

export class CageIndex {
  private readonly chain = new MemoryChain();
  private last = 0;
  private readonly tables = new Map<string, Record<string, unknown>[]>();
  private readonly projection = cageProjection({ scripts: [policy], network: 0 });

  /** Takes the last blocks back. */
  undo(blocks: number): void {
    this.chain.rollback(blocks);
    const { slot } = this.chain.tip;
    for (const [table, rows] of this.tables) {
      const left = rows.filter((row) => (row.from_slot as number) <= slot);
      for (const row of left) if (row.to_slot !== null && (row.to_slot as number) > slot) row.to_slot = null;
      this.tables.set(table, left);
    }
  }

  /** Slot of the block that comes next: slots go on, also where blocks are taken back. */
  get next(): number {
    return this.last + 1;
  }

  live(table: string): Row[] {
    if (table === "token_history") return (this.tables.get("token_state") ?? []);
    const rows = (this.tables.get(table) ?? []).filter((row) => row.to_slot === null);
    if (table !== "token_leaves") return rows;
    const facts = this.live("fact");
    return [...new Set(facts.map((row) => row.token))].map((token) => ({
      token,
      leaves: concat(
        ...facts.filter((row) => row.token === token).flatMap((
          row,
        ) => [fromHex(row.path as string), row.digest as Uint8Array]),
      ),
    }));
  }

  private answer(queries: readonly RowQuery[], rows: Map<string, readonly Row[]>): void {
    for (const query of queries) {
      const found = this.live(query.table).filter((row) =>
        "in" in query && query.in.includes(row[query.column] as string)
      );
      rows.set(query.table, [...new Set([...(rows.get(query.table) ?? []), ...found])]);
      rows.set(askedKey(query), found);
    }
  }

  /** Follows a block of transactions; gives the events told. */
  follow(...transactions: readonly Uint8Array[]): string[] {
    const block = this.chain.add(...transactions);
    this.last = block.slot;
    const rows = new Map<string, readonly Row[]>();
    this.answer(this.projection.keys(block), rows);
    for (;;) {
      const folded = this.projection.fold(block, rows as Rows, false);
      if (folded.type === "more") {
        this.answer(folded.queries, rows);
        continue;
      }
      if (folded.type === "want") throw new Error("a token needs nothing made");
      for (const { type, table, ...write } of folded.writes) {
        const list = this.tables.get(table) ?? [];
        this.tables.set(table, list);
        if (type === "insert") list.push({ to_slot: null, ...(write as { row: Row }).row, from_slot: block.slot });
        else {
          const key = Object.entries((write as { key: Row }).key);
          for (const row of list) {
            if (row.to_slot === null && key.every(([column, value]) => row[column] === value)) row.to_slot = block.slot;
          }
        }
      }
      return folded.touched.map(({ event }) => event.type);
    }
  }
}
