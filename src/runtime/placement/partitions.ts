/**
 * Maps entities to partitions. The mapping never changes: the number of partitions is fixed when the database is
 * created.
 */
import { utf8 } from "#src/base/bytes.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import { LOCKS } from "#src/store/advisoryLock.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/**
 * Hash of `kind/id` below 2^32: FNV-1a over UTF-8 with a final mix (as in MurmurHash3), so that its low bits are
 * uniform.
 */
export function entityHash(entity: EntityRef): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8(entityKey(entity))) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The partition of an entity among `count`. */
export function partitionOf(entity: EntityRef, count: number): number {
  return entityHash(entity) % count;
}

/** `kind/id`: the name of an entity in keys, ids and logs. */
export function entityKey(entity: EntityRef): string {
  return `${entity.kind}/${entity.id}`;
}

/** Creates the partitions of a new database. Resolves to their number, which an existing database keeps. */
export async function createPartitions(store: Store, count: number): Promise<number> {
  return await store.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCKS.partitions})`;
    const known = await onlyRow(sql<{ count: number }[]>`select count(*)::int as count from partition`);
    if (known.count > 0) return known.count;
    await sql`insert into partition (id) select generate_series(0, ${count - 1}::int)`;
    return count;
  });
}
