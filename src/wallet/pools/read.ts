/** What the source that is set says of pools. */
import type { Queries } from "#src/store/store.ts";
import type { PoolMetadata } from "#src/wallet/pools/metadata.ts";
import { readSource } from "#src/wallet/pools/source.ts";

/** What is known of pools beside their registrations. */
export interface PoolLore {
  /** Metadata by pool and the hash that was registered, as `<pool> <hash>`. */
  readonly metadata: ReadonlyMap<string, PoolMetadata>;
  readonly delisted: ReadonlySet<string>;
}

/** Reads all of it. */
export async function readLore(sql: Queries): Promise<PoolLore> {
  const source = await readSource(sql);
  if (source === "none") return { metadata: new Map(), delisted: new Set() };
  const [metadata, delisted] = await Promise.all([
    sql<{ pool: string; hash: string; metadata: PoolMetadata }[]>`
      select pool, hash, metadata from pool_metadata where source = ${source} and metadata is not null`,
    sql<{ pool: string }[]>`select pool from pool_delisted where source = ${source}`,
  ]);
  return {
    metadata: new Map(metadata.map((row) => [`${row.pool} ${row.hash}`, row.metadata])),
    delisted: new Set(delisted.map(({ pool }) => pool)),
  };
}
