/** Named leases: one holder at a time, and whoever overslept cannot write. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { fence, holdLease, type Lease } from "#src/runtime/leases.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/runtime.ts";

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 6 });
  await migrate(store, runtimeMigrations);
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

function hold(name: string, owner: string, log: string[], ttlMs = 400): Lease {
  return holdLease({
    store,
    name,
    owner,
    ttlMs,
    onHeld: async (epoch, signal) => {
      log.push(`${owner} holds ${epoch}`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      log.push(`${owner} ends ${epoch}`);
    },
    onLost: () => log.push(`${owner} lost it`),
  });
}

test("one holds it, the other follows when it is given back; every holder has an epoch of its own", async () => {
  const log: string[] = [];
  const first = hold("one", "a", log);
  await until("a holds", async () => first.epoch() === 1);
  const second = hold("one", "b", log);
  await sleep(900);
  expect(log).toEqual(["a holds 1"]);
  await first.stop();
  await until("b holds", async () => second.epoch() === 2);
  await second.stop();
  expect(log).toEqual(["a holds 1", "a ends 1", "b holds 2", "b ends 2"]);
});

test("a holder whose row was taken is told, and its fence is gone", async () => {
  const log: string[] = [];
  const lease = hold("two", "a", log);
  await until("a holds", async () => lease.epoch() === 1);
  const held = await store.sql.begin((sql) => fence(sql, "two", 1));
  expect(held).toHaveLength(1);
  await store.sql`update lease set epoch = 2, owner = 'b', expires = now() + interval '1 second' where name = 'two'`;
  expect(await store.sql.begin((sql) => fence(sql, "two", 1))).toHaveLength(0);
  await until("a knows", async () => log.includes("a lost it"));
  expect(log).toEqual(["a holds 1", "a lost it", "a ends 1"]);
  await until("a takes it again after b's time", async () => lease.epoch() === 3);
  await lease.stop();
});

test("a transaction that holds the fence keeps the epoch where it is, and renewals going", async () => {
  const log: string[] = [];
  const lease = hold("three", "a", log);
  await until("a holds", async () => lease.epoch() === 1);
  const order: string[] = [];
  let taken: Promise<unknown> | undefined;
  await store.sql.begin(async (sql) => {
    expect(await fence(sql, "three", 1)).toHaveLength(1);
    taken = store.sql`update lease set epoch = 2, owner = 'b' where name = 'three'`.then(() => order.push("taken"));
    await sleep(1_000);
    order.push("committed");
  });
  await taken;
  expect(order).toEqual(["committed", "taken"]);
  await lease.stop();
});
