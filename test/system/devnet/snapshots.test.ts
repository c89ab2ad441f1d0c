/**
 * Snapshots of a running devnet: over HTTP and over the bus, deeper than k, with the mempool, and as followers see
 * them.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import { remoteSnapshots } from "#src/devnet/serve/snapshots.ts";
import { SNAPSHOT_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { checkRows, checkSnapshots, devnetStore, ledgerInRows } from "../../support/devnet/devnet.ts";
import { indexRows } from "../../support/devnet/devnetIndex.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { person } from "../../support/wallets/person.ts";

const K = 5;
const alice = person("alice").enterprise;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let app: ReturnType<typeof devnetApp>;
const clock = new VirtualClock(1_800_000_000_000);

/** Starts a devnet of the database that produces blocks only on request. */
async function start(leaseMs = 60_000): Promise<Devnet> {
  const started = await startDevnet({
    store,
    bus,
    evaluate: () => Promise.reject(new Error("no script was expected")),
    log: silentLog,
    clock,
    options: { blockMs: 0, securityParameter: K, epochLength: 20, leaseMs },
  });
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const serve = () => {
  const port = devnetPort({ store, bus, log: silentLog });
  return devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog });
};

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  devnet = await start();
  app = serve();
});
afterAll(async () => {
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

async function send(method: string, path: string, body?: unknown) {
  const answer = await app.request(path, {
    method,
    ...(body === undefined ? {} : { body: toJson(body), headers: { "content-type": "application/json" } }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, body: isJson ? parseJson(text) as Record<string, unknown> : text };
}

async function blocks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await devnet.makeBlock()).toMatchObject({ ok: true });
}

async function pay(lovelace = 5_000_000n): Promise<string> {
  const paid = await devnet.faucet.pay(alice, lovelace);
  if (!paid.ok) throw new Error(paid.error.message);
  return paid.value.txHash;
}

/** The whole state: rows, mempool and index. */
async function state() {
  const { tip, unspent, mempool } = await checkRows(store);
  await checkSnapshots(store);
  return { tip, unspent, mempool, ledger: await ledgerInRows(store), index: await indexRows(store) };
}

test("save, list, restore and delete over HTTP; each restore gives the whole state, also deeper than k", async () => {
  await pay();
  await blocks(3);
  const waiting = await pay();
  const first = await state();
  expect(first.mempool).toEqual([waiting]);
  const { height, slot, hash } = first.tip;
  expect(await send("POST", "/snapshots", { name: "first" })).toEqual({
    status: 201,
    body: { name: "first", height, slot, hash, transactions: 1, saved: expect.any(Number) },
  });
  expect(await send("POST", "/snapshots", { name: "first" })).toMatchObject({
    status: 409,
    body: { code: "snapshot_exists" },
  });

  await pay();
  await blocks(3 * K);
  await send("POST", "/snapshots", { name: "second" });
  const second = await state();

  expect(await send("POST", "/snapshots/first/restore")).toEqual({ status: 200, body: { tip: first.tip } });
  expect(await state()).toEqual(first);
  expect(devnet.tip()).toEqual(first.tip);
  await blocks(4 * K);
  expect(await send("POST", "/snapshots/second/restore")).toEqual({ status: 200, body: { tip: second.tip } });
  expect(await state()).toEqual(second);
  await blocks(1);
  expect(await send("POST", "/snapshots/first/restore")).toMatchObject({ status: 200 });
  expect(await state()).toEqual(first);

  expect(await send("GET", "/snapshots")).toMatchObject({
    status: 200,
    body: { snapshots: [{ name: "first", ...first.tip }, { name: "second", ...second.tip }] },
  });
  await devnet.stop();
  devnet = await start();
  app = serve();
  expect(await send("POST", "/snapshots/second/restore")).toMatchObject({ status: 200 });
  expect(await state()).toEqual(second);

  for (const name of ["first", "second"]) {
    expect((await send("DELETE", `/snapshots/${name}`)).status).toBe(204);
    expect(await send("POST", `/snapshots/${name}/restore`)).toMatchObject({
      status: 404,
      body: { code: "snapshot_unknown" },
    });
    expect(await send("DELETE", `/snapshots/${name}`)).toMatchObject({
      status: 404,
      body: { code: "snapshot_unknown" },
    });
  }
  expect(await send("GET", "/snapshots")).toEqual({ status: 200, body: { snapshots: [] } });
  await blocks(1);
  expect(await devnet.rollback({ blocks: K + 1 })).toMatchObject({ error: { code: "rollback_impossible" } });
  expect((await store.sql`select 1 from devnet_block where changes is not null`).length).toBeLessThanOrEqual(K);
});

test("blocks beside the chain that the index never had are indexed again", async () => {
  await pay();
  await blocks(2);
  await devnet.snapshots.save("not-indexed", { replace: false });
  const saved = await state();
  await devnet.rollback({ blocks: 2 });
  await blocks(1);
  await store.sql`delete from devnet_side_index`;
  expect(await devnet.snapshots.restore("not-indexed")).toMatchObject({ ok: true });
  expect(await state()).toEqual(saved);
  await devnet.snapshots.delete("not-indexed");
});

test("blocks beside the chain whose index an earlier version kept as JSON are appended", async () => {
  await pay();
  await blocks(2);
  await devnet.snapshots.save("as-json", { replace: false });
  const saved = await state();
  await devnet.rollback({ blocks: 2 });
  await blocks(1);
  const { sql } = store;
  const moved = await Promise.all(["tx", "output", "address"].map(async (table) => {
    const rows = sql(`devnet_side_index_${table}`);
    return (await sql`
      with gone as (delete from ${rows} returning *)
      insert into devnet_side_index (block, relation, rows)
      select block, ${table}, json_agg(to_jsonb(gone) - 'block') from gone group by block returning 1`).length;
  }));
  expect(Math.min(...moved)).toBeGreaterThan(0);
  expect(await devnet.snapshots.restore("as-json")).toMatchObject({ ok: true });
  expect(await state()).toEqual(saved);
  await devnet.snapshots.delete("as-json");
});

test.each(["", ".", "..", "a b", "ä", "a/b", "x".repeat(65), "..%2f"])("the name %j is refused", async (name) => {
  expect(await send("POST", "/snapshots", { name })).toMatchObject({ status: 400, body: { code: "bad_request" } });
  // these are no part of a path
  if (["", ".", ".."].includes(name)) return;
  const path = `/snapshots/${encodeURIComponent(name)}`;
  expect(await send("DELETE", path)).toMatchObject({ status: 400, body: { code: "bad_request" } });
  expect(await send("POST", `${path}/restore`)).toMatchObject({ status: 400, body: { code: "bad_request" } });
});

test("a page of another site may neither save nor restore nor delete", async () => {
  const headers = { origin: "https://example.org", host: "127.0.0.1:10000" };
  for (
    const [method, path] of [
      ["POST", "/snapshots"],
      ["POST", "/snapshots/a/restore"],
      ["DELETE", "/snapshots/a"],
      ["POST", "/local-cluster/api/devnet/rollback/take-db-snapshot"],
      ["POST", "/local-cluster/api/devnet/rollback/rollback-to-db-snapshot"],
    ]
  ) {
    const answer = await app.request(path!, { method: method!, headers });
    expect([answer.status, (await answer.json()).code]).toEqual([403, "bad_origin"]);
  }
});

test("Yaci DevKit's paths have one snapshot, which is replaced", async () => {
  const path = "/local-cluster/api/devnet/rollback";
  expect(await send("POST", `${path}/rollback-to-db-snapshot`)).toMatchObject({
    status: 404,
    body: { code: "snapshot_unknown" },
  });
  expect(await send("POST", `${path}/take-db-snapshot`)).toMatchObject({ status: 200 });
  await blocks(2);
  expect(await send("POST", `${path}/take-db-snapshot`)).toMatchObject({ status: 200, body: expect.any(String) });
  const taken = devnet.tip();
  await blocks(2);
  expect(await send("POST", `${path}/rollback-to-db-snapshot`)).toMatchObject({ status: 200 });
  expect(devnet.tip()).toEqual(taken);
  expect((await devnet.snapshots.list()).length).toBe(1);
});

test("another process saves and restores over the bus", async () => {
  const remote = remoteSnapshots(bus);
  const saved = await remote.save("remote", { replace: false });
  expect(saved).toEqual({ ok: true, value: (await devnet.snapshots.list()).at(-1) });
  expect(await remote.save("remote", { replace: false })).toMatchObject({ error: { code: "snapshot_exists" } });
  await blocks(2);
  expect(await remote.restore("remote")).toMatchObject({ ok: true, value: { hash: saved.ok && saved.value.hash } });
  expect(await remote.delete("remote")).toEqual({ ok: true, value: undefined });
  expect(await remote.delete("remote")).toMatchObject({ error: { code: "snapshot_unknown" } });
  for (const body of [{}, { action: "save", name: "a b", replace: true }, { action: "save" }, [], null]) {
    expect(await bus.request(SNAPSHOT_SUBJECT, body, 5_000)).toMatchObject({ ok: false, error: { code: "invalid" } });
  }
  const alone = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  await devnet.stop();
  expect(await remoteSnapshots(alone).restore("remote")).toMatchObject({ error: { code: "devnet_unavailable" } });
  await alone.close();
  devnet = await start();
});

test("a follower sees a rollback to the last common block, and the blocks of the other fork", async () => {
  const aborted = new AbortController();
  const chain: { hash: string; previous: string | undefined; height: number }[] = [];
  let backs = 0;
  const following = (async () => {
    for await (const step of followBlocks({ store, bus, pollMs: 50, k: K }, [], aborted.signal)) {
      if (step.type === "backward") {
        backs++;
        while (chain.length > 0 && chain.at(-1)!.hash !== step.point.hash) chain.pop();
        if (step.point.slot >= 0) expect(chain.at(-1)?.hash).toBe(step.point.hash);
      } else {
        const { hash, previous, height } = scanBlock(step.block);
        if (chain.length > 0) expect(previous).toBe(chain.at(-1)!.hash);
        chain.push({ hash, previous, height });
      }
    }
  })();
  const reached = (hash: string) => expect.poll(() => chain.at(-1)?.hash, { timeout: 10_000 }).toBe(hash);
  try {
    await reached(devnet.tip().hash);
    await devnet.snapshots.save("fork", { replace: false });
    const tip = () => devnet.tip();
    const common = tip().height;
    await blocks(2);
    await devnet.snapshots.save("one", { replace: false });
    const one = tip();
    await reached(one.hash);
    await devnet.snapshots.restore("fork");
    await blocks(3);
    await devnet.snapshots.save("two", { replace: false });
    const two = tip();
    await reached(two.hash);
    for (const target of [one, two, one]) {
      const before = chain.filter(({ height }) => height <= common).map(({ hash }) => hash);
      await devnet.snapshots.restore(target === one ? "one" : "two");
      await reached(target.hash);
      // the blocks that both forks have were not sent again
      expect(chain.filter(({ height }) => height <= common).map(({ hash }) => hash)).toEqual(before);
    }
    expect(backs).toBeGreaterThanOrEqual(4);
    // deeper than the blocks that a follower remembers
    await blocks(4 * K);
    await reached(tip().hash);
    await devnet.snapshots.restore("two");
    await reached(two.hash);
    expect(chain.map(({ height }) => height)).toEqual(chain.map((_, height) => height));
  } finally {
    aborted.abort();
    await following;
  }
});

test("no more snapshots than the limit", async () => {
  await store.sql`insert into devnet_snapshot (name, height, slot, hash)
    select 'many-' || n, -1, -1, '' from generate_series(1, 1000) n`;
  expect(await send("POST", "/snapshots", { name: "more" })).toMatchObject({
    status: 409,
    body: { code: "too_many_snapshots" },
  });
  await store.sql`delete from devnet_snapshot where name like 'many-%'`;
  expect(await send("POST", "/snapshots", { name: "more" })).toMatchObject({ status: 201 });
});
