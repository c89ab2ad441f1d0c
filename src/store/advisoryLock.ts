/** Advisory locks of the database: their numbers, and a lock that a process holds until it ends. */
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";

/** The numbers of the locks: of transactions that change what others must not change meanwhile, and of `advisoryLock`. */
export const LOCKS = {
  migrations: 4_127_001,
  partitions: 4_127_002,
  generations: 4_127_003,
  names: 4_127_004,
} as const;

/**
 * A function that tries to take the lock of a name, without waiting; true once it is held. The lock has a connection of its
 * own, so that the server releases it as soon as this process is gone.
 */
export function advisoryLock(store: Store, name: string): () => Promise<boolean> {
  const { sql } = store.beside({ max: 1, settings: {} });
  let held = false;
  return async () => {
    if (held) return true;
    const row = await onlyRow(
      sql<{ held: boolean }[]>`select pg_try_advisory_lock(${LOCKS.names}, hashtext(${name})) as held`,
    );
    return held = row.held;
  };
}
