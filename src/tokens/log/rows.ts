/** Rows of the log: tiles, entries and checkpoints. */
import type { Fragment, Queries } from "#src/store/store.ts";
import { HASH_BYTES } from "#src/tlog/hash.ts";
import { hashesOfTiles, type Tile, tileLookup, type TilePlace, tilesRead } from "#src/tlog/tiles.ts";
import { type SubtreeHash, treeRoot } from "#src/tlog/tree.ts";

/** In the place of a token's name, which is hexadecimal, and of a state's output: the snapshots, and their blocks. */
export const SNAPSHOTS = "snapshots";

/** Reads tiles, without those that are not there. */
export async function readTiles(sql: Queries, places: readonly TilePlace[]): Promise<Tile[]> {
  const rows = places.length === 0 ? [] : await sql<{ level: number; n: bigint; hashes: Uint8Array }[]>`
    select level, n, hashes from log_tile where (level, n) in (
      select * from unnest(${places.map(({ level }) => level)}::int[], ${places.map(({ index }) => index)}::bigint[]))`;
  return rows.map(({ level, n, hashes }) => ({ level, index: Number(n), hashes: Uint8Array.from(hashes) }));
}

/** Reads what some work over the tree's hashes needs, and does the work. */
export async function withHashes<T>(sql: Queries, work: (hashOf: SubtreeHash) => T): Promise<T> {
  return work(hashesOfTiles(tileLookup(await readTiles(sql, tilesRead(work)))));
}

/** Root of the first `size` entries, which the log must have. */
export async function readRoot(sql: Queries, size: number): Promise<Uint8Array> {
  return await withHashes(sql, (hashOf) => treeRoot(size, hashOf));
}

/**
 * A column of the newest of some entries of a token that counts: none that a rollback withdrew, and no rollback. It is found
 * by the index of a token's numbers: without statistics, a plan that knows what counts reads all that count of all tokens.
 * The outer query keeps the order of the inner one; if it had an order of its own, the inner one would read all of the token.
 */
export function newestCounted(sql: Queries, column: "n" | "slot", where: Fragment): Fragment {
  return sql`(select ${sql(column)} from (
    select * from log_entry where ${where} and seq is not null order by seq desc offset 0) entry
    where not withdrawn and undoes is null limit 1)`;
}

/** Number of entries. */
export async function readSize(sql: Queries): Promise<number> {
  const [head] = await sql<{ size: bigint }[]>`select size from log_head`;
  return Number(head?.size ?? 0);
}

/** The first hashes of a tile; undefined where it has fewer. */
export async function readHashes(sql: Queries, place: TilePlace, width: number): Promise<Uint8Array | undefined> {
  const [tile] = await readTiles(sql, [place]);
  return tile && tile.hashes.length >= width * HASH_BYTES ? tile.hashes.subarray(0, width * HASH_BYTES) : undefined;
}
