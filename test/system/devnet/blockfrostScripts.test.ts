/** Evaluation, submission, scripts and the mempool of the Blockfrost API, with the real evaluator. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect, test } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, hexAddressText, rewardAddress, scriptAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { type ApiAnswer, BlockfrostApi } from "../../support/blockfrost/blockfrostApi.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock } from "../../support/devnet/devnetWorld.ts";
import { type Budget, DATA, type Minting, minting, NAME } from "../../support/ledger/minting.ts";
import { agrees, agreesWithTwo, plutusHash, refuses, refusesSaying } from "../../support/plutus/scripts.ts";
import { found } from "../../support/ledger/findings.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice");
const aliceAccount = addressText(rewardAddress(0, { kind: "key", hash: alice.stake }));
const world = devnetWorld();

type Row = Record<string, unknown>;
interface FiveAnswer {
  readonly type: string;
  readonly methodname?: string;
  readonly fault?: { readonly code: string; readonly string: string };
  readonly result: {
    readonly EvaluationResult?: Record<string, Budget>;
    readonly EvaluationFailure?: Row;
  };
}

async function start(options: Parameters<typeof world.start>[0] = {}): Promise<Devnet> {
  return await world.start({ pools: 1, ...options }, async (input) => evaluateScripts(input));
}

function apiOf(devnet: Devnet): BlockfrostApi {
  const measure = async (input: Parameters<typeof measureRedeemers>[0]) => measureRedeemers(input);
  return new BlockfrostApi(blockfrostApp({ devnet, store: world.store, measure, log: silentLog }));
}

const submit = (api: BlockfrostApi, cbor: Uint8Array, type = "application/cbor"): Promise<ApiAnswer> =>
  api.send("POST", "/tx/submit", { body: cbor as Uint8Array<ArrayBuffer>, headers: { "content-type": type } });

async function evaluate(api: BlockfrostApi, body: string, query = ""): Promise<FiveAnswer & Row> {
  const headers = { "content-type": "application/cbor" };
  const { status, body: answer } = await api.send("POST", `/utils/txs/evaluate${query}`, { body, headers });
  expect(status).toBe(200);
  return answer as unknown as FiveAnswer & Row;
}

async function evaluateUtxos(api: BlockfrostApi, body: unknown, query = ""): Promise<FiveAnswer & Row> {
  const headers = { "content-type": "application/json" };
  const init = { body: JSON.stringify(body), headers };
  const { status, body: answer, text } = await api.send("POST", `/utils/txs/evaluate/utxos${query}`, init);
  expect(status, text).toBe(200);
  return answer as unknown as FiveAnswer & Row;
}

test("the units of scripts of each version are exactly those that the ledger needs, and the chain shows them", async () => {
  const devnet = await start();
  const api = apiOf(devnet);
  const coin = await give(devnet, alice.base, 50n * ada);
  const other = await give(devnet, alice.base, 60n * ada);
  await makeBlock(devnet);
  const scripts = [agreesWithTwo, agreesWithTwo, agrees];
  const minted = { input: coin.ref, lovelace: 50n * ada, scripts };
  const partial = minting(minted);
  const answer = await evaluate(api, toHex(partial));
  expect(answer).toEqual({
    type: "jsonwsp/response",
    version: "1.0",
    servicename: "ogmios",
    methodname: "EvaluateTx",
    result: { EvaluationResult: expect.any(Object) },
    reflection: { id: expect.any(String) },
  });
  const units = answer.result.EvaluationResult!;
  expect(Object.keys(units)).toEqual(["mint:0", "mint:1", "mint:2"]);
  // in base64, and as JSON
  expect((await evaluate(api, Buffer.from(partial).toString("base64"))).result).toEqual(answer.result);
  expect((await evaluateUtxos(api, { cbor: toHex(partial), additionalUtxoSet: [] })).result).toEqual(answer.result);
  expect((await evaluateUtxos(api, { cbor: toHex(partial) })).result).toEqual(answer.result);
  expect(await evaluate(api, toHex(partial), "?version=6")).toEqual({
    jsonrpc: "2.0",
    method: "evaluateTransaction",
    result: Object.values(units).map(({ memory, steps }, index) => ({
      validator: { purpose: "mint", index },
      budget: { memory, cpu: steps },
    })),
    id: null,
  });

  // one unit less of each is refused by the ledger; these are accepted
  const complete = { parameters: devnet.genesis.parameters, fee: ada };
  for (const name of Object.keys(units)) {
    for (const kind of ["memory", "steps"] as const) {
      const less = { ...units, [name]: { ...units[name]!, [kind]: units[name]![kind] - 1 } };
      const { status, body } = await submit(api, minting({ ...minted, units: less, complete }));
      expect(status).toBe(400);
      expect((body as Row).message).toContain(
        "ValidationTagMismatch (IsValid True) (FailedUnexpectedly (PlutusFailure",
      );
    }
  }
  // nor one that is valid up to a slot whose time is not known
  const past = await submit(api, minting({ ...minted, units, complete, validTo: devnet.horizon()! }));
  expect([past.status, (past.body as Row).message]).toEqual([
    400,
    expect.stringContaining('(BabbageContextError (AlonzoContextError (TimeTranslationPastHorizon \\"PastHorizon'),
  ]);
  const cbor = minting({ ...minted, units, complete });
  const submitted = await submit(api, cbor);
  expect(submitted).toMatchObject({ status: 200 });
  const hash = submitted.body as string;
  expect(devnet.mempool().map(({ transaction }) => transaction.hash)).toEqual([hash]);

  // in the mempool
  expect(await api.get("/mempool")).toEqual([{ tx_hash: hash }]);
  const waiting = await api.get<{ tx: Row; inputs: Row[]; outputs: Row[]; redeemers: Row[] }>(`/mempool/${hash}`);
  expect(waiting.tx).toMatchObject({
    hash,
    fees: "1000000",
    deposit: "0",
    redeemer_count: 3,
    asset_mint_or_burn_count: 3,
  });
  const input = { address: hexAddressText(alice.base), tx_hash: coin.ref.txHash, output_index: coin.ref.index };
  expect(waiting.inputs).toEqual([
    { ...input, collateral: false, reference: false },
    { ...input, collateral: true, reference: false },
  ]);
  expect(waiting.outputs).toMatchObject([{ output_index: 0, collateral: false, data_hash: null }]);
  const listed = Object.values(units).map(({ memory, steps }, tx_index) => ({
    tx_index,
    purpose: "mint",
    unit_mem: String(memory),
    unit_steps: String(steps),
  }));
  expect(waiting.redeemers).toEqual(listed);
  expect(await api.get(`/mempool/addresses/${hexAddressText(alice.base)}`)).toEqual([{ tx_hash: hash }]);
  expect(await api.get(`/mempool/addresses/${hexAddressText(person("bob").base)}`)).toEqual([]);
  // a transaction that spends what is only in the mempool
  const chained = minting({ input: { txHash: hash, index: 0 }, lovelace: 49n * ada, scripts });
  expect((await evaluate(api, toHex(chained))).result.EvaluationResult).toEqual(units);

  await makeBlock(devnet);
  expect(await api.refused(`/mempool/${hash}`)).toMatchObject([404, expect.any(String)]);
  expect(await api.get("/mempool")).toEqual([]);
  const hashes = ([1, 2, 3] as const).map((language) => plutusHash(language, scripts[language - 1]!));
  const policies = [...hashes].sort();
  expect(await api.get("/scripts")).toEqual(policies.map((script_hash) => ({ script_hash })));
  for (const [place, script_hash] of hashes.entries()) {
    const script = scripts[place]!;
    expect(await api.get(`/scripts/${script_hash}`)).toEqual({
      script_hash,
      type: `plutusV${place + 1}`,
      serialised_size: script.length,
    });
    expect(await api.get(`/scripts/${script_hash}/cbor`)).toEqual({ cbor: toHex(script) });
    expect(await api.get(`/scripts/${script_hash}/json`)).toEqual({ json: null });
    const { tx_index, ...of } = listed[policies.indexOf(script_hash)]!;
    expect(await api.get(`/scripts/${script_hash}/redeemers`)).toEqual([{
      tx_hash: hash,
      tx_index,
      ...of,
      redeemer_data_hash: hash256(DATA),
      datum_hash: hash256(DATA),
      fee: expect.stringMatching(/^\d+$/),
    }]);
  }
  expect(await api.get(`/scripts/datum/${hash256(DATA)}`)).toEqual({
    json_value: { constructor: 0, fields: [{ int: 42 }] },
  });
  expect(await api.get(`/scripts/datum/${hash256(DATA)}/cbor`)).toEqual({ cbor: toHex(DATA) });
  const assets = await api.get<Row[]>(`/accounts/${aliceAccount}/addresses/assets`);
  expect(assets).toEqual(policies.map((policy) => ({ unit: policy + toHex(NAME), quantity: "1" })));

  await devnet.rollback({ blocks: 1 }, { drop: true });
  expect(await api.get("/scripts")).toEqual([]);
  for (const path of [`/scripts/${hashes[0]}`, `/scripts/${hashes[0]}/redeemers`, `/scripts/datum/${hash256(DATA)}`]) {
    expect(await api.refused(path)).toMatchObject([404, expect.any(String)]);
  }
  expect(
    (await evaluate(api, toHex(minting({ input: other.ref, lovelace: 60n * ada, scripts })))).result.EvaluationResult,
  )
    .toEqual(units);
});

test("what is wrong with an evaluated transaction is said as Ogmios says it", async () => {
  const devnet = await start();
  const api = apiOf(devnet);
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const of = (scripts: readonly (Uint8Array | undefined)[], more: Partial<Minting> = {}) =>
    toHex(minting({ input: coin.ref, lovelace: 50n * ada, scripts, ...more }));
  const failing = async (cbor: string) => (await evaluate(api, cbor)).result.EvaluationFailure;

  expect(await failing(of([agreesWithTwo, undefined, refusesSaying("no way")]))).toEqual({
    ScriptFailures: {
      [`mint:${Number(plutusHash(1, agreesWithTwo) < plutusHash(3, refusesSaying("no way")))}`]: [{
        validatorFailed: { error: expect.stringContaining("the script fails"), traces: ["no way"] },
      }],
    },
  });
  expect(await failing(of([undefined, undefined, agrees], { provided: false }))).toEqual({
    ScriptFailures: {
      "mint:0": [{
        missingRequiredScripts: { missing: ["mint:0"], resolved: { "mint:0": plutusHash(3, agrees) } },
      }],
    },
  });
  const nowhere = { txHash: "ab".repeat(32), index: 3 };
  expect(await failing(of([undefined, undefined, agrees], { input: nowhere }))).toEqual({
    CannotCreateEvaluationContext: {
      reason: `Unknown transaction input (missing from UTxO set): ${nowhere.txHash}#3`,
    },
  });
  expect(await evaluate(api, of([undefined, undefined, agrees], { input: nowhere }), "?version=6")).toMatchObject({
    jsonrpc: "2.0",
    error: { code: 3004, data: { reason: expect.stringContaining(nowhere.txHash) } },
  });
  expect(await evaluate(api, of([undefined, undefined, refuses]), "?version=6")).toMatchObject({
    error: { code: 3010, data: [{ validator: { purpose: "mint", index: 0 }, error: { code: 3012 } }] },
  });

  // the eras end 3k slots after the tip, at the end of an epoch
  const validTo = Number((await api.get<{ end: Row }[]>("/network/eras")).at(-1)!.end.slot);
  expect(await failing(of([undefined, undefined, agrees], { validTo }))).toEqual({
    CannotCreateEvaluationContext: {
      reason: expect.stringMatching(
        new RegExp(
          "^Uncomputable slot arithmetic; transaction's validity bounds go beyond the foreseeable end of the current era: " +
            `PastHorizon: slot ${validTo} `,
        ),
      ),
    },
  });
  const near = await evaluate(api, of([undefined, undefined, agrees], { validTo: validTo - 1 }));
  expect(near.result).toEqual({ EvaluationResult: { "mint:0": expect.anything() } });

  // no redeemers: nothing to evaluate
  const plain = spend({ from: alice, inputs: [coin], outputs: [[alice.base, 49n * ada]] });
  expect((await evaluate(api, toHex(plain.cbor))).result).toEqual({ EvaluationResult: {} });

  for (const body of ["no hexadecimal!", "", "84a5z!"]) {
    expect(await evaluate(api, body)).toMatchObject({
      type: "jsonwsp/fault",
      fault: { code: "client", string: "Invalid request: failed to decode payload from base64 or base16." },
    });
  }
  expect(await evaluate(api, "84a0a0f5")).toMatchObject({
    type: "jsonwsp/fault",
    fault: { string: expect.stringContaining("Deserialisation failure") },
  });
  expect(await evaluate(api, "84a0a0f5", "?version=6")).toMatchObject({ error: { code: -32602 } });
  // far larger than any transaction: it is not decoded
  expect(await evaluate(api, "84".repeat(200_000))).toMatchObject({
    fault: { string: expect.stringContaining("the maximum size is 16384") },
  });
  const wrongType = { body: "84a0", headers: { "content-type": "text/plain" } };
  expect(await api.send("POST", "/utils/txs/evaluate", wrongType)).toMatchObject({ status: 415 });
  for (const body of [{}, { cbor: 1 }, [], "x"]) {
    const init = { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    expect(await api.send("POST", "/utils/txs/evaluate/utxos", init)).toMatchObject({ status: 400 });
  }
});

test("clients of Yaci Store submit and evaluate text, and take 202 as success", async () => {
  const devnet = await start();
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const measure = async (input: Parameters<typeof measureRedeemers>[0]) => measureRedeemers(input);
  const app = blockfrostApp({ devnet, store: world.store, measure, log: silentLog });
  const post = async (path: string, body: string, type: string) => {
    const response = await app.request(path, { method: "POST", body, headers: { "content-type": type } });
    return { status: response.status, body: parseJson(await response.text()) };
  };
  const { cbor, hash } = spend({ from: alice, inputs: [coin], outputs: [[alice.base, 49n * ada]] });
  const evaluated = await post("/api/v1/utils/txs/evaluate", toHex(cbor), "application/cbor");
  expect(evaluated).toMatchObject({ status: 202, body: { result: { EvaluationResult: {} } } });
  expect(await post("/api/v0/tx/submit", toHex(cbor), "text/plain")).toMatchObject({ status: 415 });
  expect(await post("/api/v1/tx/submit", "no hexadecimal", "text/plain")).toMatchObject({ status: 400 });
  expect(await post("/api/v1/tx/submit", toHex(cbor), "text/plain")).toEqual({ status: 202, body: hash });
  expect(devnet.mempool().map(({ transaction }) => transaction.hash)).toEqual([hash]);
});

test("additional outputs count as if they were on the chain", async () => {
  const devnet = await start();
  const api = apiOf(devnet);
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const locked: OutRef = { txHash: "cd".repeat(32), index: 1 };
  const holder: OutRef = { txHash: "ef".repeat(32), index: 0 };
  const transaction = spending([locked, coin.ref], [holder], locked);
  const script = {
    address: hexAddressText(alice.base),
    value: { coins: 2_000_000 },
    script: { "plutus:v3": toHex(agrees) },
  };
  const output = {
    address: hexAddressText(scriptAddress(0, plutusHash(3, agrees)).hex),
    value: { coins: "5000000", assets: { [`${"aa".repeat(28)}.beef`]: 3 } },
    datum: toHex(DATA),
  };
  const pair = ({ txHash, index }: OutRef, of: object) => [{ txId: txHash, index }, of];
  const additionalUtxoSet = [pair(locked, output), pair(holder, script)];
  const cbor = toHex(transaction);
  const index = Number(locked.txHash > coin.ref.txHash);
  const { result } = await evaluateUtxos(api, { cbor, additionalUtxoSet });
  expect(result).toEqual({
    EvaluationResult: { [`spend:${index}`]: { memory: expect.any(Number), steps: expect.any(Number) } },
  });
  // without the script, and without the output that is spent
  expect(
    (await evaluateUtxos(api, {
      cbor,
      additionalUtxoSet: [pair(locked, output), pair(holder, { ...script, script: null })],
    })).result,
  )
    .toMatchObject({ EvaluationFailure: { ScriptFailures: { [`spend:${index}`]: [{ missingRequiredScripts: {} }] } } });
  expect((await evaluateUtxos(api, { cbor, additionalUtxoSet: [pair(holder, script)] })).result).toEqual({
    EvaluationFailure: { ScriptFailures: { [`spend:${index}`]: [{ extraRedeemers: [`spend:${index}`] }] } },
  });
  // in the form of version 6
  const six = [
    {
      transaction: { id: locked.txHash },
      index: 1,
      address: output.address,
      value: { ada: { lovelace: 5_000_000 }, ["aa".repeat(28)]: { beef: 3 } },
      datum: output.datum,
    },
    {
      transaction: { id: holder.txHash },
      index: 0,
      address: script.address,
      value: { ada: { lovelace: 2_000_000 } },
      script: { language: "plutus:v3", cbor: toHex(agrees) },
    },
  ];
  expect((await evaluateUtxos(api, { cbor, additionalUtxoSet: six })).result).toEqual(result);
  // an output of the chain: the same again is no contradiction, another is
  const known = { address: hexAddressText(alice.base), value: { coins: 50_000_000 } };
  expect((await evaluateUtxos(api, { cbor, additionalUtxoSet: [...additionalUtxoSet, pair(coin.ref, known)] })).result)
    .toEqual(result);
  const other = { ...known, value: { coins: 1 } };
  expect((await evaluateUtxos(api, { cbor, additionalUtxoSet: [...additionalUtxoSet, pair(coin.ref, other)] })).result)
    .toEqual({ EvaluationFailure: { AdditionalUtxoOverlap: [{ txId: coin.ref.txHash, index: coin.ref.index }] } });
  const malformed = [
    { additionalUtxoSet: {} },
    { additionalUtxoSet: [[{ txId: "ab", index: 0 }, known]] },
    { additionalUtxoSet: [[{ txId: locked.txHash, index: -1 }, known]] },
    { additionalUtxoSet: [[{ txId: locked.txHash, index: 0 }, { address: "x", value: { coins: 1 } }]] },
    { additionalUtxoSet: [[{ txId: locked.txHash, index: 0 }, { ...known, value: { coins: 1.5 } }]] },
    { additionalUtxoSet: [[{ txId: locked.txHash, index: 0 }, { ...known, datum: "ff" }]] },
    { additionalUtxoSet: [[{ txId: locked.txHash, index: 0 }, { ...known, script: { "plutus:v9": "00" } }]] },
  ];
  for (const body of malformed) {
    const init = { body: JSON.stringify({ cbor, ...body }), headers: { "content-type": "application/json" } };
    const { status, text } = await api.send("POST", "/utils/txs/evaluate/utxos", init);
    expect(status, text).toBe(400);
  }
});

/** The address of a path by another library. */
function derived(xpub: string, role: number, index: number): string {
  const account = csl.Bip32PublicKey.from_bytes(fromHex(xpub));
  const credential = (...path: readonly number[]) =>
    csl.Credential.from_keyhash(path.reduce((key, at) => key.derive(at), account).to_raw_key().hash());
  return csl.BaseAddress.new(0, credential(role, index), credential(2, 0)).to_address().to_bech32();
}

/** A transaction, not complete, that spends an output of a script with a reference script. */
function spending(inputs: readonly OutRef[], references: readonly OutRef[], locked: OutRef): Uint8Array {
  const sorted = [...inputs].sort((a, b) => a.txHash < b.txHash ? -1 : 1);
  const set = (refs: readonly OutRef[]) => new Tagged(258, refs.map(({ txHash, index }) => [fromHex(txHash), index]));
  const body = new Map<number, Encodable>([
    [0, set(sorted)],
    [1, [new Map<number, Encodable>([[0, fromHex(alice.base)], [1, 50n * ada]])]],
    [2, 0n],
    [18, set(references)],
  ]);
  const redeemers = new Map([[[0, sorted.indexOf(locked)], [new Encoded(DATA), [0, 0]]] as const]);
  return encode([body, new Map<number, Encodable>([[5, redeemers]]), true, null]);
}

test("refusals of a submission are those of cardano-submit-api", async () => {
  const devnet = await start({ mempoolBytes: 1_000 });
  const api = apiOf(devnet);
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  const pay = (inputs: readonly Utxo[], outputs: bigint, more = {}) =>
    spend({ from: alice, inputs, outputs: [[alice.base, outputs]], ...more });
  const refusedWith = async (cbor: Uint8Array) => {
    const { status, body } = await submit(api, cbor);
    expect(status).toBe(400);
    const message = (body as Row).message as string;
    const json = parseJson(message) as {
      tag: string;
      contents: { tag: string; contents: { contents: { error: string[] } } };
    };
    expect(json).toMatchObject({
      tag: "TxSubmitFail",
      contents: {
        tag: "TxCmdTxSubmitValidationError",
        contents: {
          tag: "TxValidationErrorInCardanoMode",
          contents: { era: "ShelleyBasedEraConway", kind: "ShelleyTxValidationError" },
        },
      },
    });
    return { failures: decodeRefusal(message), shown: json.contents.contents.contents.error };
  };
  const gone: Utxo = { ...coin, ref: { txHash: "ab".repeat(32), index: 7 } };
  const bad = await refusedWith(pay([coin, gone], 49n * ada).cbor);
  expect(bad.failures).toContainEqual({ name: "BadInputsUTxO", inputs: [gone.ref] });
  expect(bad.shown).toContain(
    `ConwayUtxowFailure (UtxoFailure (BadInputsUTxO (fromList [TxIn (TxId {unTxId = SafeHash "${gone.ref.txHash}"}) (TxIx {unTxIx = 7})])))`,
  );
  const cheap = await refusedWith(pay([coin], 50n * ada - 1n).cbor);
  expect(cheap.failures).toEqual([{ name: "FeeTooSmallUTxO", supplied: 1n, expected: expect.any(BigInt) }]);
  const late = await refusedWith(pay([coin], 49n * ada, { validTo: 0 }).cbor);
  expect(late.failures).toMatchObject([{ name: "OutsideValidityIntervalUTxO", to: 0 }]);
  const stranger = spend({ from: person("bob"), inputs: [coin], outputs: [[alice.base, 49n * ada]] });
  expect((await refusedWith(stranger.cbor)).failures).toMatchObject([
    { name: "MissingVKeyWitnessesUTXOW", keys: [alice.key] },
  ]);

  const noList = await submit(api, utf8("invalid CBOR"));
  expect(noList.status).toBe(400);
  const text = `DecoderErrorDeserialiseFailure "Shelley Tx" (DeserialiseFailure 0 "expected list len or indef")`;
  expect(parseJson((noList.body as Row).message as string)).toEqual({
    contents: { contents: Array.from({ length: 6 }, () => text), tag: "TxCmdTxReadError" },
    tag: "TxSubmitFail",
  });
  expect(decodeRefusal((noList.body as Row).message as string)[0]).toMatchObject({ name: "DeserialiseFailure" });
  expect(await submit(api, fromHex("84a0a0f5f6"))).toMatchObject({ status: 400 });
  const { tx } = found("indefinite-bytes-txid");
  const chunked = (await submit(api, fromHex(tx))).body as Row;
  expect(decodeRefusal(chunked.message as string)[0]).toMatchObject({
    name: "DeserialiseFailure",
    message: expect.stringContaining("a string of indefinite length"),
  });
  expect(await submit(api, new Uint8Array())).toMatchObject({ status: 400 });
  expect(await submit(api, pay([coin], 49n * ada).cbor, "application/json")).toMatchObject({
    status: 415,
    body: { error: "Unsupported Media Type" },
  });
  expect(await submit(api, new Uint8Array(1_100_000))).toMatchObject({ status: 413 });
  const large = await submit(api, new Uint8Array(200_000).fill(0x84));
  expect(large).toMatchObject({ status: 400 });

  // the first is in the mempool: it is refused again, and there is no room for many after it
  const [one] = [pay([coin], 49n * ada)];
  expect(await submit(api, one.cbor)).toMatchObject({ status: 200, body: one.hash });
  const included = "All inputs are spent. Transaction has probably already been included";
  const repeated = await refusedWith(one.cbor);
  expect(repeated.failures).toEqual([{ name: "ConwayMempoolFailure", message: included }]);
  expect(repeated.shown).toContain(`ConwayMempoolFailure "${included}"`);
  let next = pay(one.created, 48n * ada);
  let answer = await submit(api, next.cbor);
  for (let i = 0; i < 10 && answer.status === 200; i++) {
    next = pay(next.created, 47n * ada - BigInt(i) * ada);
    answer = await submit(api, next.cbor);
  }
  expect(answer).toMatchObject({
    status: 425,
    body: { error: "Mempool Full", message: "Mempool is full, please try resubmitting again later." },
  });
});

test("while the devnet does not run in this process, what needs it is 503", async () => {
  const devnet = await start();
  const api = apiOf(devnet);
  const coin = await give(devnet, alice.base, 50n * ada);
  await makeBlock(devnet);
  await devnet.stop();
  const { cbor } = spend({ from: alice, inputs: [coin], outputs: [[alice.base, 49n * ada]] });
  const headers = { "content-type": "application/cbor" };
  for (
    const answer of [
      await submit(api, cbor),
      await api.send("POST", "/utils/txs/evaluate", { body: toHex(cbor), headers }),
    ]
  ) {
    expect(answer).toMatchObject({ status: 503, body: { error: "Service Unavailable" } });
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
  }
  expect(await api.get(`/accounts/${aliceAccount}`)).toMatchObject({ controlled_amount: "50000000" });
  expect(await api.get("/mempool")).toEqual([]);
});

test("an address below an account key is that of other libraries", async () => {
  const api = apiOf(await start());
  // the account key and the address of the description's example
  const xpub =
    "d507c8f866691bd96e131334c355188b1a1d0b2fa0ab11545075aab332d77d9eb19657ad13ee581b56b0f8d744d66ca356b93d42fe176b3de007d53e9c4c4e7a";
  const at = async (role: number, index: number) =>
    (await api.get<Row>(`/utils/addresses/xpub/${xpub}/${role}/${index}`)).address;
  expect(await api.get(`/utils/addresses/xpub/${xpub}/0/2`)).toEqual({
    xpub,
    role: 0,
    index: 2,
    address: derived(xpub, 0, 2),
  });
  expect(await at(1, 2147483647)).toBe(derived(xpub, 1, 2147483647));
  expect(await at(2, 5)).toBe(await at(2, 0));
  const path = `/utils/addresses/xpub/${xpub}`;
  const table: readonly (readonly [string, readonly unknown[]])[] = [
    ["/utils/addresses/xpub/stonks/0/0", [400, "Invalid or malformed xpub format. Has to be hex of length 128."]],
    [`/utils/addresses/xpub/${xpub.slice(2)}/0/0`, [
      400,
      "Invalid or malformed xpub format. Has to be hex of length 128.",
    ]],
    [`${path}/-1/0`, [400, "Missing, out of range or malformed role."]],
    [`${path}/2147483649/0`, [400, "Missing, out of range or malformed role."]],
    [`${path}/0/-1`, [400, "Missing, out of range or malformed index."]],
    [`${path}/0/2147483649`, [400, "Missing, out of range or malformed index."]],
    [`${path}/stonks/0`, [400, "params/role must be integer"]],
    [`${path}/0/stonks`, [400, "params/index must be integer"]],
  ];
  for (const [url, answer] of table) expect([url, ...await api.refused(url)]).toEqual([url, ...answer]);
});

test("data nested 10,000 deep, inline and in a witness set, goes into a block and the index; its bytes can be read", async () => {
  const devnet = await start();
  const api = apiOf(devnet);
  const nested = (end: number) => new Uint8Array([...new Uint8Array(10_000).fill(0x81), end]);
  /** A transaction with such data, and the datums of its witness set. */
  const send = async (datum: Encodable, datums?: Uint8Array, metadata?: Uint8Array) => {
    const coin = await give(devnet, alice.base, 100n * ada);
    await makeBlock(devnet);
    const output = [[0, fromHex(alice.base)], [1, 98n * ada], [2, datum]] as const;
    const body = encode(
      new Map<number, Encodable>([
        [0, new Tagged(258, [[fromHex(coin.ref.txHash), coin.ref.index]])],
        [1, [new Map<number, Encodable>(output)]],
        [2, 2n * ada],
        ...(metadata ? [[7, blake2b256(metadata)] as const] : []),
        // no redeemers and no languages
        ...(datums ? [[11, blake2b256(Uint8Array.of(0xa0, ...datums, 0xa0))] as const] : []),
      ]),
    );
    const key = [publicKey(alice.seed), sign(alice.seed, blake2b256(body))];
    const witnesses = new Map<number, Encodable>([[0, new Tagged(258, [key])]]);
    if (datums) witnesses.set(4, new Encoded(datums));
    const { status, text } = await submit(
      api,
      encode([new Encoded(body), witnesses, true, metadata ? new Encoded(metadata) : null]),
    );
    expect([status, text]).toEqual([200, JSON.stringify(hash256(body))]);
    await makeBlock(devnet);
  };
  const [inline, witness] = [nested(1), nested(2)];
  await send([1, new Tagged(24, inline)]);
  await send([0, blake2b256(witness)], encode(new Tagged(258, [new Encoded(witness)])));
  expect(devnet.mempool()).toEqual([]);
  for (const bytes of [inline, witness]) {
    const hash = hash256(bytes);
    const path = `/scripts/datum/${hash}`;
    expect(await api.get(`${path}/cbor`)).toEqual({ cbor: toHex(bytes) });
    expect(await api.refused(path)).toEqual([
      400,
      `The datum is nested too deeply for JSON. Read ${path}/cbor.`,
    ]);
  }
  // metadata, and what else is read from such transactions
  await send([0, blake2b256(inline)], undefined, encode(new Map([[7n, new Encoded(inline)]])));
  const hashes = (await api.get<Row[]>(`/addresses/${hexAddressText(alice.base)}/transactions?count=10`))
    .map(({ tx_hash }) => tx_hash as string);
  for (const hash of hashes) {
    for (const part of ["", "/utxos", "/redeemers", "/required_signers", "/metadata", "/withdrawals", "/cbor"]) {
      await api.get(`/txs/${hash}${part}`);
    }
  }
  expect(await api.get("/metadata/txs/labels/7/cbor")).toMatchObject([{ metadata: `a107${toHex(inline)}` }]);
});
