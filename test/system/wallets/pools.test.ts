/**
 * Stake pools compared with a ledger whose state is known: their order and blocks, metadata that is wrong at first, and
 * the effect of rollbacks.
 */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { metadataPath } from "#src/devnet/genesis/pools.ts";
import { createWalletService } from "#src/wallets/http/service.ts";
import { newWalletApp } from "#src/wallets/http/route.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";
import { openPoolBook } from "#src/wallets/poolBook.ts";
import { poolRoutes } from "#src/wallets/http/pools.ts";
import { parseJson } from "#src/base/json.ts";
import { migrate } from "#src/store/migrations.ts";
import { keepPools } from "#src/wallets/pools/keeper.ts";
import { productionProjection } from "#src/wallets/pools/production.ts";
import { beginSource, readSource } from "#src/wallets/pools/source.ts";
import { certificates, spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";
import { until } from "../../support/base/until.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice");
const world = devnetWorld();
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

// deno-lint-ignore no-explicit-any
type Answer = any;

interface Services {
  readonly devnet: Devnet;
  readonly texts: OutsideServer;
  /** The responses of its pools' own server, by path; the genesis' metadata by default. */
  readonly overrides: Map<string, { status?: number; body?: unknown }>;
  send(method: string, path: string, body?: unknown): Promise<{ status: number; body: Answer }>;
  read(): Promise<void>;
}

async function startServices(pools: number): Promise<Services> {
  const { store } = world;
  await migrate(store, migrationsOf("chain/index", "wallets/pools"));
  const overrides = new Map<string, { status?: number; body?: unknown }>();
  const begun: Devnet[] = [];
  const texts = await outsideServer(({ path }) => {
    const own = begun[0]?.genesis.pools.find(({ id }) => metadataPath(id) === path);
    return overrides.get(path) ?? (own ? { body: own.metadata! } : { status: 404 });
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
    keepPools({ store, book, fetch: outside, log: silentLog, lookMs: 20, retryMs: 50 }, stop.signal),
  ]);
  ending.push(() => {
    stop.abort();
    return running;
  });
  const app = newWalletApp(silentLog);
  const options = { store, port: world.rows, networkId: 0, book, outside, log: silentLog };
  poolRoutes(app, createWalletService(options as unknown as WalletEdgeOptions));
  return {
    devnet,
    texts,
    overrides: overrides,
    send: async (method, path, body) => {
      const answer = await app.request(`/v2${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? undefined : parseJson(text) };
    },
    read: async () => {
      await until("the index is at the devnet's tip", async () => {
        return (await readCursor(store.sql)).at.hash === devnet.tip().hash;
      });
    },
  };
}

test("pools are ordered by their rewards, and count their blocks, back over rollbacks", async () => {
  const { devnet, send, read } = await startServices(4);
  for (let i = 0; i < 45; i++) await makeBlock(devnet);
  await read();
  const { status, body } = await send("GET", "/stake-pools?stake=1000000000");
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
  expect((await send("GET", "/stake-pools?stake=1000000000")).body).toEqual(body);

  valueOf(await devnet.rollback({ height: 12 }, { drop: true }));
  await read();
  const rows = await world.store.sql<{ blocks: bigint }[]>`select blocks from pool_production where to_slot is null`;
  expect(rows.reduce((sum, { blocks }) => sum + Number(blocks), 0)).toBe(13);
});

test("new pools are in the list, and removed when a rollback removes their registration", async () => {
  const { send, devnet, read } = await startServices(1);
  await give(devnet, alice.enterprise, 2_000n * ada);
  await makeBlock(devnet);
  const ids = async () => ((await send("GET", "/stake-pools?stake=1")).body as Answer[]).map((one) => one.id);
  await read();
  const before = await ids();
  const inputs = valueOf(await world.rows.utxosByAddress([alice.enterprise])).value;
  const made = spend({
    from: alice,
    inputs,
    outputs: [[alice.enterprise, 1_499n * ada]],
    deposit: 500n * ada,
    certificates: [certificates.pool(alice, alice.key, 0n)],
    signers: [alice.stakeSeed],
  });
  expect(valueOf(await world.rows.submit(made.cbor))).toEqual({ outcome: "accepted" });
  const { height } = await makeBlock(devnet);
  await until("the pool is listed", async () => (await ids()).length === 2);
  valueOf(await devnet.rollback({ height: height - 1 }, { drop: true }));
  await until("it is no more", async () => (await ids()).length === 1);
  expect(await ids()).toEqual(before);
});

test("metadata comes from the configured source, survives a restart, and is dropped when that changes", async () => {
  const { send, texts, overrides: overrides, devnet } = await startServices(3);
  await makeBlock(devnet);
  const [first, second] = devnet.genesis.pools;
  const list = async () => (await send("GET", "/stake-pools?stake=0")).body as Answer[];
  const named = async () => (await list()).flatMap((one) => one.metadata?.name ?? []).sort();
  const set = (source: unknown) => send("PUT", "/settings", { settings: { pool_metadata_source: source } });
  expect((await send("GET", "/settings")).body).toEqual({ pool_metadata_source: "none" });
  expect(await named()).toEqual([]);

  // one of them has another text than it registered: it is requested again, and shown when it is right
  const wrong = metadataPath(second!.id);
  overrides.set(wrong, { body: '{"name":"Other","ticker":"OTHER","homepage":"https://x.example"}' });
  expect(await set("direct")).toEqual({ status: 204, body: undefined });
  expect((await send("GET", "/settings")).body).toEqual({ pool_metadata_source: "direct" });
  await until("two are known", async () => (await named()).length === 2);
  expect(await named()).toEqual(["Elm", "Oak"]);
  await until(
    "the other is requested again",
    async () => texts.requests.filter((one) => one.endsWith(wrong)).length > 2,
  );
  overrides.delete(wrong);
  await until("all are known", async () => (await named()).length === 3);
  expect((await list()).find((one) => one.metadata.ticker === "OAK").metadata).toEqual(JSON.parse(first!.metadata!));

  // the setting stays, whatever a start states; only the API changes it
  await beginSource(world.store, "none");
  expect(await readSource(world.store.sql)).toBe("direct");
  expect((await set("none")).status).toBe(204);
  expect(await named()).toEqual([]);
}, 60_000);
