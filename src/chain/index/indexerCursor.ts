/**
 * An indexer's cursor in the database.
 *
 * Assumption: every write locks the cursor under the follower's lease, and is done only where the cursor still is where the
 * step was computed.
 */
import type { Tip } from "#src/cardano/block.ts";
import { type CursorState, readCursorById } from "#src/chain/index/cursor.ts";
import type { IndexerOptions } from "#src/chain/index/indexerOptions.ts";
import type { Queries } from "#src/store/store.ts";

/** The cursor's generation changed since the step was folded: it is folded again. */
export class GenerationChanged extends Error {}
/** The cursor was deleted: its members were handed to the main cursor or dismissed. */
export class CursorGone extends Error {}

/** A transaction under the follower's lease. */
export async function fenced<T>(
  { store, fence }: Pick<IndexerOptions, "store" | "fence">,
  work: (sql: Queries) => Promise<T>,
): Promise<T> {
  // in an object, because the driver would await the members of an array
  const { value } = await store.sql.begin(async (sql) => {
    await fence(sql);
    return await work(sql).then((value) => ({ value }));
  });
  return value;
}

export class IndexerCursor {
  constructor(private readonly options: Pick<IndexerOptions, "store" | "cursor" | "fence">) {}

  /** Where it is. @throws {CursorGone} */
  async state(): Promise<CursorState> {
    const cursor = await readCursorById(this.options.store.sql, this.options.cursor);
    if (!cursor) throw new CursorGone();
    return cursor;
  }

  /** Checks the lease and locks the cursor. Throws if the cursor is not where the step was computed. */
  async lock(sql: Queries, { at, generation }: CursorState): Promise<void> {
    await this.options.fence(sql);
    const [row] = await sql<{ slot: bigint; hash: string; generation: bigint }[]>`
      select slot, hash, generation from chain_cursor where id = ${this.options.cursor} for update`;
    if (!row) throw new CursorGone();
    if (Number(row.slot) !== at.slot || row.hash !== at.hash) {
      throw new Error("the cursor has moved under this follower");
    }
    if (row.generation !== generation) throw new GenerationChanged();
  }

  /** Moves it, in the transaction that has locked it. */
  async move(sql: Queries, at: Tip, tip: Tip): Promise<void> {
    await sql`update chain_cursor set slot = ${at.slot}, hash = ${at.hash}, height = ${at.height},
      tip_slot = ${tip.slot}, tip_height = ${tip.height} where id = ${this.options.cursor}`;
  }
}
