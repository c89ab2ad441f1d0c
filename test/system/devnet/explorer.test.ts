/** What the devnet's explorer page reads: transactions in full, refusals, script runs, search, the live state. */
import { expect, test } from "vitest";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { ok } from "#src/base/result.ts";
import type { Builders } from "#src/threads/builders.ts";
import { PAGES } from "#src/app/pages.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import * as api from "#src/devnet/api/explorer.ts";
import { addressText, hexAddressText, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { checkRows, spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { minting, NAME } from "../../support/ledger/minting.ts";
import { agrees, plutusHash, refusesSaying } from "../../support/plutus/scripts.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice");
const bob = person("bob");
const world = devnetWorld();

// deno-lint-ignore no-explicit-any
type Body = any;

async function start(options: DevnetOptions = {}) {
  const devnet = await world.start({ pools: 2, ...options }, async (input) => evaluateScripts(input));
  const index = options.index ?? true;
  const run = async (job: string, input: Body) => {
    if (job !== "measure") throw new Error(`the job ${job} was not expected`);
    return ok(await measureRedeemers(input));
  };
  const explorer = { builders: { run: run as unknown as Builders["run"] }, pages: PAGES, index, wallet: true };
  const app = devnetApp({
    devnet,
    store: world.store,
    port: world.rows,
    files: [],
    health: () => {},
    explorer,
    log: silentLog,
  });
  const get = async (path: string): Promise<{ status: number; body: Body }> => {
    const response = await app.request(path);
    return { status: response.status, body: parseJson(await response.text()) };
  };
  /** A good answer, by its schema. */
  const read = async (path: string, schema: { parse(value: unknown): unknown }): Promise<Body> => {
    const { status, body } = await get(path);
    expect([path, status, body]).toMatchObject([path, 200, {}]);
    // the schema strips what it does not describe; its integers are those of JavaScript
    const numbers = JSON.parse(
      JSON.stringify(body, (_, one) => typeof one === "bigint" ? Number.MAX_SAFE_INTEGER : one),
    );
    expect(schema.parse(numbers)).toEqual(numbers);
    return body;
  };
  const transaction = (hash: string): Promise<Body> => read(`/transactions/${hash}`, api.transaction);
  const search = async (q: string): Promise<string[]> => {
    const { hits } = await read(`/search?q=${encodeURIComponent(q)}`, api.searchAnswer);
    return hits.map((hit: Body) => `${hit.kind} ${hit.id}`);
  };
  return { devnet, app, get, read, transaction, search };
}

/** A payment of Alice to Bob. */
function payment(coin: Body, more: { validTo?: number } = {}) {
  return spend({ from: alice, inputs: [coin], outputs: [[bob.base, 10n * ada], [alice.base, 39n * ada]], ...more });
}
const submit = async (devnet: Devnet, cbor: Uint8Array) => valueOf(await devnet.submit(cbor)).outcome;

test("a transaction is shown in the mempool and in a block, with its outputs and their spender", async () => {
  const { devnet, get, transaction, search } = await start();
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const { cbor, hash } = payment(coin);
  expect(await get(`/transactions/${hash}`)).toMatchObject({ status: 404, body: { code: "transaction_unknown" } });
  expect(await submit(devnet, cbor)).toBe("accepted");
  const waiting = await transaction(hash);
  expect(waiting).toMatchObject({
    hash,
    status: "in_mempool",
    valid: true,
    fee: 1_000_000,
    deposit: 0,
    inputs: [{ ...coin.ref, output: { address: hexAddressText(alice.base), lovelace: 50_000_000, assets: {} } }],
    outputs: [{ address: hexAddressText(bob.base), lovelace: 10_000_000 }, { lovelace: 39_000_000 }],
    signatures: [alice.key],
  });
  expect(waiting.block).toBeUndefined();
  const shortened = (
    id: string,
  ) => [id.slice(0, 10), id.slice(0, 11).toUpperCase(), `${id.slice(0, 10)}…${id.slice(-8)}`];
  for (const q of shortened(hash)) expect(await search(q)).toEqual([`transaction ${hash}`]);
  const tip = await makeBlock(devnet);
  for (const q of shortened(hash)) expect(await search(q)).toEqual([`transaction ${hash}`]);
  for (const q of shortened(tip.hash)) expect(await search(q)).toEqual([`block ${tip.hash}`]);
  const otherEnd = hash.endsWith("0") ? "1" : "0";
  expect(await search(`${hash.slice(0, 10)}…${hash.slice(-8, -1)}${otherEnd}`)).toEqual([]);
  await makeBlock(devnet);
  const included = await transaction(hash.toUpperCase());
  expect(included).toMatchObject({
    status: "in_block",
    block: { height: tip.height, hash: tip.hash, slot: tip.slot, index: 0, confirmations: 1 },
  });
  expect(included.inputs).toEqual(waiting.inputs);
  expect(included.cbor).toBe(waiting.cbor);
  // the faucet's payment says who spent its output
  expect((await transaction(coin.ref.txHash)).outputs[coin.ref.index].spentBy).toBe(hash);
  // an output of the genesis, which the devnet's first transaction has spent
  const [{ ref: { txHash: genesis } }] = genesisOutputs(devnet.genesis) as Body;
  expect(await transaction(genesis)).toMatchObject({ status: "genesis", outputs: [{ spentBy: expect.any(String) }] });
});

test("refused, expired and withdrawn transactions are remembered with the ledger's reasons, through a restart", async () => {
  const { devnet, read, transaction, get } = await start();
  const [first, second, third] = [
    await give(devnet, alice.base, 50n * ada),
    await give(devnet, alice.base, 50n * ada),
    await give(devnet, alice.base, 50n * ada),
  ];
  await makeBlock(devnet);
  const spentOnce = payment(first);
  expect(await submit(devnet, spentOnce.cbor)).toBe("accepted");
  await makeBlock(devnet);
  const again = spend({ from: alice, inputs: [first], outputs: [[bob.base, 20n * ada], [alice.base, 29n * ada]] });
  expect(await submit(devnet, again.cbor)).toBe("refused");
  const refused = await transaction(again.hash);
  expect(refused).toMatchObject({
    status: "refused",
    departure: { kind: "refused", slot: expect.any(Number), at: expect.any(Number) },
    // the input is known, and who has spent it
    inputs: [{ output: { lovelace: 50_000_000, spentBy: spentOnce.hash } }],
  });
  expect(refused.departure.reasons.map(({ name }: Body) => name)).toEqual(["ConwayMempoolFailure"]);
  for (const { text } of refused.departure.reasons) expect(text).toMatch(/\.$/);

  const late = payment(second, { validTo: devnet.slot() + 2 });
  expect(await submit(devnet, late.cbor)).toBe("accepted");
  world.clock.advance(5_000);
  await makeBlock(devnet);
  expect(await transaction(late.hash)).toMatchObject({
    status: "dropped",
    departure: { reasons: [{ name: "OutsideValidityIntervalUTxO" }] },
  });

  const undone = payment(third);
  expect(await submit(devnet, undone.cbor)).toBe("accepted");
  const { height } = await makeBlock(devnet);
  valueOf(await devnet.rollback({ height: height - 1 }, { drop: true }));
  expect(await transaction(undone.hash)).toMatchObject({
    status: "withdrawn",
    departure: { why: expect.stringMatching(/rollback/), reasons: [] },
  });
  const listed = await read("/transactions/refused", api.departures);
  expect(listed.total).toBe(3);
  expect(listed.transactions.map(({ hash }: Body) => hash)).toEqual([undone.hash, late.hash, again.hash]);
  expect(await read("/transactions/refused?kind=dropped&count=1", api.departures)).toMatchObject({
    total: 1,
    transactions: [{ hash: late.hash }],
  });
  expect(await get("/transactions/refused?kind=lost")).toMatchObject({ status: 400 });

  // submitted again and accepted: it is no longer among them
  expect(await submit(devnet, undone.cbor)).toBe("accepted");
  expect(await transaction(undone.hash)).toMatchObject({ status: "in_mempool" });
  await makeBlock(devnet);
  expect((await read("/transactions/refused", api.departures)).total).toBe(2);
  valueOf(await devnet.reset());
  expect(await transaction(undone.hash)).toMatchObject({ departure: { why: expect.stringMatching(/reset/) } });
  await checkRows(world.store);

  // a restart still knows why, and the newest of them is the newest
  const known = await read("/transactions/refused", api.departures);
  await devnet.stop();
  const restarted = await start();
  expect(await restarted.read("/transactions/refused", api.departures)).toEqual(known);
  expect(await restarted.transaction(again.hash)).toMatchObject({ departure: refused.departure });
});

test("scripts are run again: units spent and their limit, and what a failing one says", async () => {
  const { devnet, read, transaction } = await start();
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const complete = { parameters: devnet.genesis.parameters, fee: ada };
  const units = { "mint:0": { memory: 100_000, steps: 40_000_000 } };
  const scripts = [undefined, undefined, agrees];
  const cbor = minting({ input: coin.ref, lovelace: 50n * ada, scripts, units, complete });
  expect(await submit(devnet, cbor)).toBe("accepted");
  const [{ transaction: { hash } }] = devnet.mempool() as Body;
  const policy = plutusHash(3, agrees);
  const look = async () => {
    const shown = await transaction(hash);
    expect(shown).toMatchObject({
      mint: [{ quantity: 1, fingerprint: fingerprint(shown.mint[0].unit) }],
      scripts: [{ hash: policy, language: "Plutus V3", source: "transaction" }],
      redeemers: [{
        purpose: "mint",
        index: 0,
        target: policy,
        script: policy,
        limit: { memory: 100_000, steps: 40_000_000 },
        data: { cbor: "d8799f182aff", json: { constructor: 0, fields: [{ int: 42 }] } },
      }],
      collateral: [{ output: { lovelace: 50_000_000 } }],
    });
    const { runs } = await read(`/transactions/${hash}/runs`, api.scriptRuns);
    expect(runs).toMatchObject([{ purpose: "mint", index: 0, spent: { memory: expect.any(Number) }, logs: [] }]);
    expect(runs[0].spent.memory).toBeGreaterThan(0);
    expect(runs[0].spent.memory).toBeLessThan(100_000);
    return shown;
  };
  await look();
  await makeBlock(devnet);
  const { mint: [{ unit }] } = await look();
  expect(unit.startsWith(policy)).toBe(true);

  const other = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const failing = [undefined, undefined, refusesSaying("not today")];
  const bad = minting({ input: other.ref, lovelace: 50n * ada, scripts: failing, units, complete });
  expect(await submit(devnet, bad)).toBe("refused");
  const [departure] = devnet.departures();
  expect(await transaction(departure!.hash)).toMatchObject({ status: "refused", departure: { kind: "refused" } });
  expect(await read(`/transactions/${departure!.hash}/runs`, api.scriptRuns)).toMatchObject({
    runs: [{ problem: expect.any(String), logs: ["not today"] }],
  });
});

test("search finds by every id, and the index answers in the devnet's form of refusals", async () => {
  const { devnet, get, read, search } = await start();
  const coin = await give(devnet, alice.base, 50n * ada);
  const tip = await makeBlock(devnet);
  const complete = { parameters: devnet.genesis.parameters, fee: ada };
  const units = { "mint:0": { memory: 100_000, steps: 40_000_000 } };
  const scripts = [undefined, undefined, agrees];
  expect(await submit(devnet, minting({ input: coin.ref, lovelace: 50n * ada, scripts, units, complete }))).toBe(
    "accepted",
  );
  await makeBlock(devnet);
  const policy = plutusHash(3, agrees);
  const unit = `${policy}${"token".split("").map((c) => c.charCodeAt(0).toString(16)).join("")}`;
  const address = hexAddressText(alice.base)!;
  expect(await search(tip.hash)).toEqual([`block ${tip.hash}`]);
  expect(await search(` ${tip.hash.toUpperCase()} `)).toEqual([`block ${tip.hash}`]);
  expect(await search(String(tip.height))).toContain(`block ${tip.hash}`);
  expect(await search("0")).toEqual(expect.arrayContaining(["epoch 0"]));
  expect(await search(`slot ${tip.slot}`)).toEqual([`block ${tip.hash}`]);
  expect(await search(coin.ref.txHash)).toEqual([`transaction ${coin.ref.txHash}`]);
  expect(await search(`${coin.ref.txHash}#0`)).toEqual([`transaction ${coin.ref.txHash}`]);
  expect(await search(address)).toEqual([`address ${address}`]);
  expect(await search(alice.base)).toEqual([`address ${address}`]);
  expect(await search(unit)).toEqual([`asset ${unit}`]);
  expect(await search("token")).toEqual([`asset ${unit}`]);
  expect(await search(fingerprint(unit))).toEqual([`asset ${unit}`]);
  expect(await search(policy)).toEqual(expect.arrayContaining([`policy ${policy}`, `script ${policy}`]));
  const pool = devnet.genesis.pools[0]!;
  const [found, ...others] = await search(pool.id);
  expect(others).toEqual([]);
  expect(found).toMatch(/^pool pool1/);
  expect(await search(found!.slice(5))).toEqual([found]);
  expect(await search("ab".repeat(32))).toEqual([]);
  for (const length of [16, 20, 60, address.length - 1]) {
    expect(await search(address.slice(0, length))).toEqual([`address ${address}`]);
  }
  const poolId = found!.slice(5);
  for (const q of [poolId.slice(0, 11), `${poolId.slice(0, 10)}…${poolId.slice(-8)}`, pool.id.slice(0, 9)]) {
    expect(await search(q)).toEqual([found]);
  }
  expect(await search("toke")).toEqual([`asset ${unit}`]);
  expect(await search("tok%")).toEqual([]);
  expect(await search("to")).toEqual([]);
  expect(await search(policy.slice(0, 8))).toEqual([`policy ${policy}`, `script ${policy}`]);
  expect(await search("nothing of this name")).toEqual([]);
  expect(await get("/search?q=")).toMatchObject({ status: 400, body: { code: "bad_request" } });

  expect(await get("/explorer/v0/blocks/latest")).toMatchObject({ status: 200, body: { height: tip.height + 1 } });
  expect(await get(`/explorer/v0/blocks/${tip.height + 1}/previous?count=1`)).toMatchObject({
    body: [{ hash: tip.hash }],
  });
  expect(await get(`/explorer/v0/addresses/${address}/transactions`)).toMatchObject({ status: 200 });
  expect(await get("/explorer/v0/blocks/999999")).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(await get("/explorer/v0/addresses/nonsense")).toMatchObject({
    status: 400,
    body: { error: expect.any(String) },
  });
  const listed = await read("/transactions?count=1", api.transactionList);
  expect(listed).toMatchObject({ transactions: [{ height: tip.height + 1, index: 0, scripts: 1, outputs: 1 }] });
  const older = await read(`/transactions?count=100&before=${listed.next}`, api.transactionList);
  expect(older.transactions.map(({ hash }: Body) => hash)).toContain(coin.ref.txHash);
  expect(older.next).toBeUndefined();
  expect(await read(`/transactions?block=${tip.height}`, api.transactionList)).toEqual(older);
  const { rows } = await read("/load?count=2", api.load);
  expect(rows).toMatchObject([
    { of: tip.height, blocks: 1, steps: 0 },
    { of: tip.height + 1, transactions: 1, fees: 1_000_000, memory: 100_000, steps: 40_000_000 },
  ]);
  const { rows: [epoch, ...more] } = await read("/load?by=epoch", api.load);
  expect([epoch.of, epoch.blocks, epoch.steps, more]).toEqual([0, tip.height + 2, 40_000_000, []]);
  expect(await get("/transactions?before=1")).toMatchObject({ status: 400 });
  expect(await get("/explorer/v0/nothing")).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("an address's transactions say what each changed there; the changes add up to what it holds", async () => {
  const { devnet, get, read } = await start();
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const complete = { parameters: devnet.genesis.parameters, fee: ada };
  const units = { "mint:0": { memory: 100_000, steps: 40_000_000 } };
  const mint = minting({
    input: coin.ref,
    lovelace: 50n * ada,
    scripts: [undefined, undefined, agrees],
    units,
    complete,
  });
  expect(await submit(devnet, mint)).toBe("accepted");
  await makeBlock(devnet);
  const other = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const { cbor, hash } = payment(other);
  expect(await submit(devnet, cbor)).toBe("accepted");
  await makeBlock(devnet);

  /** All transactions of a holder, by pages of two. */
  const changesOf = async (holder: string): Promise<Body[]> => {
    const all: Body[] = [];
    for (let before = "";;) {
      const page = await read(`/addresses/${holder}/transactions?count=2${before}`, api.addressTransactions);
      all.push(...page.transactions);
      if (page.next === undefined) return all;
      expect(page.transactions).toHaveLength(2);
      before = `&before=${page.next}`;
    }
  };
  const address = hexAddressText(alice.base)!;
  const [paid, funded, minted, first, ...none] = await changesOf(address);
  expect(none).toEqual([]);
  expect(paid).toMatchObject({ hash, height: devnet.tip().height, lovelace: -11_000_000, assets: {} });
  expect(funded).toMatchObject({ hash: other.ref.txHash, lovelace: 50_000_000 });
  const unit = `${plutusHash(3, agrees)}${toHex(NAME)}`;
  expect(minted).toMatchObject({ lovelace: -1_000_000, assets: { [unit]: 1 } });
  expect(first).toMatchObject({ hash: coin.ref.txHash, lovelace: 50_000_000, assets: {}, time: expect.any(Number) });
  const [received] = await changesOf(hexAddressText(bob.base)!);
  expect(received).toMatchObject({ hash, lovelace: 10_000_000 });

  // the same by the payment credential and by the stake account
  const four = [paid, funded, minted, first];
  expect(await changesOf(toBech32("addr_vkh", fromHex(alice.key)))).toEqual(four);
  expect(await changesOf(addressText(rewardAddress(0, { kind: "key", hash: alice.stake })))).toEqual(four);

  // what the genesis gave and the faucet paid: a long list, some of it of the genesis
  const faucet = hexAddressText(genesisOutputs(devnet.genesis)[0]!.output.address)!;
  const changes = await changesOf(faucet);
  expect(changes.at(-1)).not.toHaveProperty("height");
  const { body: { amount } } = await get(`/explorer/v0/addresses/${faucet}`);
  expect(changes.reduce((sum, { lovelace }) => sum + BigInt(lovelace), 0n)).toBe(BigInt(amount[0].quantity));

  expect(await changesOf(hexAddressText(person("nobody").base)!)).toEqual([]);
  const refused = await get("/addresses/addr_test1nonsense/transactions");
  expect(refused).toMatchObject({ status: 400, body: { code: "bad_address" } });
  expect(await get(`/addresses/${address}/transactions?before=soon`)).toMatchObject({ status: 400 });

  // as it was before the block
  valueOf(await devnet.rollback({ height: devnet.tip().height - 1 }, { drop: true }));
  expect(await changesOf(address)).toEqual([funded, minted, first]);
});

test("without an index it is said, and transactions are shown all the same", async () => {
  const { devnet, get, transaction, search } = await start({ index: false });
  const coin = await give(devnet, alice.base, 50n * ada);
  const tip = await makeBlock(devnet);
  expect(await get("/explorer/v0/blocks/latest")).toMatchObject({
    status: 404,
    body: { code: "index_off", error: expect.stringMatching(/--devnet-without index/) },
  });
  for (const path of ["/transactions", `/addresses/${hexAddressText(alice.base)}/transactions`]) {
    expect(await get(path)).toMatchObject({ status: 404, body: { code: "index_off" } });
  }
  expect(await get("/explorer/v0/mempool")).toMatchObject({ status: 200, body: [] });
  expect(await transaction(coin.ref.txHash)).toMatchObject({ status: "in_block", block: { hash: tip.hash } });
  expect(await search(String(tip.height))).toContain(`block ${tip.hash}`);
});

test("the live stream gives the state at once, and again at every block and change of the mempool", async () => {
  const { devnet, app } = await start();
  const reading = liveEvents(app);
  const tip = devnet.tip();
  expect((await reading.next()).value).toMatchObject({ tip: { ...tip }, mempool: { size: expect.any(Number) } });
  await give(devnet, alice.base, 50n * ada);
  expect((await reading.next()).value.mempool.size).toBeGreaterThan(0);
  const made = await makeBlock(devnet);
  let { value } = await reading.next();
  // the devnet's own first transactions may have come to the mempool meanwhile
  while (value.tip.height < made.height) ({ value } = await reading.next());
  expect(value).toMatchObject({ tip: { height: made.height, hash: made.hash }, mempool: { size: 0 } });
  expect(api.live.parse(value)).toEqual(value);
  // undone, mostly before the next look: whoever has read the block must read again
  await makeBlock(devnet);
  valueOf(await devnet.rollback({ blocks: 1 }));
  let { value: undone } = await reading.next();
  if (undone.tip.height > made.height) ({ value: undone } = await reading.next());
  expect(undone).toEqual({ ...value, currentSlot: undone.currentSlot, changes: value.changes + 2 });
  await reading.return(undefined);
});

/** The states of the stream. */
async function* liveEvents(app: OpenAPIHono): AsyncGenerator<Body> {
  const response = await app.request("/live");
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, data] = /^event: state\n(?:.*\n)*data: (.*)$/m.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (data !== undefined) yield JSON.parse(data);
      }
    }
  } finally {
    await reader.cancel();
  }
}
