/** A devnet for programs of Yaci DevKit: a genesis like its own, its Yaci Store, its test data, and what it tolerates. */
import { describe, expect, test } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import { accountAddress, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import type { EvaluationInput } from "#src/plutus/types.ts";
import { silentLog } from "#src/base/log.ts";
import { devkitGenesis, devkitParametersAt } from "#src/devnet/genesis/yaciDevkit.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import { indexRows, rebuiltRows } from "../../support/devnet/devnetIndex.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";

const POOL = "pool1wvqhvyrgwch4jq9aa84hc8q4kzvyq2z3xr6mpafkqmx9wce39zy";
const world = devnetWorld();
const like = { like: "yaci-devkit", ...devkitGenesis, parameters: devkitParametersAt(11) } as const;

test("its only pool makes the blocks, earns, and is in an index that is built again", async () => {
  const devnet = await world.start({ ...like, epochLength: 20, securityParameter: 200 });
  await makeBlock(devnet);
  const api = new BlockfrostApi(blockfrostApp({
    devnet,
    store: world.store,
    measure: async (input) => measureRedeemers(input),
    log: silentLog,
  }));
  expect(await api.get("/blocks/latest")).toMatchObject({ slot_leader: POOL });
  expect(await api.get("/pools")).toEqual([POOL]);
  expect(await api.get(`/pools/${POOL}`)).toMatchObject({
    live_stake: "300000000000",
    declared_pledge: "0",
    fixed_cost: "340000000",
    margin_cost: 0,
    owners: [],
    live_delegators: 1,
  });
  const [delegator] = await api.get(`/pools/${POOL}/delegators`) as { address: string; live_stake: string }[];
  for (let epoch = 0; epoch < 4; epoch++) valueOf(await devnet.enterNextEpoch(5));
  expect(await api.get(`/accounts/${delegator!.address}`)).toMatchObject({ pool_id: POOL });
  expect(await api.get(`/pools/${POOL}/history`)).toEqual(
    expect.arrayContaining([expect.objectContaining({ epoch: 1, delegators_count: 1 })]),
  );
  const { rewards_sum } = await api.get(`/accounts/${delegator!.address}`) as { rewards_sum: string };
  expect(BigInt(rewards_sum)).toBeGreaterThan(0n);
  const rows = await indexRows(world.store);
  await devnet.stop();
  expect(rows).toEqual(await rebuiltRows(world.store));
});

test("a start again needs no option", async () => {
  const devnet = await world.start({ ...like });
  await makeBlock(devnet);
  await devnet.stop();
  const again = await world.start();
  expect(again.genesis.like).toBe("yaci-devkit");
  expect(again.genesis.pools.map(({ registered }) => registered.terms.pledge)).toEqual([0n]);
  expect(again.ignoredOptions).toBeUndefined();
});

describe("Yaci Store", () => {
  /** A devnet with its services, as programs of Yaci DevKit call them. */
  async function serve() {
    const devnet = await world.start({ ...like, epochLength: 20 });
    const store = { devnet, store: world.store, measure: async (input: EvaluationInput) => measureRedeemers(input) };
    const indexer = blockfrostApp({ ...store, log: silentLog });
    const places = () => ({ indexer: 8_080 });
    const admin = devnetApp({
      ...{ devnet, store: world.store, port: world.rows, files: [], health: () => {}, log: silentLog },
      admin: { places },
    });
    const read = async (response: Response) => {
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      // deno-lint-ignore no-explicit-any
      return { status: response.status, text, json: (isJson ? parseJson(text) : undefined) as any };
    };
    return {
      devnet,
      get: async (path: string) => await read(await indexer.request(path)),
      post: async (path: string, body: unknown) =>
        await read(
          await admin.request(path, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
        ),
    };
  }

  test("blocks and transactions come in pages, newest first", async () => {
    const { devnet, get } = await serve();
    for (let i = 0; i < 13; i++) await makeBlock(devnet);
    const all = await get("/api/v1/blocks?count=100");
    expect(all.json).toMatchObject({ total: 13, total_pages: 1 });
    expect(all.json.blocks.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 13 }, (_, i) => 12 - i),
    );
    const { hash, slot } = devnet.tip();
    expect(all.json.blocks[0]).toEqual({
      time: devnet.network.slots.zeroTime / 1_000 + slot,
      number: 12,
      hash,
      slot,
      epoch: 0,
      era: 7,
      output: 0,
      fees: 0,
      slot_leader: POOL,
      size: expect.any(Number),
      tx_count: 0,
      issuer_vkey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const first = (await get("/api/v1/blocks")).json;
    expect([first.total_pages, first.blocks]).toEqual([2, all.json.blocks.slice(0, 10)]);
    for (const page of [0, 1]) expect((await get(`/api/v1/blocks?page=${page}`)).json).toEqual(first);
    expect((await get("/api/v1/blocks?page=2")).json.blocks).toEqual(all.json.blocks.slice(10));
    // the split of the faucet's funds
    const { json: transactions } = await get("/api/v1//txs");
    expect(transactions).toMatchObject({ total: 1, total_pages: 1 });
    const [{ tx_hash, fee }] = transactions.transaction_summaries;
    expect((await get(`/api/v1/txs/${tx_hash}`)).json.fees).toBe(String(fee));
    expect((await get("/api/v0/blocks")).status).toBe(400);
    expect((await get("/api/v1/blocks?page=-1")).json.message).toBe("querystring/page must be >= 0");
  });

  test("lists of Blockfrost take page 0 for page 1 under the prefix of Yaci Store alone", async () => {
    const { devnet, get } = await serve();
    await makeBlock(devnet);
    const address = hexAddressText(accountAddress(0, devnetAccounts(1)[0]!))!;
    const usual = await get(`/api/v1/addresses/${address}/utxos`);
    expect(usual.json).toHaveLength(1);
    expect((await get(`/api/v1//addresses/${address}/utxos?page=0`)).json).toEqual(usual.json);
    expect((await get(`/api/v0/addresses/${address}/utxos?page=0`)).status).toBe(400);
  });

  test("a balance has amounts as numbers", async () => {
    const { devnet, get } = await serve();
    await makeBlock(devnet);
    const address = hexAddressText(accountAddress(0, devnetAccounts(1)[0]!))!;
    expect((await get(`/api/v1/addresses/${address}/balance`)).json).toEqual({
      block_number: 0,
      slot: devnet.tip().slot,
      address,
      amounts: [{ unit: "lovelace", quantity: 10_000_000_000 }],
    });
    const unused = hexAddressText("60" + "07".repeat(28))!;
    expect((await get(`/api/v1/addresses/${unused}/balance`)).status).toBe(404);
  });

  test("certificates of the genesis are in the lists of pools and of stake", async () => {
    const { devnet, get } = await serve();
    await makeBlock(devnet);
    expect((await get("/api/v1/pools/registrations")).json).toMatchObject([{
      pool_id: "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57",
      pool_id_bech32: POOL,
      cost: 340_000_000,
      margin: 0,
      pool_owners: [],
      relays: [],
      metadata_url: null,
      block_number: 0,
    }]);
    const [registered] = (await get("/api/v1/stake/registrations")).json;
    expect(registered).toMatchObject({
      credential: "295b987135610616f3c74e11c94d77b6ced5ccc93a7d719cfb135062",
      type: "STAKE_REGISTRATION",
    });
    expect((await get("/api/v1/stake/delegations")).json).toMatchObject([{
      address: registered.address,
      pool_id: "7301761068762f5900bde9eb7c1c15b09840285130f5b0f53606cc57",
    }]);
    expect((await get("/api/v1/stake/deregistrations")).json).toEqual([]);
    expect((await get("/api/v1/pools/retirements?page=0")).json).toEqual([]);
  });

  test("test data put a script and a datum on the chain", async () => {
    const { devnet, get, post } = await serve();
    const script = await post("/local-cluster/api/test-data", { type: "REFERENCE_INPUT_GEN_TRANSACTION" });
    expect([script.status, script.text]).toEqual([200, "3a888d65f16790950a72daee1f63aa05add6d268434107cfa5b67712"]);
    const datum = await post("//local-cluster/api/test-data", { type: "DATUM_OUTPUT_GEN_TRANSACTION" });
    expect(datum.text).toMatch(/^[0-9a-f]{64}$/);
    await makeBlock(devnet);
    expect((await get(`/api/v1/scripts/${script.text}/cbor`)).json).toEqual({ cbor: "480100002221200101" });
    expect((await get(`/api/v1/scripts/${script.text}/details`)).json).toEqual({
      script_hash: script.text,
      script_type: "plutusV2",
      content: "480100002221200101",
    });
    expect((await get(`/api/v1/scripts/datum/${datum.text}`)).json).toEqual({ json_value: { int: 1_000 } });
    expect((await get(`/api/v1/scripts/${"00".repeat(28)}/details`)).status).toBe(404);
    expect((await post("/local-cluster/api/test-data", { type: "OTHER" })).status).toBe(400);
  });

  test("a top-up takes its amount as text too", async () => {
    const { devnet, get, post } = await serve();
    const address = hexAddressText("60" + "08".repeat(28))!;
    const done = await post("//local-cluster//api/addresses/topup", { address, adaAmount: "12.5" });
    expect(done.json).toMatchObject({ address, adaAmount: 12.5, status: true });
    await makeBlock(devnet);
    expect((await get(`/api/v1/addresses/${address}/balance`)).json.amounts).toEqual([
      { unit: "lovelace", quantity: 12_500_000 },
    ]);
    expect((await post("/local-cluster/api/addresses/topup", { address, adaAmount: "much" })).status).toBe(400);
  });
});
