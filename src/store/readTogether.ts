/**
 * Several reads in one statement: one way to the server and back, and one state of the database without a transaction around them. For what is
 * asked again and again: each way costs more than most of these reads.
 */
import type { Fragment, Queries } from "#src/store/store.ts";

/** A row as JSON has it: integers are numbers, or `bigint` past 2^53; times are texts. */
export type JsonRow = Readonly<Record<string, unknown>>;

/**
 * Reads by name; the rows of each are in the order of its query.
 *
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
