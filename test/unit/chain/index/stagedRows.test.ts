import { describe, expect, it } from "vitest";
import type { Row, RowQuery } from "#src/chain/index/projection.ts";
import { PrefetchedRows } from "#src/chain/index/stagedRows.ts";

const stored: readonly Row[] = [{ id: "a", n: 1n }, { id: "a", n: 2n }, { id: "b", n: 3n }];

/** Answers from `stored`, and records the queries. */
function source() {
  const fetched: RowQuery[] = [];
  const fetch = (query: RowQuery) => {
    fetched.push(query);
    return Promise.resolve(
      stored.filter((row) =>
        "in" in query
          ? query.in.some((value) => String(value) === String(row[query.column]))
          : (row.n as bigint) <= query.atMost
      ),
    );
  };
  return { fetched, fetch };
}

const ids = (...values: string[]): RowQuery => ({ table: "things", column: "id", in: values });

describe("rows of a batch", () => {
  it("are read once per value, whichever fold queries them, including those without rows", async () => {
    const { fetched, fetch } = source();
    const rows = await PrefetchedRows.read([ids("a"), ids("c")], fetch);
    expect(fetched).toEqual([ids("a", "c")]);
    expect(rows.get(ids("a"))).toEqual(stored.slice(0, 2));
    expect(await rows.fetchMore(ids("a", "c"), fetch)).toEqual(stored.slice(0, 2));
    expect(fetched).toHaveLength(1);
    expect(await rows.fetchMore(ids("a", "b", "d"), fetch)).toEqual(stored);
    expect(fetched.slice(1)).toEqual([ids("b", "d")]);
    expect(await rows.fetchMore(ids("d", "b", "b"), fetch)).toEqual([stored[2]]);
    expect(fetched).toHaveLength(2);
  });

  it("up to a bound are read every time", async () => {
    const { fetched, fetch } = source();
    const rows = await PrefetchedRows.read([], fetch);
    const query: RowQuery = { table: "things", column: "n", atMost: 2n };
    expect(await rows.fetchMore(query, fetch)).toEqual(stored.slice(0, 2));
    expect(await rows.fetchMore(query, fetch)).toEqual(stored.slice(0, 2));
    expect(fetched).toHaveLength(2);
  });
});
