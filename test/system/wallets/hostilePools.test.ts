/** Pools whose metadata servers misbehave or never respond, beside good ones: each is fetched by itself. */
import { afterEach, expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore } from "#src/store/store.ts";
import { PoolBook } from "#src/wallets/pools/book.ts";
import { keepPools } from "#src/wallets/pools/keeper.ts";
import { beginSource } from "#src/wallets/pools/source.ts";
import type { ListedPool } from "#src/wallets/pools/types.ts";
import { until } from "../../support/base/until.ts";
import { outsideServer } from "../../support/infra/externalServers.ts";
import { hostileServer, MISDEEDS, SILENCES } from "../../support/infra/hostileServer.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test("the good ones have metadata while the others are still waited for, and new ones after them", async () => {
  const infra = await sharedInfra();
  ends.push(() => infra.stop());
  const store = openStore(infra.databaseUrl, { max: 4 });
  ends.push(() => store.close());
  await migrate(store, migrationsOf("wallets/pools"));
  const textOf = (n: number) => JSON.stringify({ ticker: "GOOD", name: `Pool ${n}`, homepage: "" });
  const good = await outsideServer(({ path }) => ({ body: textOf(Number(path.slice(1))) }));
  ends.push(good.stop);
  const ending = MISDEEDS.filter((one) => !SILENCES.includes(one));
  const misdeeds = [...ending];
  const hostile = await hostileServer(() => misdeeds.shift() ?? SILENCES[0]!);
  ends.push(hostile.stop);

  const pools: ListedPool[] = [];
  const add = (url: string, text: string) =>
    pools.push({
      pool: pools.length.toString(16).padStart(56, "0"),
      metadata: { url, hash: hash256(utf8(text)) },
    } as ListedPool);
  // more than there are places, before the others
  for (let i = 0; i < ending.length + 40; i++) add(`${hostile.url}/${i}`, "x");
  for (let i = 0; i < 20; i++) add(`${good.url}/${i}`, textOf(i));
  const answer = () => Promise.resolve(ok({ point: { slot: 0, hash: "" }, value: pools }));
  const book = new PoolBook({
    port: { pools: answer, poolRanking: () => Promise.reject(new Error("unused")) } as never,
    epoch: () => Promise.resolve(ok(0)),
    change: () => Promise.resolve(pools.length),
    changeMs: 0,
  });
  await beginSource(store, "direct");
  const stop = new AbortController();
  const fetch = { allowPrivate: true, timeoutMs: 3_600_000 };
  const keeping = keepPools({ store, book, fetch, log: silentLog, lookMs: 5, slowMs: 1 }, stop.signal);
  ends.push(() => {
    stop.abort();
    return keeping;
  });
  const names = async () =>
    (await store.sql<
      { name: string }[]
    >`select metadata->>'name' as name from pool_metadata where metadata is not null`)
      .map(({ name }) => name).sort();
  const expected = Array.from({ length: 20 }, (_, i) => `Pool ${i}`);
  await until("the good ones have metadata", async () => (await names()).length >= 20);
  expect(await names()).toEqual([...expected].sort());
  add(`${good.url}/20`, textOf(20));
  await until("a new one has metadata", async () => (await names()).length >= 21);
  await until("those that end are recorded", async () => {
    const [row] = await store.sql<
      { n: number }[]
    >`select count(*)::int as n from pool_metadata where problem is not null`;
    return row!.n >= 10;
  });
});
