/** Reads pool metadata of the configured source. */
import type { Queries } from "#src/store/store.ts";
import type { PoolMetadata } from "#src/wallets/pools/metadata.ts";
import { readSource } from "#src/wallets/pools/source.ts";

/** Metadata and delistings of all pools. */
export interface PoolAnnotations {
  /** Metadata by pool and registered hash, as `<pool> <hash>`. */
  readonly metadata: ReadonlyMap<string, PoolMetadata>;
  readonly delisted: ReadonlySet<string>;
}

/** Reads the annotations of the configured source; empty for `none`. */
export async function readPoolAnnotations(sql: Queries): Promise<PoolAnnotations> {
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
