/** A pool for frequent lookups. */
import type { Queries, Settings, Store } from "#src/store/store.ts";

/** Connections of the pool. Each has its own query plans, which its first queries create. */
const MOST = 10;

/**
 * Settings for statements that look up rows by keys.
 *
 * Each statement is planned once for all parameters, because planning takes several times as long as the execution. A
 * plan stays in use when empty tables have grown, so it must not be one for small tables: no sequential scans, and no
 * joins that need them. With an index for the keys of each table, the cost of such a plan depends only on the number of
 * keys.
 */
export const LOOKUP_SETTINGS: Settings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** A separate pool of a store, for lookups. */
export function openLookupStore(store: Store): Store {
  return store.beside({ max: MOST, settings: LOOKUP_SETTINGS });
}

/**
 * Has the later statements of a transaction planned like those of a lookup store. It is sent before those that are
 * called after it, also if its result is not awaited in between.
 */
export async function planLookups(sql: Queries): Promise<void> {
  await sql`
    select set_config(name, value, true) from unnest(${sql.array(Object.keys(LOOKUP_SETTINGS))}::text[],
      ${sql.array(Object.values(LOOKUP_SETTINGS))}::text[]) as setting (name, value)`;
}
