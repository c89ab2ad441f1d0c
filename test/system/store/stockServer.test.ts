/** A pool's connections have the settings that the service relies on: on a stock server, and whatever the database says. */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serverAccount } from "#src/embedded/postgres/account.ts";
import { findBinaries } from "#src/embedded/postgres/binaries.ts";
import { openLookupStore } from "#src/store/readPool.ts";
import { databaseCheck } from "#src/http/checks.ts";
import { until } from "../../support/base/until.ts";
import { migrateWhole } from "#src/store/migrations.ts";
import { checkServer } from "#src/store/server.ts";
import { CONNECTION_SETTINGS, isRetryable, openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
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

test("a database that takes no writes, or has no room, makes the process not ready", async () => {
  const admin = openStore(server.url, { max: 1 });
  await migrateWhole(admin, migrationsOf("store"));
  const used = openStore(server.url, { max: 2 });
  expect(await databaseCheck(used)).toEqual({ ready: true });
  await admin.sql.unsafe("alter system set default_transaction_read_only = on");
  await admin.sql`select pg_reload_conf()`;
  await until("writes fail", () => databaseCheck(used).then(() => false, (error) => /read-only/.test(error.message)));
  await admin.sql.unsafe("set default_transaction_read_only = off");
  await admin.sql.unsafe("alter system reset default_transaction_read_only");
  await admin.sql`select pg_reload_conf()`;
  await until("writes succeed", () => databaseCheck(used).then(({ ready }) => ready, () => false));
  // A full disk: what needs a new page fails, what fits into a page succeeds.
  await admin.sql.unsafe(`
    create function full_disk() returns trigger language plpgsql as
      $$ begin if length(new.filler) > 0 then raise exception 'no space' using errcode = '53100'; end if; return new; end $$;
    create trigger full_disk before update on write_probe for each row execute function full_disk();
    create function fail() returns int language plpgsql as
      $$ begin raise exception 'no space' using errcode = '53100'; end $$`);
  expect(await databaseCheck(used)).toEqual({ ready: true });
  await expect(used.beside({ max: 1, settings: {} }).sql`select fail()`).rejects.toThrow("no space");
  for (const _ of [1, 2]) await expect(databaseCheck(used)).rejects.toThrow("no space");
  await admin.sql`drop trigger full_disk on write_probe`;
  expect(await databaseCheck(used)).toEqual({ ready: true });
  await Promise.all([used.close(), admin.close()]);
});

test("a commit that nothing but this server has, because the wait for its replica was cancelled, is not confirmed", async () => {
  const admin = openStore(server.url, { max: 1 });
  const used = openStore(server.url, { max: 2, application: "waiting" });
  /** The failure of a write whose wait was cancelled; undefined where it did not wait. */
  const failureOf = async (write: () => Promise<unknown>) => {
    let done = false;
    const written = write().then(() => undefined, (error) => error).finally(() => done = true);
    await until("a commit waits, or has ended", async () => {
      const rows = await admin.sql`
        select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'waiting' and wait_event = 'SyncRep'`;
      return done || rows.length > 0;
    });
    return await written;
  };
  await admin.sql`create table kept (i int)`;
  await admin.sql.unsafe("alter system set synchronous_standby_names = 'none'");
  await admin.sql`select pg_reload_conf()`;
  await admin.sql.unsafe("set synchronous_commit = local");
  for (
    const [i, write] of [
      () => Promise.resolve(used.sql`insert into kept values (1) returning i`),
      () => used.sql.begin((sql) => sql`insert into kept values (2)`),
    ].entries()
  ) {
    // the server takes the new setting some time after it was asked to
    let error = await failureOf(write);
    while (error === undefined) {
      await admin.sql`delete from kept where i = ${i + 1}`;
      error = await failureOf(write);
    }
    expect(error).toMatchObject({ code: "COMMIT_NOT_REPLICATED" });
    expect(isRetryable(error)).toBe(true);
  }
  await admin.sql.unsafe("alter system reset synchronous_standby_names");
  await admin.sql`select pg_reload_conf()`;
  // they are there, and the connections work
  expect(await used.sql`select i from kept order by i`).toEqual([{ i: 1 }, { i: 2 }]);
  await Promise.all([used.close(), admin.close()]);
});

test("after a refused write connections are opened again, because another server may take writes now", async () => {
  const used = openStore(server.url, { max: 1 });
  const process = async () => (await used.sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
  const before = await process();
  const refused = await used.sql.begin("read only", (sql) => sql`create table never (i int)`).catch((error) => error);
  expect(refused).toMatchObject({ code: "25006" });
  expect(isRetryable(refused)).toBe(true);
  expect(await process()).not.toBe(before);
  await used.close();
});

test.each([
  { name: "one server", url: "postgres://a@127.0.0.1:1/none", code: "ECONNREFUSED" },
  { name: "two servers", url: "postgres://a@127.0.0.1:1,127.0.0.1:2/none", code: "CONNECT_TIMEOUT" },
])("statements that share a connection to $name that are away all fail", async ({ url, code }) => {
  const away = openStore(url, { max: 1 });
  const statements = [1, 2, 3, 4].map(() => away.sql`select 1`);
  const codes = (await Promise.allSettled(statements)).map((one) => one.status === "rejected" && one.reason.code);
  expect(codes).toContain(code);
  expect(codes).not.toContain(false);
  await away.close();
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

test("a statement without a right may be repeated: a right that was taken away may come back", async () => {
  const used = openStore(server.url, { max: 1 });
  const refused = await used.sql.begin(async (sql) => {
    await sql`set local role pg_monitor`;
    await sql`select rolpassword from pg_authid`;
  }).catch((error) => error);
  expect(refused).toMatchObject({ code: "42501" });
  expect(isRetryable(refused)).toBe(true);
  await used.close();
});
