/** The connections of the statements that a worker repeats all day. */
import type { Store } from "#src/store/store.ts";

/**
 * A pool beside the worker's own, for turns and what goes with each of them. Their statements repeat and look rows up by
 * their keys, in tables that may have been empty when a connection began: planned once for all parameters, and never with a
 * scan of a whole table. PostgreSQL's own choice was to plan anew each time, which took longer than carrying out.
 */
export function turnStore(store: Store): Store {
  return store.beside({ max: 4, settings: { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" } });
}
