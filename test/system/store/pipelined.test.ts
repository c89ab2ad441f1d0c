/**
 * Transactions that begin behind other statements, also on a connection with the maximum number of statements in
 * flight.
 */
import { expect, it } from "vitest";
import { openStore } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

/** As many as the library sends on one connection. */
const STATEMENTS = 230;

it("have their connection exclusively", async () => {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl, { max: 2 });
  try {
    await store.sql`create table seen (n int primary key, inside boolean not null)`;
    for (let n = 0; n < STATEMENTS; n++) {
      const before = Array.from({ length: n }, (_, i) => store.sql`select ${i}::int as i`.then(() => {}));
      const transaction = store.sql.begin(async (sql) => {
        await sql`insert into seen values (${n}, true)`;
        if (n % 2) throw new Error("cancelled");
      }).catch((error: Error) => expect(error.message).toBe("cancelled"));
      const after = store.sql`insert into seen values (${STATEMENTS + n}, false)`.then(() => {});
      await Promise.all([...before, transaction, after]);
    }
    const other = openStore(infra.databaseUrl, { max: 1 });
    const rows = await other.sql<{ inside: boolean; count: number }[]>`
      select inside, count(*)::int as count from seen group by inside order by inside`;
    expect(rows).toEqual([{ inside: false, count: STATEMENTS }, { inside: true, count: STATEMENTS / 2 }]);
    await other.close();
  } finally {
    await store.close();
    await infra.stop();
  }
});
