/** Stake pools over HTTP: their order, blocks and metadata, from the pools themselves and from a SMASH server, over a devnet. */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { chainMigrations } from "#src/chain/migrations.ts";
import { Follower } from "#src/chain/follower.ts";
import { readCursor } from "#src/chain/cursor.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { metadataPath } from "#src/devnet/pools.ts";
import { openDesk } from "#src/edge/wallets/desk.ts";
import { walletService } from "#src/edge/wallets/frame.ts";
import type { WalletEdgeOptions } from "#src/edge/wallets/options.ts";
import { openPoolBook } from "#src/edge/wallets/poolBook.ts";
import { poolRoutes } from "#src/edge/wallets/pools.ts";
import { parseJson } from "#src/base/json.ts";
import { migrate } from "#src/store/migrations.ts";
import { keepPools } from "#src/wallet/pools/keeper.ts";
import { poolMigrations } from "#src/wallet/pools/migrations.ts";
import { productionProjection } from "#src/wallet/pools/production.ts";
import { beginSource, readSource } from "#src/wallet/pools/source.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet_world.ts";
import { type OutsideServer, outsideServer } from "../../support/outside_servers.ts";
import { until } from "../../support/until.ts";

const world = devnetWorld();
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

// deno-lint-ignore no-explicit-any
type Answer = any;

interface House {
  readonly devnet: Devnet;
  readonly texts: OutsideServer;
  /** What its pools' own server answers with, by path; those of the genesis unless put otherwise. */
  readonly told: Map<string, { status?: number; body?: unknown }>;
  asked(method: string, path: string, body?: unknown): Promise<{ status: number; body: Answer }>;
  read(): Promise<void>;
}

async function house(pools: number): Promise<House> {
  const { store } = world;
  await migrate(store, [...chainMigrations, ...poolMigrations]);
  const told = new Map<string, { status?: number; body?: unknown }>();
  const begun: Devnet[] = [];
  const texts = await outsideServer(({ path }) => {
    const own = begun[0]?.genesis.pools.find(({ id }) => metadataPath(id) === path);
    return told.get(path) ?? (own ? { body: own.metadata! } : { status: 404 });
  });
  ending.push(() => texts.stop());
  const devnet = await world.start({ epochLength: 10, pools, url: texts.url });
  begun.push(devnet);
  const stop = new AbortController();
  const follower = new Follower({
    store,
    port: world.rows,
    projections: [productionProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
    keepBlocks: 30,
  });
  const book = openPoolBook({ store, port: world.rows });
  const outside = { allowPrivate: true };
  const running = Promise.all([
    follower.run(stop.signal),
    keepPools({ store, book, fetch: outside, log: silentLog, lookMs: 20, againMs: 50 }, stop.signal),
  ]);
  ending.push(() => {
    stop.abort();
    return running;
  });
  const app = walletService(silentLog);
  const options = { store, port: world.rows, networkId: 0, book, outside, log: silentLog };
  poolRoutes(app, openDesk(options as unknown as WalletEdgeOptions));
  return {
    devnet,
    texts,
    told,
    asked: async (method, path, body) => {
      const answer = await app.request(`/v2${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? undefined : parseJson(text) };
    },
    read: async () => {
      await until("the index stands where the devnet does", async () => {
        return (await readCursor(store.sql)).at.hash === devnet.tip().hash;
      });
    },
  };
}

test("pools stand in order with what they would pay, and count their blocks, back over rollbacks", async () => {
  const { devnet, asked, read } = await house(4);
  for (let i = 0; i < 45; i++) await makeBlock(devnet);
  await read();
  const { status, body } = await asked("GET", "/stake-pools?stake=1000000000");
  expect(status).toBe(200);
  expect(body).toHaveLength(4);
  const ranking = valueOf(await world.rows.poolRanking(1_000_000_000n)).value;
  const rewards = body.map((one: Answer) => BigInt(one.metrics.non_myopic_member_rewards.quantity));
  expect(rewards).toEqual([...ranking.values()].sort((a, b) => a < b ? 1 : -1));
  const made = body.reduce((sum: number, one: Answer) => sum + one.metrics.produced_blocks.quantity, 0);
  // the devnet itself makes those before its pools have stake
  const byPools = new Map<string, number>();
  for (
    const { pool, blocks } of await world.store.sql<{ pool: string; blocks: bigint }[]>`
    select pool, blocks from pool_production where to_slot is null`
  ) byPools.set(pool, Number(blocks));
  expect([...byPools.values()].reduce((a, b) => a + b, 0)).toBe(devnet.tip().height + 1);
  expect(made).toBe(devnet.genesis.pools.reduce((sum, { id }) => sum + (byPools.get(id) ?? 0), 0));
  expect(made).toBeGreaterThan(0);
  expect(body[0]).toMatchObject({
    id: expect.stringMatching(/^pool1/),
    cost: { quantity: expect.anything(), unit: "lovelace" },
    margin: { unit: "percent" },
    flags: [],
  });
  expect(body.reduce((sum: number, one: Answer) => sum + one.metrics.relative_stake.quantity, 0)).toBeGreaterThan(0);
  expect((await asked("GET", "/stake-pools?stake=1000000000")).body).toEqual(body);

  valueOf(await devnet.rollback({ height: 12 }, { drop: true }));
  await read();
  const rows = await world.store.sql<{ blocks: bigint }[]>`select blocks from pool_production where to_slot is null`;
  expect(rows.reduce((sum, { blocks }) => sum + Number(blocks), 0)).toBe(13);
});

test("who leaves the stake out is told why it matters; others that it is none", async () => {
  const { asked } = await house(1);
  expect(await asked("GET", "/stake-pools")).toEqual({
    status: 400,
    body: {
      code: "query_param_missing",
      message:
        "The stake intended to delegate must be provided as a query parameter as it affects the rewards and ranking.",
    },
  });
  for (const stake of ["-1", "much", "45000000000000001", "1.5", ""]) {
    expect(await asked("GET", `/stake-pools?stake=${stake}`)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
  }
  expect((await asked("GET", "/stake-pools?stake=45000000000000000")).status).toBe(200);
});

test("metadata comes from where it is set, stays over a restart, and is forgotten when that changes", async () => {
  const { asked, texts, told, devnet } = await house(3);
  await makeBlock(devnet);
  const [first, second, third] = devnet.genesis.pools;
  const list = async () => (await asked("GET", "/stake-pools?stake=0")).body as Answer[];
  const named = async () => (await list()).flatMap((one) => one.metadata?.name ?? []).sort();
  const set = (source: unknown) => asked("PUT", "/settings", { settings: { pool_metadata_source: source } });
  expect((await asked("GET", "/settings")).body).toEqual({ pool_metadata_source: "none" });
  expect(await named()).toEqual([]);

  // one of them has another text than it registered: it is asked again, and shown when it is right
  const wrong = metadataPath(second!.id);
  told.set(wrong, { body: '{"name":"Other","ticker":"OTHER","homepage":"https://x.example"}' });
  expect(await set("direct")).toEqual({ status: 204, body: undefined });
  expect((await asked("GET", "/settings")).body).toEqual({ pool_metadata_source: "direct" });
  await until("two are known", async () => (await named()).length === 2);
  expect(await named()).toEqual(["Elm", "Oak"]);
  await until("the other is asked again", async () => texts.asked.filter((one) => one.endsWith(wrong)).length > 2);
  told.delete(wrong);
  await until("all are known", async () => (await named()).length === 3);
  expect((await list()).find((one) => one.metadata.ticker === "OAK").metadata).toEqual(JSON.parse(first!.metadata!));

  // a server that vouches for two of them and delists one
  const smash = await outsideServer(({ path }) => {
    if (path === "/api/v1/status") return { body: { status: "OK", version: "1" } };
    if (path === "/api/v1/delisted") return { body: [{ poolId: third!.id }] };
    const pool = [first, third].find((one) => path.startsWith(`/api/v1/metadata/${one!.id}/`));
    return pool ? { body: pool.metadata! } : { status: 404, body: { code: "RecordDoesNotExist" } };
  });
  ending.push(() => smash.stop());
  expect((await asked("GET", "/smash/health")).body).toEqual({ health: "no_smash_configured" });
  expect((await asked("GET", `/smash/health?url=${smash.url}`)).body).toEqual({ health: "available" });
  expect((await asked("GET", "/stake-pools/maintenance-actions")).body).toEqual({
    gc_stake_pools: { status: "not_applicable" },
  });
  expect((await set(smash.url)).status).toBe(204);
  await until(
    "the server told",
    async () => (await list()).some(({ flags }) => flags.length > 0) && (await named()).length === 2,
  );
  expect(await named()).toEqual(["Elm", "Oak"]);
  expect((await list()).filter(({ flags }) => flags.includes("delisted")).map(({ metadata }) => metadata.name)).toEqual(
    [
      "Elm",
    ],
  );
  expect((await asked("GET", "/smash/health")).body).toEqual({ health: "available" });
  const action = "/stake-pools/maintenance-actions";
  expect((await asked("GET", action)).body).toEqual({ gc_stake_pools: { status: "not_started" } });
  expect(await asked("POST", action, { maintenance_action: "gc_stake_pools" })).toEqual({
    status: 204,
    body: undefined,
  });
  expect((await asked("GET", action)).body).toEqual({
    gc_stake_pools: { status: "has_run", last_run: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
  expect(await asked("POST", action, { maintenance_action: "sweep" })).toMatchObject({ status: 400 });

  // what was set stays, whatever a start says; only who sets it changes it
  await beginSource(world.store, "none");
  expect(await readSource(world.store.sql)).toBe(smash.url);
  expect((await set("none")).status).toBe(204);
  expect(await named()).toEqual([]);
  expect((await list()).every(({ flags }) => flags.length === 0)).toBe(true);
  for (const odd of ["", "nowhere", "ftp://x.example", "https://x.example/path", 5, null]) {
    expect(await set(odd)).toMatchObject({ status: 400, body: { code: "bad_request" } });
  }
  expect((await asked("PUT", "/settings", {})).status).toBe(204);
  expect(await asked("GET", "/smash/health?url=https://x.example/path")).toMatchObject({ status: 400 });
});
