/** The connections of what people read again and again. */
import type { Settings, Store } from "#src/store/store.ts";

/** Connections of a process for reads; each has its own plans, which the first calls on it pay for. */
const MOST = 10;

/**
 * What is set for statements that look up what they are asked for by its keys, however much else there is.
 *
 * Hypotheses: each statement is planned once for all parameters, for planning anew takes several times as long as carrying out; and a
 * plan stays when tables that were empty have grown, so that it must not be one that is good for small tables alone: no scans of
 * whole tables, and none of the joins that need them. What such a plan costs grows with what is asked for, and with nothing else,
 * where each table has an index for the keys that the statement goes by.
 */
export const LOOKUP_SETTINGS: Settings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** A pool beside another, for such statements. */
export function openLookupStore(store: Store): Store {
  return store.beside({ max: MOST, settings: LOOKUP_SETTINGS });
}
