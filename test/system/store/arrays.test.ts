/** Arrays to PostgreSQL and back, as the very first statement of a pool. */
import { expect, test } from "vitest";
import { openStore } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

test("integers and texts, on connections that have just been opened", async () => {
  const infra = await sharedInfra();
  const texts = ["a", "", 'say "b"', "back\\slash", "NULL", "c,d", "{x}", "ü", " "];
  for (let i = 0; i < 20; i++) {
    const store = openStore(infra.databaseUrl, { max: 2 });
    const ask = () =>
      store.sql`select ${[1, -2]}::int[] as ints, ${[
        String(2n ** 60n),
      ]}::bigint[] as bigints, ${texts}::text[] as texts,
        ${[]}::int[] as none, ${[null, "x"]}::text[] as some, 2 = any(${[1, 2]}) as found,
        'd' = any(${store.sql.array(["c", "d"])}) as told, ${store.sql.array([1, 2])}::int[] as numbers`;
    for (const [row] of await Promise.all([ask(), ask()])) {
      const expected = {
        ints: [1, -2],
        bigints: [2n ** 60n],
        texts,
        none: [],
        some: [null, "x"],
        found: true,
        told: true,
        numbers: [1, 2],
      };
      expect(row).toEqual(expected);
    }
    await store.close();
  }
  await infra.stop();
});
