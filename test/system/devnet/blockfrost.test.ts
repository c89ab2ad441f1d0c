/**
 * The Blockfrost API of a devnet with content of every kind: forms of all answers, pages, ranges, malformed parameters,
 * rollbacks. Values are judged by `blockfrost_oracle.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, type Json } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { blockfrostApp, blockfrostOperations } from "#src/devnet/serve/blockfrost/app.ts";
import { textOfAddress } from "#src/devnet/serve/blockfrost/documents.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { openStore } from "#src/store/store.ts";
import { BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import { ExplorerChain } from "../../support/explorer/explorerChain.ts";

const NOT_FOUND = "The requested component has not been found.";

let chain: ExplorerChain;
let api: BlockfrostApi;
/** What stands in paths, by the names of the parameters. */
let things: Readonly<Record<string, readonly string[]>>;

const service = (): BlockfrostService => ({
  devnet: chain.devnet,
  store: chain.store,
  measure: async (input) => measureRedeemers(input),
  log: silentLog,
});

beforeAll(async () => {
  chain = await ExplorerChain.start(11);
  for (let i = 0; i < 90 || !await isComplete(); i++) await chain.step();
  api = new BlockfrostApi(blockfrostApp(service()));
  const { sql } = chain.store;
  const column = async (query: string) => (await sql.unsafe<{ it: string }[]>(query)).map(({ it }) => String(it));
  const all = await transactions();
  const addresses = await column("select distinct address as it from devnet_index_output order by 1");
  things = {
    hash_or_number: await column("select hash as it from devnet_block where transactions > 0 union all select '3'"),
    hash: [...new Set([...evenly(all, 25), ...RARE.flatMap((has) => all.filter(has).slice(0, 3))])].map(({ hash }) =>
      hash
    ),
    address: [
      ...addresses.map(textOfAddress),
      ...(await column("select distinct substr(payment, 2) as it from devnet_index_output where payment like 'k%'"))
        .map((hash) => toBech32("addr_vkh", fromHex(hash))),
      ...(await column("select distinct substr(payment, 2) as it from devnet_index_output where payment like 's%'"))
        .map((hash) => toBech32("script", fromHex(hash))),
    ],
    asset: await column("select distinct unit as it from devnet_index_mint order by 1"),
    policy_id: await column("select distinct substr(unit, 1, 56) as it from devnet_index_mint"),
    label: await column("select distinct label::text as it from devnet_index_metadata"),
    held: await column(`select distinct o.address || ' ' || a.unit as it from devnet_index_output o
      join devnet_index_asset a using (tx_hash, index) where o.spent_height is null order by 1`),
    slot_number: await column("select slot as it from devnet_block order by slot"),
  };
}, 120_000);
/** What few transactions have, and rollbacks may take from the chain. */
const RARE: readonly ((transaction: ScannedTransaction) => boolean)[] = [
  ({ valid, withdrawals }) => valid && withdrawals.size > 0,
  ({ valid, requiredSigners }) => valid && requiredSigners.length > 0,
  ({ valid }) => !valid,
  ({ valid, collateralReturn }) => valid && collateralReturn !== undefined,
  ({ valid, auxiliaryData }) => valid && auxiliaryData !== undefined,
  ...["retire pool", "register pool", "register", "unregister", "delegate"].map(
    (one) => ({ valid, certificates }: ScannedTransaction) => valid && certificates.some(({ kind }) => kind === one),
  ),
];

/** Transactions of the chain, in order. */
async function transactions(): Promise<ScannedTransaction[]> {
  const rows = await chain.store.sql<{ cbor: Uint8Array }[]>`
    select cbor from devnet_index_tx order by height, tx_index`;
  return rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
}

/** Whether the chain has content of every kind, in its newest block too. */
async function isComplete(): Promise<boolean> {
  const all = await transactions();
  const [newest] = await chain.store.sql<{ transactions: number }[]>`
    select transactions from devnet_block order by height desc limit 1`;
  return newest!.transactions > 0 && RARE.every((has) => all.some(has));
}

afterAll(async () => await chain?.stop());

/** Groups whose operations other tests call. */
const GROUPS = /^\/(blocks|txs|addresses|assets|metadata|network|genesis|health|$)/;

const operations = () =>
  blockfrostOperations(service()).filter(({ path, method }) => method === "GET" && GROUPS.test(path));

/** Paths of an operation, at most `most`, chosen evenly. */
function pathsOf(path: string, most = Infinity): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const { epochLength } = chain.devnet.genesis.terms;
  if (names[0] === "epoch_number") {
    return evenly(things.slot_number!, most).map((slot) =>
      `/blocks/epoch/${Math.floor(Number(slot) / epochLength)}/slot/${Number(slot) % epochLength}`
    );
  }
  const [first, second] = names;
  if (first === undefined) return [path];
  if (second === undefined) return evenly(things[first]!, most).map((it) => path.replace(`{${first}}`, it));
  return evenly(things.held!, most).flatMap((it) => {
    const [address, unit] = it.split(" ");
    return ["lovelace", unit!].map((asset) => `/addresses/${textOfAddress(address!)}/utxos/${asset}`);
  });
}

function evenly<T>(all: readonly T[], most: number): T[] {
  const count = Math.min(all.length, most);
  return Array.from({ length: count }, (_, i) => all[Math.floor(i * all.length / count)]!);
}

test("every operation answers with content that satisfies the description", async () => {
  const empty: string[] = [];
  for (const { path } of operations()) {
    let isFull = false;
    for (const one of pathsOf(path, path.startsWith("/txs") ? Infinity : 25)) {
      const { status, body, text } = await api.send("GET", one);
      // an asset that an address never held is a list without elements; a page of a block without addresses as well
      expect([200, 404], `${one}: ${text}`).toContain(status);
      isFull ||= status === 200 && (!Array.isArray(body) || body.length > 0);
    }
    if (!isFull) empty.push(path);
  }
  // certificates that moved rewards ended with Babbage
  expect(empty).toEqual(["/txs/{hash}/mirs"]);
});

describe("pages", () => {
  const read = async (path: string, query: string): Promise<Json[]> => {
    const { status, body } = await api.send("GET", `${path}?${query}`);
    // an empty page of metadata is 404
    return status === 404 ? [] : body as Json[];
  };
  const readAll = async (path: string, size: number, query = ""): Promise<Json[]> => {
    const all: Json[] = [];
    for (let page = 1;; page++) {
      const some = await read(path, `count=${size}&page=${page}${query}`);
      expect(some.length).toBeLessThanOrEqual(size);
      // the blocks before one: the nearest page first, each ascending
      if (path.endsWith("/previous")) all.unshift(...some);
      else all.push(...some);
      if (some.length < size) return all;
    }
  };

  test("of any size make the whole list, and the other order is its reverse", async () => {
    for (const { path, list } of operations().filter(({ list }) => list !== undefined)) {
      for (const one of pathsOf(path, 4)) {
        const whole = await readAll(one, 100);
        for (const size of [1, 3]) expect(await readAll(one, size), one).toEqual(whole);
        if (list !== "paged") expect(await readAll(one, 7, "&order=desc"), one).toEqual([...whole].reverse());
        expect(await read(one, "page=21474836"), one).toEqual([]);
      }
    }
  }, 120_000);

  test("of a range have the transactions from the first to the last place", async () => {
    const places = (list: Json[]) =>
      list.map((one) =>
        isObject(one) ? [Number(one.block_height), Number(one.tx_index), one.tx_hash] as const : undefined!
      );
    for (const path of ["/addresses/{address}/transactions", "/assets/{asset}/transactions"]) {
      for (const one of pathsOf(path, 6)) {
        const whole = places(await readAll(one, 100));
        const [height, index] = whole[Math.floor(whole.length / 2)]!;
        const compare = ([h, i]: readonly [number, number, unknown], at: number) => h - height || i - at;
        const range = async (query: string) => places(await readAll(one, 100, `&${query}`));
        const genesis = whole.filter(([, , hash]) =>
          genesisOutputs(chain.devnet.genesis).some(({ ref }) => ref.txHash === hash)
        );
        const isGenesis = (place: readonly [number, number, unknown]) => genesis.includes(place as typeof genesis[0]);
        expect(await range(`from=${height}:${index}`))
          .toEqual(whole.filter((it) => !isGenesis(it) && compare(it, index) >= 0));
        expect(await range(`from=${height}`)).toEqual(whole.filter((it) => !isGenesis(it) && it[0] >= height));
        expect(await range(`to=${height}:${index}`)).toEqual(
          whole.filter((it) => isGenesis(it) || compare(it, index) <= 0),
        );
        expect(await range(`to=${height}`)).toEqual(whole.filter((it) => isGenesis(it) || it[0] <= height));
        expect(await range(`from=${height}:${index}&to=${height}:${index}`))
          .toEqual(whole.filter((it) => !isGenesis(it) && compare(it, index) === 0));
      }
    }
  });
});

describe("refusals", () => {
  const mainnet = "addr1vxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  const reward = addressText(rewardAddress(0, { kind: "key", hash: "00".repeat(28) }));
  const unused = addressText(enterpriseAddress(0, { kind: "key", hash: "00".repeat(28) }));
  const other = addressText(enterpriseAddress(1, { kind: "key", hash: "00".repeat(28) }));
  const unit = "00".repeat(30);
  const messages = {
    address: "Invalid address for this network or malformed address format.",
    asset: "Invalid or malformed asset format.",
    hash: "Missing or malformed block hash.",
    number: "Missing, out of range or malformed block number.",
    slot: "Missing, out of range or malformed slot_number.",
    epoch: "Missing, out of range or malformed epoch_number.",
    label: "Missing, out of range or malformed label.",
    policy: "Invalid or malformed policy format.",
    range: "Invalid (malformed or out of range) from/to parameter(s).",
    none: NOT_FOUND,
  };

  test.each([
    ["/blocks/nothing", 400, messages.hash],
    [`/blocks/${"0g".repeat(32)}`, 400, messages.hash],
    [`/blocks/${"ab".repeat(32)}`, 404, messages.none],
    ["/blocks/-1", 400, messages.number],
    ["/blocks/2147483648/txs", 400, messages.number],
    ["/blocks/1000000/next", 404, messages.none],
    ["/blocks/1.5/previous", 404, messages.none],
    ["/blocks/slot/-1", 400, messages.slot],
    ["/blocks/slot/2147483648", 400, messages.slot],
    ["/blocks/slot/2147483647", 404, messages.none],
    ["/blocks/slot/x", 400, "params/slot_number must be integer"],
    ["/blocks/epoch/-1/slot/1", 400, messages.epoch],
    ["/blocks/epoch/0/slot/-1", 400, messages.slot],
    ["/blocks/epoch/0/slot/10", 404, messages.none],
    ["/blocks/epoch/x/slot/y", 400, "params/epoch_number must be integer"],
    ["/blocks/0/txs?count=0", 400, "querystring/count must be >= 1"],
    ["/txs/nothing", 404, messages.none],
    ["/txs/%00", 404, messages.none],
    ["/txs/%00/utxos", 404, messages.none],
    ["/txs/%00/pool_updates", 404, messages.none],
    ["/scripts/%00/redeemers", 404, messages.none],
    ["/scripts/%00/utxos", 404, messages.none],
    [`/txs/${"00".repeat(32)}/utxos`, 404, messages.none],
    [`/txs/${"00".repeat(32)}/cbor`, 404, messages.none],
    [`/txs/${"00".repeat(32)}/metadata`, 404, messages.none],
    ["/addresses/nothing", 400, messages.address],
    [`/addresses/${mainnet}/utxos`, 400, messages.address],
    [`/addresses/${other}`, 400, messages.address],
    [`/addresses/${reward}/txs`, 400, messages.address],
    [`/addresses/${unused}`, 404, messages.none],
    [`/addresses/${unused}/extended`, 404, messages.none],
    [`/addresses/${unused}/total`, 404, messages.none],
    [`/addresses/${unused}/utxos`, 404, messages.none],
    [`/addresses/${unused}/utxos/lovelace`, 404, messages.none],
    [`/addresses/${unused}/utxos/lovelaces`, 400, messages.asset],
    [`/addresses/${unused}/txs`, 404, messages.none],
    [`/addresses/${unused}/transactions`, 404, messages.none],
    [`/addresses/${unused}/transactions?from=x`, 400, messages.range],
    [`/addresses/${toBech32("addr_vkh", new Uint8Array(28))}`, 404, messages.none],
    [`/addresses/${toBech32("addr_vkh", new Uint8Array(27))}`, 400, messages.address],
    ["/assets/00", 400, messages.asset],
    [`/assets/${"00".repeat(61)}`, 400, messages.asset],
    [`/assets/${unit}`, 404, messages.none],
    [`/assets/${unit}/history`, 404, messages.none],
    [`/assets/${unit}/transactions?to=-1`, 400, messages.range],
    [`/assets/${unit}/utxos?from=2&to=1`, 400, messages.range],
    ["/assets/00/utxos?from=2&to=1", 400, messages.asset],
    ["/assets/policy/00", 400, messages.policy],
    [`/assets/policy/${"00".repeat(28)}`, 404, messages.none],
    ["/metadata/txs/labels/x", 400, messages.label],
    ["/metadata/txs/labels/-1", 400, messages.label],
    ["/metadata/txs/labels/18446744073709551616/cbor", 400, messages.label],
    ["/metadata/txs/labels/424242", 404, messages.none],
    ["/nothing", 400, "Invalid path. Please check https://docs.blockfrost.io/"],
  ])("%s is %i: %s", async (path, status, message) => {
    expect(await api.refused(path)).toEqual([status, message]);
  });

  test("a database that is away is 503 with Retry-After", async () => {
    const away = openStore("postgres://nobody:none@127.0.0.1:1/none", { max: 1 });
    const refusing = new BlockfrostApi(blockfrostApp({ ...service(), store: away }));
    const { status, headers, body } = await refusing.send("GET", "/blocks/latest");
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(body).toMatchObject({ error: "Service Unavailable" });
    await away.close();
  });
});

test("the genesis is a block, and each of its outputs is a transaction in it", async () => {
  const { genesis } = chain.devnet;
  const hash = byronHash(genesis);
  const hashes = genesisOutputs(genesis).map(({ ref }) => ref.txHash);
  const [first] = await api.get<{ hash: string; previous_block: string }[]>(`/blocks/${hash}/next`);
  expect(first).toMatchObject({ height: 0, previous_block: hash });
  expect(await api.get(`/blocks/${hash}`)).toMatchObject({
    height: null,
    slot: null,
    previous_block: null,
    next_block: first!.hash,
    tx_count: hashes.length,
    confirmations: chain.devnet.tip().height,
  });
  expect(await api.get(`/blocks/${hash}/txs?count=100`)).toEqual(hashes);
  expect(await api.get(`/blocks/${hash}/previous`)).toEqual([]);
  const [faucet] = genesisOutputs(genesis);
  const address = textOfAddress(faucet!.output.address);
  const amount = [{ unit: "lovelace", quantity: String(genesis.faucet.funds) }];
  expect(await api.get(`/txs/${hashes[0]}`)).toMatchObject({
    block: hash,
    output_amount: amount,
    fees: "0",
    utxo_count: 1,
  });
  expect(await api.get(`/txs/${hashes[0]}/utxos`)).toMatchObject({
    inputs: [],
    outputs: [{ address, amount, output_index: 0 }],
  });
  expect(await api.get<string[]>(`/addresses/${address}/txs?count=1`)).toEqual([hashes[0]]);
  expect(await api.refused(`/txs/${hashes[0]}/cbor`)).toEqual([404, NOT_FOUND]);
});

test("of undone blocks nothing is left", async () => {
  await chain.block(3);
  await chain.block(3);
  const { height } = chain.devnet.tip();
  const blocks = await Promise.all([height, height - 1].map((at) => api.get<{ hash: string }>(`/blocks/${at}`)));
  const hashes = (await Promise.all([height, height - 1].map((at) => api.get<string[]>(`/blocks/${at}/txs`)))).flat();
  expect(hashes.length).toBeGreaterThan(0);
  const addresses = (await Promise.all(
    [height, height - 1].map((at) => api.get<{ address: string }[]>(`/blocks/${at}/addresses`)),
  )).flat().map(({ address }) => address);
  const rolledBack = await chain.devnet.rollback({ height: height - 2 }, { drop: true });
  expect(rolledBack.ok).toBe(true);
  for (
    const gone of [
      ...blocks.map(({ hash }) => `/blocks/${hash}`),
      `/blocks/${height}`,
      ...hashes.map((hash) => `/txs/${hash}`),
    ]
  ) {
    expect(await api.refused(gone)).toEqual([404, NOT_FOUND]);
  }
  expect(await api.get("/blocks/latest")).toMatchObject({ height: height - 2, next_block: null, confirmations: 0 });
  const outputs = async (path: string) => {
    const { status, text } = await api.send("GET", path);
    return status === 200 ? text : "";
  };
  for (const address of new Set(addresses)) {
    for (const list of ["txs", "transactions", "utxos"]) {
      const text = await outputs(`/addresses/${address}/${list}?order=desc`);
      for (const hash of hashes) expect(text).not.toContain(hash);
    }
  }
});
