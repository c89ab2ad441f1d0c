/**
 * Runs several reads as one statement: one round trip, and one snapshot of the database without a transaction. For
 * frequent requests, where a round trip costs more than most of the reads.
 */
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
  const columns = (Object.keys(reads) as N[]).map((name) =>
    sql`(select coalesce(json_agg(x), '[]'::json) from (${reads[name]}) x) as ${sql(name as string)}`
  );
  const all = columns.slice(1).reduce((before, column) => sql`${before}, ${column}`, columns[0]!);
  const [row] = await sql`select ${all}`;
  return row as unknown as Record<N, readonly JsonRow[]>;
}
