/** A lock of the database that a process holds until it ends. */
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";

/** Distinguishes these locks from the other advisory locks of the database. */
const CLASS = 4_127_002;

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
      sql<{ held: boolean }[]>`select pg_try_advisory_lock(${CLASS}, hashtext(${name})) as held`,
    );
    return held = row.held;
  };
}
