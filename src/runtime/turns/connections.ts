/** The connections of the statements that a worker repeats all day. */
import type { Store } from "#src/store/store.ts";

/** How long a statement may wait for a row that somebody else holds, in milliseconds. */
const LOCKED_MS = 1_000;

/**
 * A pool beside the worker's own, for turns and what goes with each of them. Their statements repeat and look rows up by
 * their keys, in tables that may have been empty when a connection began: planned once for all parameters, and never with a
 * scan of a whole table. PostgreSQL's own choice was to plan anew each time, which took longer than carrying out. Nothing waits
 * longer than a moment for a row that somebody else holds: turns of other entities would wait with it, and the statement of a
 * worker that was killed would keep its partitions' rows from the next owner.
 */
export function turnStore(store: Store): Store {
  const settings = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off", lock_timeout: `${LOCKED_MS}ms` };
  return store.beside({ max: 4, settings });
}
