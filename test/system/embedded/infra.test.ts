/** The infrastructure of the other system tests: separate databases, each with a NATS endpoint. */
import process from "node:process";
import { connect } from "nats";
import { expect, test } from "vitest";
import { openStore } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

test("each call gives a separate database and an endpoint of its own", async () => {
  const [a, b] = await Promise.all([sharedInfra(), sharedInfra()]);
  expect(a.databaseUrl).not.toBe(b.databaseUrl);
  if (process.env.NATS_URL === undefined) expect(a.natsUrl).not.toBe(b.natsUrl);
  const [one, two] = [openStore(a.databaseUrl), openStore(b.databaseUrl)];
  await one.sql`create table here (n int)`;
  expect(await two.sql`select to_regclass('here') as found`).toEqual([{ found: null }]);
  expect(await one.sql`select current_setting('fsync') as f, current_setting('synchronous_commit') as s`).toEqual([
    { f: "on", s: "on" },
  ]);
  await Promise.all([one.close(), two.close()]);
  await a.stop();
  const client = await connect({ servers: b.natsUrl, ...(b.natsToken ? { token: b.natsToken } : {}) });
  await client.close();
  await b.stop();
});
