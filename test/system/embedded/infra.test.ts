/** The infrastructure of the other system tests: separate databases, each with a NATS endpoint. */
import process from "node:process";
import { connect } from "nats";
import { expect, test } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { openStore } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

test("each call gives a separate database and an endpoint of its own", async () => {
  const [a, b] = await Promise.all([sharedInfra(), sharedInfra()]);
  expect(a.databaseUrl).not.toBe(b.databaseUrl);
  if (process.env.NATS_URL === undefined) expect(a.natsUrl).not.toBe(b.natsUrl);
  const [one, two] = [openStore(a.databaseUrl), openStore(b.databaseUrl)];
  await one.sql`create table here (n int)`;
  expect(await two.sql`select to_regclass('here') as found`).toEqual([{ found: null }]);
  expect(await one.sql`select current_setting('synchronous_commit') as s`).toEqual([{ s: "on" }]);
  const migrations = await one.sql<{ id: string }[]>`select id from migration order by id`;
  expect(migrations.map(({ id }) => id)).toEqual(schemaMigrations.map(({ id }) => id).sort());
  await Promise.all([one.close(), two.close()]);
  await a.stop();
  const client = await connect({ servers: b.natsUrl, ...(b.natsToken ? { token: b.natsToken } : {}) });
  await client.close();
  await b.stop();
});

test("an empty database has no table", async () => {
  const infra = await sharedInfra({ empty: true });
  const store = openStore(infra.databaseUrl);
  expect(await store.sql`select 1 from pg_tables where schemaname = 'public'`).toEqual([]);
  await store.close();
  await infra.stop();
});
