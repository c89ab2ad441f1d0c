/**
 * Runs several reads as one statement: one round trip, and one snapshot of the database without a transaction. For
 * frequent requests, where a round trip costs more than most of the reads.
 */
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A row decoded from JSON: integers are `number`, or `bigint` past 2^53; times are strings. */
export type JsonRow = Readonly<Record<string, unknown>>;

/**
 * Runs the named reads; the rows of each are in the order of its query.
 *
 * @example
 * ```ts
 * const { here, there } = await readTogether(sql, { here: sql`select 1 as n`, there: sql`select 2 as n` });
 * ```
 */
export async function readTogether<N extends string>(
  sql: Queries,
  reads: Readonly<Record<N, Fragment>>,
): Promise<Readonly<Record<N, readonly JsonRow[]>>> {
  const columns = Object.entries<Fragment>(reads).map(([name, read]) =>
    sql`(select coalesce(json_agg(x), '[]'::json) from (${read}) x) as ${sql(name)}`
  );
  const all = columns.reduce((before, column) => sql`${before}, ${column}`);
  return await onlyRow(sql<Record<N, readonly JsonRow[]>[]>`select ${all}`);
}
