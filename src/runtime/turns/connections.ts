/** The database connections of turns. */
import type { Store } from "#src/store/store.ts";

/** Longest wait of a statement for a locked row, in milliseconds. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * A separate pool for turns, with settings of its own.
 *
 * - The statements repeat and find rows by key, in tables that may have been empty when the connection was opened. They
 *   are planned once for all parameters, and never with a scan of a whole table. By default PostgreSQL planned each
 *   execution again, which took longer than the execution.
 * - Waiting for a locked row ends after `LOCK_TIMEOUT_MS`: turns of other entities in the same statement would wait
 *   too, and the statement of a killed worker would keep its partitions' rows locked against the next owner.
 */
export function turnStore(store: Store): Store {
  const settings = {
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    lock_timeout: `${LOCK_TIMEOUT_MS}ms`,
  };
  return store.beside({ max: 4, settings });
}
