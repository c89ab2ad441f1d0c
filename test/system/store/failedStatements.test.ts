/**
 * Statements behind one that failed after rows had arrived get their own rows. porsager/postgres issues 1119 and 1181:
 * the library goes on counting rows where the failed statement stopped.
 */
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isRetryable, openStore, type Sql, type Store } from "#src/store/store.ts";
import { failBefore } from "../../support/infra/failedStatement.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

let infra: Infra;
let store: Store;
let other: Store;

beforeAll(async () => {
  infra = await sharedInfra({ empty: true });
  // One connection: all statements are on it.
  store = openStore(infra.databaseUrl, { max: 1, application: "failing" });
  other = openStore(infra.databaseUrl, { max: 2 });
  await other.sql`create table held (id int primary key)`;
  await other.sql`insert into held select generate_series(1, 5)`;
});
afterAll(async () => {
  await Promise.all([store?.close(), other?.close()]);
  await infra?.stop();
});

interface Way {
  readonly name: string;
  readonly code: string;
  run(sql: Sql): Promise<unknown>;
}

const WAYS: readonly Way[] = [
  {
    name: "an error in a row",
    code: "22012",
    run: (sql) => sql`select 1/(4-i) from generate_series(1,10) i`.execute(),
  },
  {
    name: "an error in a row, with a parameter",
    code: "22012",
    run: (sql) => sql`select 1/(${4}::int-i) from generate_series(1,10) i`.execute(),
  },
  {
    name: "a simple query of several statements",
    code: "22012",
    run: (sql) => sql.unsafe("select 1 as a; select 1/(4-i) from generate_series(1,10) i"),
  },
  {
    name: "statement_timeout",
    code: "57014",
    run: (sql) =>
      sql.unsafe(`
        set statement_timeout = 100;
        select repeat('x', 4000), case when i > 15 then pg_sleep(60) end from generate_series(1,20) i`)
        .finally(() => sql`reset statement_timeout`),
  },
  {
    name: "lock_timeout",
    code: "55P03",
    run: async (sql) => {
      await other.sql.begin(async (holder) => {
        await holder`select pg_advisory_xact_lock(7)`;
        await sql.unsafe(`
          set lock_timeout = 100;
          select repeat('x', 4000), case when i > 15 then (select pg_advisory_lock(7)) end from generate_series(1,20) i`);
      }).finally(() => sql`reset lock_timeout`);
    },
  },
  {
    name: "cancelled by another session",
    code: "57014",
    run: async (sql) => {
      const failing =
        sql`select repeat('x', 4000), case when i > 15 then pg_sleep(60) end from generate_series(1,20) i`;
      const failed = failing.execute().catch((error: unknown) => error);
      for (let cancelled = false; !cancelled;) {
        const rows = await other.sql`
          select pg_cancel_backend(pid) from pg_stat_activity
          where application_name = 'failing' and wait_event = 'PgSleep'`;
        cancelled = rows.length > 0;
      }
      throw await failed;
    },
  },
];

test.for(WAYS)("after $name the next statements have their own rows", async ({ code, run }) => {
  const { sql } = store;
  for (const _ of [1, 2]) expect(await failBefore(sql, run)).toEqual({ code, lost: 0 });
});

test.for(["copy held to stdout", "copy held from stdin"])("%s occupies no connection", async (copy) => {
  const { sql } = store;
  const copying = sql.unsafe(copy).execute();
  const behind = Promise.allSettled([sql`select 1 as x`, sql`select ${2}::int as x`]);
  const stream = await copying as unknown as Readable;
  stream.on("error", () => {});
  for (const answer of await behind) {
    // Sent before the connection was lost, or refused with it.
    if (answer.status === "fulfilled") expect(answer.value).toHaveLength(1);
    else expect(isRetryable(answer.reason)).toBe(true);
  }
  expect([...await sql`select x from generate_series(1, 3) x`]).toStrictEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
});
