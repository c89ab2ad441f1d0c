/** Pages and ranges of the lists that are read from the index. */
import type { Fragment, Queries, Store } from "#src/store/store.ts";

/** A page of a list. */
export interface Page {
  readonly limit: number;
  /** Number of entries before the page. */
  readonly offset: number;
  readonly order: "asc" | "desc";
}

/** A place in the chain: a block, or a transaction in it. */
export interface ChainPlace {
  readonly height: number;
  readonly index?: number;
}

/** Places from `from` to `to`, both inclusive. A place without an index is the whole block. */
export interface PlaceRange {
  readonly from?: ChainPlace | undefined;
  readonly to?: ChainPlace | undefined;
}

/** `asc` or `desc`. Each column of an `order by` needs its own. */
export const direction = (sql: Queries, { order }: Pick<Page, "order">): Fragment =>
  order === "desc" ? sql`desc` : sql`asc`;

/** `limit … offset …` of a page. */
export const limits = (sql: Queries, { limit, offset }: Page): Fragment => sql`limit ${limit} offset ${offset}`;

/** Condition on the columns `height` and `tx_index` of the table `of`. */
export function within(sql: Queries, of: string, { from, to }: PlaceRange): Fragment {
  const place = sql`(${sql(of)}.height, ${sql(of)}.tx_index)`;
  const lowest = from ? sql`${place} >= (${from.height}::bigint, ${from.index ?? 0}::int)` : sql`true`;
  const highest = to ? sql`${place} <= (${to.height}::bigint, ${to.index ?? 2 ** 31 - 1}::int)` : sql`true`;
  return sql`(${lowest} and ${highest})`;
}

/** Runs several reads on one state of the database. */
export async function atOneState<T>({ sql }: Pick<Store, "sql">, work: (sql: Queries) => Promise<T>): Promise<T> {
  const { done } = await sql.begin(
    "isolation level repeatable read read only",
    async (sql) => ({ done: await work(sql) }),
  );
  return done;
}
