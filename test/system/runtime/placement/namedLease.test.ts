/** Named leases: one holder at a time, and a holder whose lease expired cannot write. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { fence, holdLease, type Lease } from "#src/runtime/placement/namedLease.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { untilBlocked } from "../../../support/infra/locks.ts";
import { until } from "../../../support/base/until.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 6 });
  await migrate(store, migrationsOf("runtime"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

function hold(name: string, owner: string, log: string[], ttlMs = 400, bus?: Bus): Lease {
  return holdLease({
    store,
    ...(bus ? { bus } : {}),
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

test("one holds it, the other follows when it is released; every holder has an epoch of its own", async () => {
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

test("a holder whose row was taken is notified, and its fence is invalid", async () => {
  const log: string[] = [];
  const lease = hold("two", "a", log);
  await until("a holds", async () => lease.epoch() === 1);
  const held = await store.sql.begin((sql) => fence(sql, "two", 1));
  expect(held).toHaveLength(1);
  await store
    .sql`update lease set epoch = 2, checked = 2, owner = 'b', expires = now() + interval '1 second' where name = 'two'`;
  expect(await store.sql.begin((sql) => fence(sql, "two", 1))).toHaveLength(0);
  await until("a knows", async () => log.includes("a lost it"));
  expect(log).toEqual(["a holds 1", "a lost it", "a ends 1"]);
  await until("a takes it again after b's time", async () => lease.epoch() === 3);
  await lease.stop();
});

test("a transaction that holds the fence keeps the epoch unchanged, and renewals continue", async () => {
  const log: string[] = [];
  const lease = hold("three", "a", log);
  await until("a holds", async () => lease.epoch() === 1);
  const order: string[] = [];
  let taken: Promise<unknown> | undefined;
  await store.sql.begin(async (sql) => {
    expect(await fence(sql, "three", 1)).toHaveLength(1);
    taken = store.sql`update lease set epoch = 2, checked = 2, owner = 'b' where name = 'three'`.then(() =>
      order.push("taken")
    );
    await untilBlocked(store);
    const expires = async () =>
      (await store.sql<{ at: Date }[]>`select expires as at from lease where name = 'three'`)[0]!.at.getTime();
    const first = await expires();
    await until("the lease is renewed", async () => await expires() > first);
    order.push("committed");
  });
  await taken;
  expect(order).toEqual(["committed", "taken"]);
  await lease.stop();
});

test("a holder that was blocked for longer than its lease checks the database before it gives up", async () => {
  const log: string[] = [];
  const lease = hold("six", "a", log, 2_000);
  await until("a holds", async () => lease.epoch() === 1);
  const renewed = async () =>
    (await store.sql<{ expires: Date }[]>`select expires from lease where name = 'six'`)[0]!.expires;
  const before = await renewed();
  // Nothing else runs in this process in the meantime.
  for (const end = performance.now() + 2_500; performance.now() < end;);
  await until("a renews", async () => await renewed() > before);
  expect([log, lease.epoch()]).toEqual([["a holds 1"], 1]);
  await lease.stop();
});

test("a lease is renewed while everything else waits for the connections of its pool", async () => {
  const log: string[] = [];
  const small = openStore(infra.databaseUrl, { max: 2 });
  const lease = holdLease({
    store: small,
    name: "seven",
    owner: "a",
    ttlMs: 1_000,
    onHeld: () => {},
    onLost: () => log.push("lost"),
  });
  await until("a holds", async () => lease.epoch() === 1);
  await Promise.all(Array.from({ length: 4 }, () => small.sql`select pg_sleep(2)`));
  expect([log, lease.epoch()]).toEqual([[], 1]);
  await lease.stop();
  await small.close();
});

describe("with a bus", () => {
  // Far longer than this test takes: no process gets the lease by waiting for its end.
  const LONG_MS = 600_000;
  const connect = () =>
    connectBus({ url: infra.natsUrl, ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }) });

  test("a standby follows at once when the lease is released", async () => {
    const log: string[] = [];
    const [one, two] = await Promise.all([connect(), connect()]);
    const first = hold("four", "a", log, LONG_MS, one);
    await until("a holds", async () => first.epoch() === 1);
    const second = hold("four", "b", log, LONG_MS, two);
    await sleep(500);
    expect(second.epoch()).toBe(undefined);
    const startedAt = performance.now();
    await first.stop();
    await until("b holds", async () => second.epoch() === 2);
    console.log(`followed after ${Math.round(performance.now() - startedAt)} ms`);
    await second.stop();
    await Promise.all([one.close(), two.close()]);
  });

  test("a standby takes over from a holder that does not answer, which cannot write then", async () => {
    const log: string[] = [];
    const [one, two] = await Promise.all([connect(), connect()]);
    const first = hold("five", "a", log, 4_000, one);
    await until("a holds", async () => first.epoch() === 1);
    const second = hold("five", "b", log, 4_000, two);
    await sleep(1_500);
    expect(second.epoch()).toBe(undefined);
    // It continues to renew in the database.
    await one.close();
    const startedAt = performance.now();
    await until("b holds", async () => second.epoch() === 2);
    console.log(`taken over after ${Math.round(performance.now() - startedAt)} ms`);
    expect(await store.sql.begin((sql) => fence(sql, "five", 1))).toHaveLength(0);
    await until("a knows", async () => log.includes("a lost it"));
    await Promise.all([first.stop(), second.stop()]);
    await two.close();
  });
});
