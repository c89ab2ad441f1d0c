/**
 * Transactions of every era in Ogmios' JSON, out of their bytes. Sets stand in the ledger's order, to which redeemers point.
 *
 * Each part is walked once and its members are written as they come.
 */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { asSet, CborError, decodeAll } from "#src/cardano/cbor.ts";
import { walkCertificate } from "#src/cardano/certificates.ts";
import { readVotes } from "#src/cardano/conway/governance.ts";
import { scriptHash } from "#src/cardano/conway/script.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { compareRefs, type OutRef, refKey, walkOutput, walkRef } from "#src/cardano/output.ts";
import { inLedgerOrder } from "#src/cardano/transaction.ts";
import { type Assets, walkAssets } from "#src/cardano/value.ts";
import { major, Walk } from "#src/cardano/walk.ts";
import { byronMembers } from "#src/ogmios/byron.ts";
import { addCertificate } from "#src/ogmios/certificates.ts";
import { validatorJson } from "#src/ogmios/evaluation.ts";
import type { JsonObject, OgmiosVersion } from "#src/ogmios/form.ts";
import { proposalJson, readStoredProposal, updateJson, votesJson } from "#src/ogmios/governance.ts";
import { labelsJson } from "#src/ogmios/metadata.ts";
import { outputJson } from "#src/ogmios/outputs.ts";
import { nativeScriptJson, plutusScriptJson } from "#src/ogmios/scripts.ts";
import { adaJson, addressJson, assetsJson, refJson, unitsJson } from "#src/ogmios/values.ts";
import { PURPOSES } from "#src/plutus/types.ts";

/** How transactions are written. */
export interface TransactionForm {
  readonly version: OgmiosVersion;
  /** Whether transactions, native scripts and metadata have their CBOR too (`--include-cbor`). */
  readonly cbor?: boolean | undefined;
  /** Whether values of metadata state their type (`--metadata-detailed-schema`). */
  readonly detailedMetadata?: boolean | undefined;
}

/** First era whose transactions state whether they are valid. */
const ALONZO = 5;
const CONWAY = 7;

type Members = { [name: string]: Json };

/**
 * A transaction; `era` is that of its block, the newest for one without a block.
 *
 * @throws CborError for bytes that no ledger accepts
 */
export function transactionJson(transaction: ScannedTransaction, form: TransactionForm, era = CONWAY): Members {
  const withCbor = form.cbor === true;
  const json: Members = { id: transaction.hash, spends: transaction.valid ? "inputs" : "collaterals", inputs: [] };
  if (transaction.body[0] === undefined || transaction.body[0] >> 5 === major.array) {
    Object.assign(json, byronMembers(transaction, form.version));
  } else {
    if (form.version === 6 || era === ALONZO) {
      json.outputs = [];
      json.validityInterval = {};
    }
    const auxiliaryHash = addBody(transaction.body, json, withCbor);
    const scripts = new Scripts(withCbor);
    if (transaction.auxiliaryData) addAuxiliary(transaction.auxiliaryData, auxiliaryHash, json, scripts, form);
    addWitnesses(transaction.witnesses, json, scripts);
    if (scripts.found) json.scripts = scripts.found;
  }
  if (withCbor) json.cbor = cborOf(transaction, era);
  return json;
}

/** The whole transaction in the form of its era, in hexadecimal. */
function cborOf({ body, witnesses, valid, auxiliaryData }: ScannedTransaction, era: number): string {
  if (body[0] === undefined || body[0] >> 5 === major.array) return `82${toHex(body)}${toHex(witnesses)}`;
  const auxiliary = auxiliaryData ? toHex(auxiliaryData) : "f6";
  const validity = era < ALONZO ? "" : valid ? "f5" : "f4";
  return `${era < ALONZO ? "83" : "84"}${toHex(body)}${toHex(witnesses)}${validity}${auxiliary}`;
}

/** Adds what a body says; gives the hash of the auxiliary data that it states. */
function addBody(body: Uint8Array, json: Members, withCbor: boolean): string | undefined {
  const walk = new Walk(body);
  const interval: Members = {};
  const treasury: Members = {};
  const proposals: JsonObject[] = [];
  const votes: JsonObject[] = [];
  let auxiliaryHash: string | undefined;
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    switch (walk.uint()) {
      case 0:
        json.inputs = refsJson(walk);
        break;
      case 1: {
        const outputs = walk.each(walk.array(), () => outputJson(walkOutput(walk), withCbor));
        if (outputs.length > 0) json.outputs = outputs;
        break;
      }
      case 2:
        json.fee = adaJson(walk.int());
        break;
      case 3:
        interval.invalidAfter = jsonInteger(walk.int());
        break;
      case 4: {
        const certificates: JsonObject[] = [];
        const moves: JsonObject[] = [];
        for (let j = 0, of = walk.set(); walk.more(j, of); j++) {
          addCertificate(walkCertificate(walk), certificates, moves);
        }
        if (certificates.length > 0) json.certificates = certificates as Json[];
        for (const action of moves) proposals.push({ action: action as Json });
        break;
      }
      case 5: {
        const withdrawals = walk.each(walk.map(), () => ({ account: walk.hex(), amount: walk.int() }));
        if (withdrawals.length > 0) {
          json.withdrawals = Object.fromEntries(
            inLedgerOrder(withdrawals).map(({ account, amount }) => [addressJson(account), adaJson(amount)]),
          );
        }
        break;
      }
      case 6: {
        const update = updateJson(walk.raw());
        votes.push(...update.votes);
        for (const action of update.actions) proposals.push({ action: action as Json });
        break;
      }
      case 7:
        auxiliaryHash = walk.hex();
        break;
      case 8:
        interval.invalidBefore = jsonInteger(walk.int());
        break;
      case 9: {
        const mint = walkAssets(walk);
        if (mint.size > 0) json.mint = assetsJson(byPolicy(mint));
        break;
      }
      case 11:
        json.scriptIntegrityHash = walk.hex();
        break;
      case 13:
        addList(json, "collaterals", refsJson(walk));
        break;
      case 14:
        addList(json, "requiredExtraSignatories", [...new Set(walk.each(walk.set(), () => walk.hex()))].sort());
        break;
      case 15:
        json.network = walk.uint() === 1 ? "mainnet" : "testnet";
        break;
      case 16:
        json.collateralReturn = outputJson(walkOutput(walk), withCbor);
        break;
      case 17:
        json.totalCollateral = adaJson(walk.int());
        break;
      case 18:
        addList(json, "references", refsJson(walk));
        break;
      case 19:
        votes.push(...votesJson(readVotes(decodeAll(walk.raw()))));
        break;
      case 20:
        for (const proposal of asSet(decodeAll(walk.raw()))) proposals.push(proposalJson(readStoredProposal(proposal)));
        break;
      case 21:
        treasury.value = adaJson(walk.int());
        break;
      case 22:
        treasury.donation = adaJson(walk.int());
        break;
      default:
        walk.skip();
    }
  }
  if (json.validityInterval || Object.keys(interval).length > 0) json.validityInterval = interval;
  if (Object.keys(treasury).length > 0) json.treasury = treasury;
  addList(json, "proposals", proposals as Json[]);
  addList(json, "votes", votes as Json[]);
  return auxiliaryHash;
}

function addList(json: Members, name: string, list: Json[]): void {
  if (list.length > 0) json[name] = list;
}

/** References of a set, in order and each once; most are written so. */
function refsJson(walk: Walk): Json[] {
  let refs: OutRef[] = walk.each(walk.set(), walkRef);
  const isInOrder = refs.every((ref, i) => i === 0 || compareRefs(refs[i - 1] as OutRef, ref) < 0);
  if (!isInOrder) refs = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()].sort(compareRefs);
  return refs.map(refJson);
}

/** Assets in the order of their policies. */
function byPolicy(assets: Assets): Assets {
  const policies = new Set<string>();
  for (const asset of assets.keys()) policies.add(asset.slice(0, 56));
  return policies.size < 2 ? assets : new Map([...assets].sort(([a], [b]) => a < b ? -1 : 1));
}

/** Scripts of a transaction by their hash. */
class Scripts {
  found: Members | undefined;
  readonly #withCbor: boolean;

  constructor(withCbor: boolean) {
    this.#withCbor = withCbor;
  }

  native(cbor: Uint8Array): string {
    return this.#add(scriptHash(0, cbor), nativeScriptJson(cbor, this.#withCbor));
  }

  plutus(language: 1 | 2 | 3, bytes: Uint8Array): string {
    return this.#add(scriptHash(language, bytes), plutusScriptJson(language, bytes));
  }

  #add(hash: string, json: JsonObject): string {
    (this.found ??= {})[hash] = json as Json;
    return hash;
  }
}

function addAuxiliary(
  bytes: Uint8Array,
  hash: string | undefined,
  json: Members,
  scripts: Scripts,
  form: TransactionForm,
): void {
  const { metadata, native, plutus } = readAuxiliaryData(bytes);
  json.metadata = { hash: hash ?? hash256(bytes), labels: labelsJson(metadata, form) as Json };
  const hashes = [
    ...native.map((script) => scripts.native(script)),
    ...plutus.map(({ language, bytes }) => scripts.plutus(language, bytes)),
  ];
  addList(json, "requiredExtraScripts", [...new Set(hashes)].sort());
}

/** Language of Plutus by the field of its scripts in a witness set. */
const LANGUAGES = { 3: 1, 6: 2, 7: 3 } as const;

function addWitnesses(witnesses: Uint8Array, json: Members, scripts: Scripts): void {
  const walk = new Walk(witnesses);
  const signatories: Json[] = [];
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    const field = walk.uint();
    switch (field) {
      case 0:
        for (let j = 0, of = walk.set(); walk.more(j, of); j++) {
          signatories.push(walk.within("signature", 2, 2, () => ({ key: walk.hex(), signature: walk.hex() })));
        }
        break;
      case 1:
        for (let j = 0, of = walk.set(); walk.more(j, of); j++) scripts.native(walk.raw());
        break;
      case 2:
        for (let j = 0, of = walk.set(); walk.more(j, of); j++) signatories.push(walkBootstrap(walk));
        break;
      case 3:
      case 6:
      case 7:
        for (let j = 0, of = walk.set(); walk.more(j, of); j++) scripts.plutus(LANGUAGES[field], walk.bytes());
        break;
      case 4: {
        const datums = walk.each(walk.set(), () => walk.raw());
        if (datums.length > 0) json.datums = Object.fromEntries(datums.map((datum) => [hash256(datum), toHex(datum)]));
        break;
      }
      case 5:
        addList(json, "redeemers", walkRedeemers(walk));
        break;
      default:
        walk.skip();
    }
  }
  json.signatories = signatories;
}

function walkBootstrap(walk: Walk): Json {
  return walk.within("Byron signature", 4, 4, () => {
    const [key, signature, chainCode, attributes] = [walk.hex(), walk.hex(), walk.hex(), walk.hex()];
    return { key, signature, chainCode, ...(attributes === "" ? {} : { addressAttributes: attributes }) };
  });
}

/** Redeemers in either of their forms: a map (Conway), or a list. */
function walkRedeemers(walk: Walk): Json[] {
  const found: { readonly tag: number; readonly index: number; readonly json: Json }[] = [];
  const pointer = () => [walk.uint(), walk.uint()] as const;
  const add = ([tag, index]: readonly [number, number]) => {
    const purpose = PURPOSES[tag];
    if (!purpose) throw new CborError(`no purpose ${tag} of a redeemer`);
    const redeemer = toHex(walk.raw());
    const executionUnits = walk.within("units", 2, 2, () => unitsJson({ memory: walk.int(), steps: walk.int() }));
    found.push({ tag, index, json: { validator: validatorJson({ purpose, index }), redeemer, executionUnits } });
  };
  if (walk.major === major.map) {
    for (let i = 0, of = walk.map(); walk.more(i, of); i++) {
      const key = walk.within("redeemer", 2, 2, pointer);
      walk.within("redeemer", 2, 2, () => add(key));
    }
  } else {
    for (let i = 0, of = walk.array(); walk.more(i, of); i++) walk.within("redeemer", 4, 4, () => add(pointer()));
  }
  return found.sort((a, b) => a.tag - b.tag || a.index - b.index).map(({ json }) => json);
}
