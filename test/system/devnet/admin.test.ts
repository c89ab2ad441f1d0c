/** Yaci DevKit's admin API on the devnet: the paths and the JSON that its clients use. */
import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { accountAddress, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { checkRows, ledgerInRows, spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock } from "../../support/devnet/devnetWorld.ts";
import { agrees } from "../../support/plutus/scripts.ts";
import { person } from "../../support/wallets/person.ts";

const alice = person("alice");
const locked = "70" + "ab".repeat(28);
const world = devnetWorld();
const publish = [{ address: locked, script: encode([3, agrees]) }];
const start = () => world.start({ epochLength: 50, publish });

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

/** The HTTP API as a client of Yaci DevKit uses it. */
function over(devnet: Devnet, admin: boolean = true) {
  const places = () => ({ socket: "/run/node.socket", tcp: 3333, indexer: 8080 });
  const app = devnetApp({
    ...{ devnet, store: world.store, port: world.rows, files: [], health: () => {}, log: silentLog },
    ...(admin ? { admin: { places } } : {}),
  });
  const read = async (response: Response): Promise<Answer> => {
    const text = await response.text();
    const type = response.headers.get("content-type");
    const isJson = type?.startsWith("application/json");
    return { status: response.status, type, text, json: isJson ? parseJson(text) : undefined };
  };
  return {
    raw: (path: string) => app.request(`/local-cluster/api${path}`),
    get: async (path: string) => await read(await app.request(`/local-cluster/api${path}`)),
    post: async (path: string, body?: BodyInit, headers: Record<string, string> = {}) =>
      await read(
        await app.request(`/local-cluster/api${path}`, { method: "POST", headers, ...(body ? { body } : {}) }),
      ),
  };
}

test("info, status, tip and KES period have the members of Yaci DevKit", async () => {
  const devnet = await start();
  const { get } = over(devnet);
  expect((await get("/admin/devnet/tip")).json).toEqual({ multiNodeEnabled: false, tips: [] });
  const { height, slot, hash } = await makeBlock(devnet);
  expect((await get("/admin/devnet")).json).toEqual({
    nodePort: 0,
    submitApiPort: 0,
    socketPath: "/run/node.socket",
    protocolMagic: 42,
    slotLength: 1,
    blockTime: 0,
    epochLength: 50,
    slotsPerKESPeriod: 129_600,
    securityParam: 2_160,
    activeSlotsCoeff: 1,
    p2pEnabled: false,
    startTime: devnet.network.slots.zeroTime / 1_000,
    masterNode: true,
    adminNodeUrl: null,
    era: "Conway",
    genesisProfile: null,
    ogmiosPort: 0,
    kupoPort: 0,
    yaciStorePort: 8080,
    socatPort: 3333,
    prometheusPort: 0,
    localMultiNodeEnabled: false,
    blockProducer: true,
  });
  expect((await get("/admin/devnet/status")).text).toBe("initialized");
  expect((await get("/admin/devnet/tip")).json).toEqual({
    multiNodeEnabled: false,
    tips: [{ nodeName: "node-1", blockNumber: height, slot, blockHash: hash }],
  });
  expect((await get("/admin/devnet/kes-period")).text).toBe("0");
});

test("genesis files are the exact bytes that nodes hash, alone and as archives", async () => {
  const devnet = await start();
  const { get, raw } = over(devnet);
  const files = genesisFiles(devnet.genesis);
  for (const era of ["byron", "shelley", "alonzo", "conway"]) {
    const { status, type, text } = await get(`/admin/devnet/genesis/${era}`);
    expect([status, type]).toEqual([200, "application/json"]);
    expect(text).toBe(files.find(({ name }) => name === `${era}-genesis.json`)!.text);
  }
  const shelley = (await get("/admin/devnet/genesis/shelley")).json;
  const { slots } = devnet.network;
  expect(new Date(shelley.systemStart).getTime()).toBe(slots.zeroTime);
  expect(shelley).toMatchObject({ slotLength: 1, epochLength: 50, networkMagic: 42 });
  for (const era of ["babbage", "config", "..%2Fconfig"]) {
    expect((await get(`/admin/devnet/genesis/${era}`)).status).toBe(404);
  }
  expect((await get("/admin/devnet/genesis/hash")).text).toBe(files[0]!.hash);

  const archive = async (path: string) => {
    const response = await raw(path);
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="\w+\.zip"$/);
    const contents = unzipSync(new Uint8Array(await response.arrayBuffer()));
    return Object.entries(contents).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]);
  };
  const all = files.map(({ name, text }) => [name, text]);
  expect(await archive("/admin/devnet/download")).toEqual(all);
  expect(await archive("/admin/devnet/genesis/download")).toEqual(all.slice(0, 4));
});

test("outputs of an address are in the form of Yaci DevKit", async () => {
  const devnet = await start();
  const { get } = over(devnet);
  const account = accountAddress(0, devnetAccounts(1)[0]!);
  const address = hexAddressText(account)!;
  expect((await get(`/addresses/${address}/utxos`)).json).toEqual([{
    tx_hash: hash256(fromHex(account)),
    output_index: 0,
    address,
    amount: [{ unit: "lovelace", quantity: 10_000_000_000 }],
    data_hash: null,
    inline_datum: null,
    reference_script_hash: null,
  }]);
  expect((await get(`/addresses/${address}/utxos?page=2`)).json).toEqual([]);
  expect((await get(`/addresses/${hexAddressText(alice.base)}/utxos`)).json).toEqual([]);
  expect((await get("/addresses/nonsense/utxos")).status).toBe(400);
  await makeBlock(devnet);
  const [published] = (await get(`/addresses/${hexAddressText(locked)}/utxos`)).json;
  expect(published.reference_script_hash).toMatch(/^[0-9a-f]{56}$/);
});

test("transactions are submitted as bytes, and a refusal says why", async () => {
  const devnet = await start();
  const { post } = over(devnet);
  const coin = await give(devnet, alice.enterprise, 10_000_000n);
  const made = spend({ from: alice, inputs: [coin], outputs: [[alice.base, 9_000_000n]] });
  const cbor = { "content-type": "application/cbor" };
  expect(await post("/tx/submit", made.cbor.slice(), cbor)).toMatchObject({ status: 202, json: made.hash });
  const twice = spend({ from: alice, inputs: [coin], outputs: [[alice.base, 8_000_000n]] });
  const refused = await post("/tx/submit", twice.cbor.slice(), cbor);
  expect([refused.status, refused.json.code]).toEqual([400, "refused_by_ledger"]);
  expect((await post("/tx/submit", "not CBOR", cbor)).json).toMatchObject({ code: "undecodable" });
});

test("epochs and parameters are those of the chain", async () => {
  const devnet = await start();
  const { get } = over(devnet);
  expect((await get("/epochs/latest")).json).toMatchObject({ epoch: 0, block_count: null });
  await makeBlock(devnet);
  expect((await get("/epochs/latest")).json).toMatchObject({ epoch: 0, block_count: 1 });
  await devnet.enterNextEpoch();
  await devnet.enterNextEpoch();
  expect((await get("/epochs/latest")).json).toMatchObject({ epoch: 2, block_count: 1, active_stake: "3000000000000" });
  const current = (await get("/epochs/parameters")).json;
  expect(current).toMatchObject({
    epoch: 2,
    min_fee_a: 44,
    key_deposit: "2000000",
    drep_deposit: "500000000",
    a0: 0.3,
  });
  expect(Object.keys(current.cost_models)).toEqual(["PlutusV1", "PlutusV2", "PlutusV3"]);
  expect((await get("/epochs/1/parameters")).json).toMatchObject({ epoch: 1, coins_per_utxo_size: "4310" });
  expect((await get("/epochs/2/parameters")).json).toEqual(current);
  expect((await get("/epochs/900/parameters")).json).toEqual(current);
});

test("reset goes back to the genesis, with the devnet's own first transactions", async () => {
  const devnet = await start();
  const { post } = over(devnet);
  const genesis = await ledgerInRows(world.store);
  const first = devnet.mempool().map(({ transaction }) => transaction.hash);
  expect(first.length).toBeGreaterThanOrEqual(2);
  await makeBlock(devnet);
  await give(devnet, alice.enterprise, 5_000_000n);
  await makeBlock(devnet);
  const waiting = await give(devnet, alice.enterprise, 6_000_000n);
  await devnet.enterNextEpoch();
  await give(devnet, alice.enterprise, 7_000_000n);

  expect(await post("/admin/devnet/reset")).toMatchObject({ status: 200, text: "done" });
  expect(devnet.tip().height).toBe(-1);
  expect(await ledgerInRows(world.store)).toEqual(genesis);
  const again = devnet.mempool().map(({ transaction }) => transaction.hash);
  expect(again).toHaveLength(first.length);
  expect(again).not.toContain(waiting.ref.txHash);
  await makeBlock(devnet);
  await checkRows(world.store);
  const { value } = await world.rows.utxosByAddress([alice.enterprise]) as { value: { value: unknown } };
  expect(value.value).toEqual([]);
});

test("create accepts the properties of this devnet only", async () => {
  const devnet = await start();
  const { post } = over(devnet);
  const create = (body: unknown) => post("/admin/devnet/create", JSON.stringify(body));
  await makeBlock(devnet);
  const properties = { epochLength: "50", slotLength: "1.0", protocolMagic: "42", maxLovelaceSupply: "" };
  expect(await create({ genesisProperties: properties, enableYaciStore: true })).toMatchObject({
    status: 200,
    json: true,
  });
  expect(devnet.tip().height).toBe(-1);
  await makeBlock(devnet);
  const refused = await create({ genesisProperties: { epochLength: "600", minFeeA: "1" } });
  expect(refused).toMatchObject({ status: 409, json: { code: "genesis_kept" } });
  expect(refused.text).toContain("epochLength 600 (50), minFeeA (not known here)");
  expect(await create({ enableMultiNode: true })).toMatchObject({ status: 409, json: { code: "not_supported" } });
  expect(devnet.tip().height).toBe(0);
});

test("a fork is undone when forks are joined", async () => {
  const devnet = await start();
  const { post } = over(devnet);
  const before = await makeBlock(devnet);
  expect(await post("/devnet/rollback/join-forks")).toMatchObject({
    status: 409,
    json: { code: "snapshot_unknown" },
  });
  const body = JSON.stringify({ restartNode: true, waitTimeInSec: 10 });
  expect((await post("/devnet/rollback/create-forks", body)).text).toBe("The fork begins after block 0.");
  await give(devnet, alice.enterprise, 5_000_000n);
  await makeBlock(devnet);
  await makeBlock(devnet);
  expect((await post("/devnet/rollback/join-forks")).text).toBe("The fork is undone; the newest block is 0.");
  expect(devnet.tip()).toEqual(before);
  expect(devnet.mempool()).toEqual([]);
  expect((await post("/devnet/rollback/join-forks")).status).toBe(409);
});

test("a devnet without the admin part has none of it", async () => {
  const { get, post } = over(await start(), false);
  expect((await get("/admin/devnet")).status).toBe(404);
  expect((await post("/admin/devnet/reset")).status).toBe(404);
});
