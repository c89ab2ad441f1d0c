/** A pool's connections have the settings that the service relies on: on a stock server, and whatever the database says. */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serverAccount } from "#src/embedded/account.ts";
import { findBinaries } from "#src/embedded/binaries.ts";
import { openLookupStore } from "#src/store/readPool.ts";
import { checkServer } from "#src/store/server.ts";
import { CONNECTION_SETTINGS, openStore, type Store } from "#src/store/store.ts";
import { type PostgresServer, startInstalledServer } from "../../support/infra/postgresServer.ts";

let server: PostgresServer;
let store: Store;

beforeAll(async () => {
  server = await startInstalledServer(findBinaries(serverAccount(tmpdir()), tmpdir(), () => {}));
  const admin = openStore(server.url, { max: 1 });
  await admin.sql`create table found (id int primary key, other int)`;
  await admin.sql`insert into found select i, i from generate_series(1, 100) i`;
  await admin.sql`create database ascii encoding 'SQL_ASCII' template template0`;
  await admin.close();
});
afterAll(async () => {
  await store?.close();
  await server?.stop();
});

test.for([[], [
  "jit = on",
  "TimeZone = 'Asia/Tokyo'",
  "DateStyle = 'SQL, DMY'",
  "IntervalStyle = 'iso_8601'",
  "bytea_output = 'escape'",
  "extra_float_digits = 0",
  "standard_conforming_strings = off",
  "default_transaction_isolation = 'serializable'",
]])("with the database's settings %s", async (settings) => {
  const admin = openStore(server.url, { max: 1 });
  for (const setting of settings) await admin.sql.unsafe(`alter database postgres set ${setting}`);
  await admin.close();
  store = openStore(server.url, { max: 1 });
  expect(await checkServer(store)).toEqual({ ok: true, value: [] });
  const names = Object.keys(CONNECTION_SETTINGS);
  for (const { sql } of [store, openLookupStore(store)]) {
    const rows = await sql<{ name: string; value: string }[]>`
      select name, current_setting(name) as value from unnest(${names}::text[]) name`;
    expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(CONNECTION_SETTINGS);
    const [row] = await sql<{ at: Date; bytes: Uint8Array; isolation: string }[]>`
      select '2026-02-01T00:00:00Z'::timestamptz as at, '\\x00ff'::bytea as bytes,
        current_setting('transaction_isolation') as isolation`;
    expect(row!.at.toISOString()).toBe("2026-02-01T00:00:00.000Z");
    expect([...row!.bytes]).toEqual([0, 255]);
    expect(row!.isolation).toBe("read committed");
  }
  // A lookup whose plan has to scan a whole table costs more than any limit of the compiler.
  const lookups = openLookupStore(store);
  const [{ "QUERY PLAN": plan }] = await lookups.sql.unsafe<[{ "QUERY PLAN": unknown }]>(
    "explain (analyze, format json) select count(*) from found where other = 5",
  );
  expect(plan).toMatchObject([{ Plan: { "Node Type": "Aggregate" } }]);
  expect(JSON.stringify(plan, (_, value) => typeof value === "bigint" ? Number(value) : value)).not.toContain('"JIT"');
  await store.close();
});

test("a database that cannot hold every text is refused", async () => {
  const url = new URL(server.url);
  url.pathname = "/ascii";
  const ascii = openStore(url.href, { max: 1 });
  expect(await checkServer(ascii)).toMatchObject({ ok: false, error: { code: "encoding" } });
  await ascii.close();
});

test("a server that may lose commits is reported", async () => {
  const admin = openStore(server.url, { max: 1 });
  await admin.sql.unsafe("alter system set synchronous_commit = off");
  await admin.sql.unsafe("alter system set full_page_writes = off");
  await admin.sql`select pg_reload_conf()`;
  await admin.close();
  const other = openStore(server.url, { max: 1 });
  expect(await checkServer(other)).toMatchObject({
    ok: true,
    value: [expect.stringContaining("full_page_writes"), expect.stringContaining("synchronous_commit")],
  });
  await other.close();
});
