/** The devnet's HTTP API: answers and refusals. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseJson, toJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, enterpriseAddress, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { requestRollback, serveRollbacks } from "#src/devnet/serve/rollback.ts";
import { healthRoutes } from "#src/http/health.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { agrees } from "../../support/plutus/scripts.ts";
import { person } from "../../support/wallets/person.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let app: ReturnType<typeof devnetApp>;

const credential = { kind: "key", hash: person("alice").key } as const;
const alice = addressText(enterpriseAddress(0, credential));
const locked = "70" + "ab".repeat(28);

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  const started = await startDevnet({
    store,
    bus,
    evaluate: () => Promise.reject(new Error("no script was expected")),
    log: silentLog,
    options: {
      slotLength: 50,
      blockMs: 50,
      securityParameter: 20,
      faucetLimit: 20_000_000_000_000_000n,
      epochLength: 10,
      url: "http://127.0.0.1:10000",
      publish: [{ address: locked, script: encode([3, agrees]) }],
    },
  });
  if (!started.ok) throw new Error(started.error.message);
  devnet = started.value;
  const health = healthRoutes({
    health: { name: "test", roles: ["devnet"], since: Date.now(), checks: new Map() },
    more: () => ({ tip: { ...devnet.tip() } }),
  });
  const port = devnetPort({ store, bus, log: silentLog });
  app = devnetApp({ devnet, store, port, files: [], health, log: silentLog });
});
afterAll(async () => {
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
  text: string;
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, body: parseJson(text) as Answer["body"], text };
}
const get = async (path: string) => await read(await app.request(path));
const post = async (path: string, body: unknown) =>
  await read(await app.request(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }));

describe("faucets", () => {
  test("POST /faucet pays, and its output is found", async () => {
    const paid = await post("/faucet", { address: alice, lovelace: 5_000_000 });
    expect(paid).toMatchObject({ status: 200, body: { address: alice, lovelace: 5_000_000 } });
    const txHash = paid.body.txHash as string;
    expect(txHash).toMatch(/^[0-9a-f]{64}$/);
    await expect.poll(async () => (await get(`/utxos/${alice}`)).body.utxos, { timeout: 5_000 }).toMatchObject([{
      txHash,
      index: 0,
      address: alice,
      lovelace: 5_000_000,
      assets: {},
    }]);
  });

  test("amounts keep every digit", async () => {
    const other = addressText(enterpriseAddress(0, { kind: "key", hash: "01".repeat(28) }));
    const paid = await post("/faucet", `{"address":"${other}","lovelace":9007199254740993}`);
    expect(paid.text).toContain(`"lovelace":9007199254740993`);
    await expect.poll(async () => (await get(`/utxos/${other}`)).text, { timeout: 5_000 }).toContain(
      `"lovelace":9007199254740993,`,
    );
  });

  test("many concurrent payments are all served", async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => post("/faucet", { address: alice, lovelace: 2_000_000 + i })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.txHash)).size).toBe(30);
  });

  test("Yaci DevKit's top-up answers in its form, once a block holds the payment", async () => {
    const address = addressText(enterpriseAddress(0, { kind: "key", hash: "02".repeat(28) }));
    const done = await post("/local-cluster/api/addresses/topup", { address, adaAmount: 12.5 });
    expect(done).toMatchObject({
      status: 200,
      body: { address, adaAmount: 12.5, status: true, message: "Topup successful" },
    });
    expect((await get(`/utxos/${address}`)).body.utxos).toMatchObject([{ lovelace: 12_500_000 }]);
    const refused = await post("/local-cluster/api/addresses/topup", { address: "nonsense", adaAmount: 1 });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "bad_address", status: false, message: "Topup failed", address: "nonsense", adaAmount: 1 },
    });
    expect(await post("/local-cluster/api/addresses/topup", { address, adaAmount: 1.0000001 }))
      .toMatchObject({ status: 400, body: { code: "bad_amount", status: false } });
  });

  const mainnet = addressText(enterpriseAddress(1, credential));
  const reward = addressText(rewardAddress(0, credential));
  test.each([
    [{ address: "nonsense", lovelace: 5_000_000 }, 400, "bad_address"],
    [{ address: alice.slice(0, -1), lovelace: 5_000_000 }, 400, "bad_address"],
    [{ address: mainnet, lovelace: 5_000_000 }, 400, "bad_address"],
    [{ address: reward, lovelace: 5_000_000 }, 400, "bad_address"],
    [{ address: alice, lovelace: 0 }, 400, "amount_too_small"],
    [{ address: alice, lovelace: -5 }, 400, "amount_too_small"],
    [{ address: alice, lovelace: 500_000 }, 400, "amount_too_small"],
    [`{"address":"${alice}","lovelace":99999999999999999999999}`, 400, "amount_too_large"],
    [{ address: alice, lovelace: 1.5 }, 400, "bad_request"],
    [{ address: alice, lovelace: "5000000" }, 400, "bad_request"],
    [{ address: alice }, 400, "bad_request"],
    [{ lovelace: 5_000_000 }, 400, "bad_request"],
    [[], 400, "bad_request"],
    ["", 400, "malformed_json"],
    ["{", 400, "malformed_json"],
    [{ address: "a".repeat(70_000), lovelace: 5_000_000 }, 413, "body_too_large"],
  ])("%j is refused with its code", async (body, status, code) => {
    const refused = await post("/faucet", body);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(typeof refused.body.error).toBe("string");
    expect(refused.text).not.toMatch(/\bat \w+.*\.ts|node_modules/);
  });

  test("a faucet that cannot pay says so", async () => {
    expect(await post("/faucet", { address: alice, lovelace: 9_000_000_000_000_000 })).toMatchObject({ status: 200 });
    const refused = await post("/faucet", `{"address":"${alice}","lovelace":20000000000000000}`);
    expect([refused.status, refused.body.code]).toEqual([503, "faucet_empty"]);
  });
});

test("GET /tip and /health", async () => {
  const { body } = await get("/tip");
  expect(body).toMatchObject({ magic: 42, slotLength: 50, securityParameter: 20 });
  expect(body.currentSlot).toBeGreaterThanOrEqual(body.slot as number);
  expect(await get("/health")).toMatchObject({
    status: 200,
    body: { status: "alive", tip: { height: expect.any(Number) } },
  });
  expect(await get("/ready")).toMatchObject({ status: 200, body: { ready: true } });
});

test("GET /parameters names its source", async () => {
  expect((await get("/parameters")).body).toMatchObject({
    source: "mainnet, protocol version 11",
    protocolVersion: { major: 11, minor: 0 },
    feePerByte: 44,
    prices: { memory: { numerator: 577, denominator: 10_000 } },
    costModels: { PlutusV3: expect.arrayContaining([100_788]) },
  });
});

test("a published script is shown with its output", async () => {
  const address = readAddressHex(locked);
  if (!address.ok) throw new Error("not reached");
  await expect.poll(async () => (await get(`/utxos/${addressText(address.value)}`)).text, { timeout: 5_000 })
    .toContain(`"script":"8203`);
});

test("blocks and rollbacks on demand", async () => {
  const made = await post("/blocks", { count: 3 });
  expect(made).toMatchObject({ status: 200, body: { made: 3 } });
  const { height } = made.body.tip as { height: number };
  expect((await get("/tip")).body.height).toBeGreaterThanOrEqual(height);
  const back = await post("/rollback", { blocks: 2 });
  expect(back.status).toBe(200);
  expect((back.body.tip as { height: number }).height).toBeGreaterThanOrEqual(height - 2);
  expect(await post("/rollback", { blocks: 1_000 })).toMatchObject({
    status: 409,
    body: { code: "rollback_impossible" },
  });
  for (const body of [{}, { blocks: 1, slot: 1 }, { blocks: -1 }, { blocks: 1.5 }]) {
    expect(await post("/rollback", body)).toMatchObject({ status: 400, body: { code: "bad_request" } });
  }
  for (const count of [0, 1_001, "3"]) expect((await post("/blocks", { count })).status).toBe(400);
});

test("a rollback that another process requests gives the tip, or why it is impossible", async () => {
  const unsubscribe = serveRollbacks(bus, devnet.rollback, silentLog);
  try {
    await bus.flush();
    await devnet.makeBlock();
    const { height } = devnet.tip();
    const undone = await requestRollback(bus, 1);
    expect(undone).toEqual({
      ok: true,
      value: { slot: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/), height: expect.any(Number) },
    });
    expect(undone.ok && undone.value.height).toBeGreaterThanOrEqual(height - 1);
    expect(await requestRollback(bus, 1_000_000)).toMatchObject({
      ok: false,
      error: { code: "rollback_impossible", details: { lowest: expect.any(Number), highest: expect.any(Number) } },
    });
  } finally {
    unsubscribe();
  }
});

test("a page of another site may only read", async () => {
  const headers = { origin: "https://example.org", host: "127.0.0.1:10000", "content-type": "text/plain" };
  const before = devnet.mempool().length;
  for (const path of ["/faucet", "/local-cluster/api/addresses/topup", "/blocks", "/rollback"]) {
    const body = JSON.stringify({ address: alice, lovelace: 2_000_000, adaAmount: 2, blocks: 1 });
    const refused = await read(await app.request(path, { method: "POST", headers, body }));
    expect(refused).toMatchObject({ status: 403, body: { code: "bad_origin", details: { origin: headers.origin } } });
  }
  expect(devnet.mempool().length).toBeLessThanOrEqual(before);
  const tip = await app.request("/tip", { headers });
  expect([tip.status, tip.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
});

test("GET /mempool shows pending transactions", async () => {
  await expect.poll(async () => {
    await post("/faucet", { address: alice, lovelace: 2_000_000 });
    return (await get("/mempool")).body;
  }, { timeout: 5_000 }).toMatchObject({ size: expect.any(Number), transactions: [{ bytes: expect.any(Number) }] });
});

test("GET /epoch shows the current epoch", async () => {
  const { status, body } = await get("/epoch");
  const { epoch, firstSlot, nextEpochSlot, currentEpoch } = body as Record<string, number>;
  expect([status, firstSlot, nextEpochSlot]).toEqual([200, epoch! * 10, (epoch! + 1) * 10]);
  expect(currentEpoch).toBeGreaterThanOrEqual(epoch!);
  expect(body).toMatchObject({
    epochLength: 10,
    activeStake: expect.any(Number),
    pots: { deposits: 1_506_000_000 },
  });
});

test("GET /pools shows the pools of the genesis, whose metadata are what their registrations say", async () => {
  const { body } = await get("/pools");
  const pools = body.pools as {
    id: string;
    hash: string;
    rewardAccount: string;
    metadata: { url: string; hash: string };
  }[];
  expect(pools).toMatchObject([
    { name: "Oak", ticker: "OAK", pledge: 1_000_000_000_000, margin: { numerator: 1, denominator: 100 } },
    { name: "Ash", ticker: "ASH" },
    { name: "Elm", ticker: "ELM" },
  ]);
  for (const { id, hash, metadata } of pools) {
    expect(metadata.url).toBe(`http://127.0.0.1:10000/pools/${hash}/metadata.json`);
    const served = await app.request(new URL(metadata.url).pathname);
    expect(hash256(new Uint8Array(await served.clone().arrayBuffer()))).toBe(metadata.hash);
    expect((await served.arrayBuffer()).byteLength).toBeLessThanOrEqual(512);
    expect(await get(`/pools/${id}/metadata.json`)).toMatchObject({
      status: 200,
      body: { homepage: expect.any(String) },
    });
    expect(await get(`/pools/${id}`)).toMatchObject({ status: 200, body: { id, hash } });
  }
  const { rewardAccount, id } = pools[0]!;
  expect(await get(`/accounts/${rewardAccount}`)).toMatchObject({
    status: 200,
    body: { address: rewardAccount, registered: true, pool: id, outputs: 1_000_000_000_000, deposit: 2_000_000 },
  });
});

test("unknown pools and accounts", async () => {
  expect(await get("/pools/nonsense")).toMatchObject({ status: 400, body: { code: "bad_pool" } });
  expect(await get(`/pools/${"ab".repeat(28)}`)).toMatchObject({ status: 404, body: { code: "pool_unknown" } });
  expect(await get(`/pools/${"ab".repeat(28)}/metadata.json`)).toMatchObject({ status: 404 });
  expect(await get("/accounts/nonsense")).toMatchObject({ status: 400, body: { code: "bad_address" } });
  expect(await get(`/accounts/${alice}`)).toMatchObject({ status: 400, body: { code: "bad_address" } });
  expect(await get(`/accounts/${addressText(rewardAddress(0, credential))}`)).toMatchObject({
    status: 200,
    body: { registered: false, rewards: 0, outputs: 0 },
  });
});

test("GET /genesis shows the genesis", async () => {
  expect(await get("/genesis")).toMatchObject({
    status: 200,
    body: {
      magic: 42,
      epochLength: 10,
      securityParameter: 20,
      files: { byron: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    },
  });
});

test("bad addresses and unknown paths in queries", async () => {
  expect(await get("/utxos/nonsense")).toMatchObject({ status: 400, body: { code: "bad_address" } });
  expect(await get("/nowhere")).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("the OpenAPI document has every path", async () => {
  const { body } = await get("/openapi.json");
  expect(Object.keys(body.paths as object).sort()).toEqual([
    "/accounts/{address}",
    "/blocks",
    "/epoch",
    "/epochs",
    "/faucet",
    "/genesis",
    "/governance/actions",
    "/governance/voters",
    "/governance/votes",
    "/health",
    "/local-cluster/api/addresses/topup",
    "/local-cluster/api/devnet/rollback/rollback-to-db-snapshot",
    "/local-cluster/api/devnet/rollback/take-db-snapshot",
    "/mempool",
    "/mining",
    "/parameters",
    "/pools",
    "/pools/{pool}",
    "/pools/{pool}/metadata.json",
    "/ready",
    "/reset",
    "/rollback",
    "/snapshots",
    "/snapshots/{name}",
    "/snapshots/{name}/restore",
    "/time",
    "/time/advance",
    "/time/next",
    "/time/sync",
    "/tip",
    "/utxo-csmt/await/{txId}/{txIx}",
    "/utxo-csmt/merkle-roots",
    "/utxo-csmt/proof/{txId}/{txIx}",
    "/utxo-csmt/ready",
    "/utxo-csmt/utxos-by-address/{address}",
    "/utxo-root",
    "/utxo-root/addresses/{address}",
    "/utxo-root/addresses/{address}/outputs/{txId}/{index}",
    "/utxo/root",
    "/utxo/{txId}/{txIx}",
    "/utxo/{txId}/{txIx}/proof",
    "/utxos/{address}",
  ]);
  expect(toJson(body)).toContain("amount_too_large");
});
