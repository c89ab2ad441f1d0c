/** Several reads in one statement give the same results as each by itself, in its order, with every digit. */
import { expect, it } from "vitest";
import { openStore } from "#src/store/store.ts";
import { readTogether } from "#src/store/readTogether.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

it("reads several things at once", async () => {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl);
  try {
    const { sql } = store;
    const ids = sql.array(["a", "b"]);
    const read = await readTogether(sql, {
      none: sql`select 1 as n where false`,
      numbers: sql`select n from unnest(${sql.array([3, 1, 2])}::int[]) n order by n desc`,
      great: sql`select 18446744073709551615::numeric as q, null::text as missing, 7::bigint as small`,
      texts: sql`select t from unnest(${ids}::text[]) t where t = any(${ids})`,
    });
    expect(read).toEqual({
      none: [],
      numbers: [{ n: 3 }, { n: 2 }, { n: 1 }],
      great: [{ q: 18_446_744_073_709_551_615n, missing: null, small: 7 }],
      texts: [{ t: "a" }, { t: "b" }],
    });
    expect(await readTogether(sql, { one: sql`select 1 as n` })).toEqual({ one: [{ n: 1 }] });
  } finally {
    await store.close();
    await infra.stop();
  }
});
