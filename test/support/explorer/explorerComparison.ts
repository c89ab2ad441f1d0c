/** Every entity of a chain, asked of the explorer's service and of the oracle: differences, and what was covered. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { createRequire } from "node:module";

import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { as, asSet, decode, entry, raw } from "#src/cardano/cbor.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { policyOf } from "#src/cardano/value.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import type { ExplorerChain } from "./explorerChain.ts";
import type { Oracle } from "./explorerOracle.ts";
import { Matching, Near, Now, oracleAnswers, type Parameters, Tied, Values } from "./explorerOracleDocuments.ts";

/** Something that answers like the explorer's service: the status and the body of a path. */
export type Ask = (path: string, init?: RequestInit) => Promise<{ readonly status: number; readonly text: string }>;

/** The service of a chain's devnet. */
export function serviceOf({ devnet, store }: ExplorerChain): Ask {
  const app = blockfrostApp({ devnet, store, measure: async (input) => measureRedeemers(input), log: silentLog });
  return async (path, init) => {
    const response = await app.request("/api/v0" + path, init);
    return { status: response.status, text: await response.text() };
  };
}

/** Operations that never have content on a devnet, and why. */
export const WITHOUT_CONTENT: ReadonlyMap<string, string> = new Map([
  ["/txs/{hash}/mirs", "no certificate of Conway moves instantaneous rewards"],
  ["/accounts/{stake_address}/mirs", "no certificate of Conway moves instantaneous rewards"],
  ["/pools/{pool_id}/votes", "votes are checked and not kept"],
]);

/** Fields that never have a value on a devnet, and why. */
export const WITHOUT_VALUE: readonly (readonly [field: RegExp, why: string])[] = [
  [/\/mirs /, "no certificate of Conway moves instantaneous rewards"],
  [/\/votes /, "votes are checked and not kept"],
  [/^\/blocks\/latest \.next_block$/, "the newest block has no next one"],
  [/ \.extra_entropy$/, "ended with Babbage"],
  [/ \.calidus_key\./, "registered by metadata of CIP-151, which is not read"],
  [/metadata\.error\.|\/metadata \.error\./, "metadata of other pools are not fetched"],
  [
    /^\/txs\/\{hash\}\/pool_updates .*metadata\.(ticker|name|description|homepage)$/,
    "metadata of other pools are not fetched",
  ],
  [/^\/assets\/\{asset\} \.metadata\./, "a devnet has no token registry"],
];

interface Question {
  readonly operation: string;
  readonly path: Parameters;
  readonly query: Parameters;
}

/** A value that the service gave and another that it should have given. */
export interface Difference {
  readonly url: string;
  readonly at: string;
  readonly expected: unknown;
  readonly found: unknown;
}

export class Comparison {
  readonly differences: Difference[] = [];
  /** Answers compared, by operation: in all, and those with content. */
  readonly answers = new Map<string, { all: number; found: number; full: number }>();
  /** Fields of documents that had a value in some comparison: `operation field`. */
  readonly covered = new Set<string>();

  constructor(private readonly ask: Ask, private readonly random: () => number) {}

  /**
   * Compares the answers about a chain: at most `most` questions of an operation, chosen at random, and such that cover fields
   * that were not covered yet.
   */
  async run(oracle: Oracle, most = Infinity): Promise<void> {
    const byOperation = Map.groupBy(questions(oracle), ({ operation }) => operation);
    for (const [operation, all] of byOperation) {
      for (const question of this.choose(all, most)) await this.compare(oracle, question);
      if (most === Infinity) continue;
      const whole = all.filter(({ query }) => Object.keys(query).length === 0);
      for (const question of this.choose(whole, 300)) {
        if (this.uncovered([operation]).length === 0) break;
        const { path, query } = question;
        const fresh = [...filled(oracleAnswers[operation]!(oracle, path, query))].some((field) =>
          !this.covered.has(`${operation} ${field}`)
        );
        if (fresh) await this.compare(oracle, question);
      }
    }
  }

  /** Answers of an operation that were not 404. */
  found(operation: string): number {
    return this.answers.get(operation)?.found ?? 0;
  }

  /** Answers compared, and those with content. */
  total(): { readonly all: number; readonly full: number } {
    const counts = [...this.answers.values()];
    const sum = (of: "all" | "full") => counts.reduce((total, one) => total + one[of], 0);
    return { all: sum("all"), full: sum("full") };
  }

  private choose<T>(all: readonly T[], most: number): readonly T[] {
    if (all.length <= most) return all;
    return all.map((one) => [this.random(), one] as const).sort(([a], [b]) => a - b).slice(0, most).map(([, one]) =>
      one
    );
  }

  private async compare(oracle: Oracle, question: Question): Promise<void> {
    const { operation, path, query } = question;
    const search = new URLSearchParams(query).toString();
    const url = operation.replace(/\{(\w+)\}/g, (_, name: string) => path[name]!) + (search ? `?${search}` : "");
    const expected = oracleAnswers[operation]!(oracle, path, query);
    const { status, text } = await this.ask(url);
    const counts = this.answers.get(operation) ?? { all: 0, found: 0, full: 0 };
    this.answers.set(operation, counts);
    counts.all++;
    const wanted = expected === undefined ? 404 : 200;
    if (status !== wanted) {
      this.differences.push({ url, at: "status", expected: wanted, found: `${status} ${text.slice(0, 200)}` });
      return;
    }
    if (expected === undefined) return;
    counts.found++;
    if (isFull(expected)) counts.full++;
    if (expected instanceof Tied) await this.comparePages(url, parseJson(text));
    this.differ(url, operation, "", expected, parseJson(text));
  }

  /** Pages of a list that has no order of its own are parts of the whole list all the same. */
  private async comparePages(url: string, whole: Json): Promise<void> {
    for (const page of [1, 2]) {
      const { text } = await this.ask(`${url}?count=2&page=${page}`);
      const expected = Array.isArray(whole) ? whole.slice(2 * page - 2, 2 * page) : whole;
      if (text !== toJson(expected)) {
        this.differences.push({ url: `${url}?count=2&page=${page}`, at: "", expected, found: text.slice(0, 300) });
      }
    }
  }

  private differ(url: string, operation: string, at: string, expected: unknown, found: Json | undefined): void {
    const add = (of: unknown = expected) => this.differences.push({ url, at, expected: of, found });
    if (expected instanceof Near) {
      // a quotient of a database has 16 digits or more
      const close = typeof found === "number" && Math.abs(found - expected.value) <= 1e-12 * Math.abs(expected.value);
      if (!close) add(expected.value);
      this.cover(operation, at, expected.value);
    } else if (expected instanceof Matching) {
      if (typeof found !== "string" || !expected.pattern.test(found)) add(String(expected.pattern));
      this.cover(operation, at, found);
    } else if (expected instanceof Now) {
      if (typeof found !== "number" || Math.abs(found - Date.now()) > 60_000) add("now");
      this.cover(operation, at, found);
    } else if (expected instanceof Values) {
      const values = isObject(found) ? Object.values(found) : [];
      this.differ(url, operation, at, [...expected.values].sort(), [...values].sort());
    } else if (expected instanceof Tied) {
      const sorted = (all: readonly unknown[]) =>
        all.map((one) => [toJson(one), one] as const).sort(([a], [b]) => a < b ? -1 : 1);
      const keyed = (all: readonly unknown[]) =>
        sorted(all.map((one) => isObject(one as Json) ? Object.fromEntries(Object.entries(one as object).sort()) : one))
          .map(([, one]) => one);
      if (!Array.isArray(found)) return void add(expected.elements);
      this.differ(url, operation, at, keyed(expected.elements.map(([, one]) => one)), keyed(found) as Json);
    } else if (Array.isArray(expected)) {
      if (!Array.isArray(found)) return void add();
      if (found.length !== expected.length) {
        this.differences.push({
          url,
          at: `${at}.length`,
          expected: `${expected.length}: ${short(expected)}`,
          found: `${found.length}: ${short(found)}`,
        });
      }
      for (let i = 0; i < Math.min(found.length, expected.length); i++) {
        this.differ(url, operation, `${at}[${i}]`, expected[i], found[i]);
      }
    } else if (typeof expected === "object" && expected !== null) {
      if (!isObject(found)) return void add();
      const fields = Object.entries(expected).filter(([, value]) => value !== undefined);
      for (const [name, value] of fields) this.differ(url, operation, `${at}.${name}`, value, found[name]);
      const names = new Set(fields.map(([name]) => name));
      for (const name of Object.keys(found)) {
        if (!names.has(name)) {
          this.differences.push({ url, at: `${at}.${name}`, expected: "no such field", found: found[name] });
        }
      }
    } else {
      if (!Object.is(expected, found)) add();
      this.cover(operation, at, expected);
    }
  }

  private cover(operation: string, at: string, value: unknown): void {
    if (value !== null && value !== "") this.covered.add(`${operation} ${at.replace(/\[\d+\]/g, "[]")}`);
  }

  /** Fields of the description that had no value in any comparison: `operation field`. */
  uncovered(operations = Object.keys(oracleAnswers)): string[] {
    return operations.flatMap((operation) =>
      fieldsOf(schemas[operation]?.response?.["200"]).map((field) => `${operation} ${field}`)
    ).filter((field) =>
      ![...this.covered].some((one) => one === field || /^[.[]/.test(one.slice(field.length)) && one.startsWith(field))
    );
  }

  /** Operations that never had content. */
  empty(): string[] {
    return Object.keys(oracleAnswers).filter((operation) => !this.answers.get(operation)?.full);
  }
}

/** Places of values in a document, as in `covered`. */
function* filled(document: unknown, at = ""): Iterable<string> {
  if (document instanceof Tied) yield* filled(document.elements.map(([, one]) => one), at);
  else if (
    document instanceof Near || document instanceof Matching || document instanceof Values || document instanceof Now
  ) yield at;
  else if (Array.isArray(document)) { for (const one of document) yield* filled(one, `${at}[]`); }
  else if (typeof document === "object" && document !== null) {
    for (const [name, one] of Object.entries(document)) yield* filled(one, `${at}.${name}`);
  } else if (document !== undefined && document !== null && document !== "") yield at;
}

const schemas = createRequire(import.meta.url)("@blockfrost/openapi/json-schema.json") as Record<string, Schema>;

/** Paths of all operations of Blockfrost's description. */
export function describedOperations(): string[] {
  return Object.keys(schemas);
}

interface Schema {
  readonly response?: { readonly "200"?: Schema };
  readonly type?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

function fieldsOf(schema: Schema | undefined, at = ""): string[] {
  if (!schema) return [];
  const { items, properties, anyOf } = schema;
  if (items) return fieldsOf(items, `${at}[]`);
  if (anyOf) {
    return [...new Set(anyOf.filter((one) => one.properties ?? one.items).flatMap((one) => fieldsOf(one, at)))];
  }
  if (properties) return Object.entries(properties).flatMap(([name, one]) => fieldsOf(one, `${at}.${name}`));
  return [at];
}

function isFull(document: unknown): boolean {
  if (document instanceof Tied) return document.elements.length > 0;
  return Array.isArray(document) ? document.length > 0 : true;
}

const short = (value: unknown) => toJson(value).slice(0, 300);

// ---------------------------------------------------------------- questions

/** An account's key of a test. */
function masterKey(): csl.Bip32PrivateKey {
  const root = csl.Bip32PrivateKey.from_bip39_entropy(new Uint8Array(16).fill(7), new Uint8Array());
  return [1852, 1815, 0].reduce((key, at) => key.derive(at + 2 ** 31), root);
}

const UNKNOWN = "00".repeat(32);
const PAGES: readonly Parameters[] = [
  {},
  { order: "desc" },
  { count: "2", page: "1" },
  { count: "3", page: "2" },
  { count: "2", page: "2", order: "desc" },
  { count: "1", page: "7" },
];
const PAGES_WITHOUT_ORDER = PAGES.filter(({ order }) => !order);

/** All questions about a chain: every entity, some that do not exist, pages in both orders, and ranges. */
function questions(oracle: Oracle): Question[] {
  const { blocks, txs, outputs } = oracle;
  const all: Question[] = [];
  const ask = (operation: string, path: Parameters = {}, queries: readonly Parameters[] = [{}]) => {
    if (!(operation in oracleAnswers)) throw new Error(`the oracle does not know ${operation}`);
    for (const query of queries) all.push({ operation, path, query });
  };
  const ranges = (): Parameters[] => {
    const height = (share: number) => Math.floor((blocks.length - 1) * share);
    return [
      { from: String(height(0.3)) },
      { to: String(height(0.6)) },
      { from: String(height(0.2)), to: String(height(0.7)), order: "desc" },
      { from: `${height(0.4)}:1`, to: `${height(0.9) + 1}:0`, count: "5" },
    ];
  };

  ask("/blocks/latest");
  ask("/blocks/latest/txs", {}, PAGES);
  ask("/blocks/latest/txs/cbor", {}, PAGES);
  for (const { hash, height } of [...blocks, { hash: UNKNOWN, height: 1_000_000 }]) {
    for (const id of [hash, String(height)]) {
      const hash_or_number = id;
      ask("/blocks/{hash_or_number}", { hash_or_number });
      ask("/blocks/{hash_or_number}/next", { hash_or_number }, PAGES_WITHOUT_ORDER);
      ask("/blocks/{hash_or_number}/previous", { hash_or_number }, PAGES_WITHOUT_ORDER);
      ask("/blocks/{hash_or_number}/txs", { hash_or_number }, PAGES);
      ask("/blocks/{hash_or_number}/txs/cbor", { hash_or_number }, PAGES);
      ask("/blocks/{hash_or_number}/addresses", { hash_or_number }, PAGES_WITHOUT_ORDER);
    }
  }
  const { epochLength } = oracle.genesis.terms;
  for (let slot = 0; slot <= oracle.tip!.slot + 1; slot++) {
    ask("/blocks/slot/{slot_number}", { slot_number: String(slot) });
    ask("/blocks/epoch/{epoch_number}/slot/{slot_number}", {
      epoch_number: String(Math.floor(slot / epochLength)),
      slot_number: String(slot % epochLength),
    });
  }
  ask("/genesis");
  const pools = [...new Set(oracle.poolEvents.map(({ pool }) => pool)), "00".repeat(28)];
  ask("/epochs/latest");
  ask("/epochs/latest/parameters");
  for (let epoch = 0; epoch <= oracle.epoch + 2; epoch++) {
    const number = String(epoch);
    ask("/epochs/{number}", { number });
    ask("/epochs/{number}/next", { number }, PAGES_WITHOUT_ORDER);
    ask("/epochs/{number}/previous", { number }, PAGES_WITHOUT_ORDER);
    ask("/epochs/{number}/stakes", { number });
    ask("/epochs/{number}/blocks", { number }, PAGES);
    ask("/epochs/{number}/parameters", { number });
    for (const pool of pools) {
      const pool_id = toBech32("pool", fromHex(pool));
      ask("/epochs/{number}/stakes/{pool_id}", { number, pool_id }, PAGES_WITHOUT_ORDER);
      ask("/epochs/{number}/blocks/{pool_id}", { number, pool_id }, PAGES);
    }
  }
  for (const operation of Object.keys(oracleAnswers).filter((one) => one.startsWith("/txs/{hash}"))) {
    for (const hash of [...txs.map((tx) => tx.hash), UNKNOWN]) ask(operation, { hash });
  }
  const accounts = new Set([
    ...outputs.flatMap(({ stake }) => stake ? [stake] : []),
    ...oracle.delegations.map(({ account }) => account),
    ...oracle.rewards.map(({ account }) => account),
    "k" + "00".repeat(28),
  ]);
  for (const account of accounts) {
    const stake_address = oracle.stakeAddress(account);
    for (const operation of Object.keys(oracleAnswers).filter((one) => one.startsWith("/accounts/"))) {
      const single = operation === "/accounts/{stake_address}" || operation.endsWith("/total");
      const ranged = operation.endsWith("/transactions");
      ask(operation, { stake_address }, single ? [{}] : ranged ? [...PAGES, ...ranges()] : PAGES);
    }
  }
  const units = [...new Set(txs.flatMap(({ mint }) => mint.map(([unit]) => unit)))];
  const addresses = [
    ...new Set(outputs.map(({ address }) => address)),
    // credentials of payment
    ...new Set(
      outputs.flatMap(({ payment }) =>
        payment ? [toBech32(payment.kind === "key" ? "addr_vkh" : "script", fromHex(payment.hash))] : []
      ),
    ),
    toBech32("addr_test", fromHex("60" + "00".repeat(28))),
  ];
  for (const address of addresses) {
    ask("/addresses/{address}", { address });
    ask("/addresses/{address}/extended", { address });
    ask("/addresses/{address}/total", { address });
    ask("/addresses/{address}/utxos", { address }, PAGES);
    ask("/addresses/{address}/txs", { address }, PAGES);
    ask("/addresses/{address}/transactions", { address }, [...PAGES, ...ranges()]);
    const held = outputs.filter((one) => one.address === address).flatMap(({ assets }) => assets.map(([unit]) => unit));
    for (const asset of [...new Set(held)].slice(0, 4).concat(units.slice(0, 1))) {
      ask("/addresses/{address}/utxos/{asset}", { address, asset }, PAGES);
    }
  }
  for (const operation of ["/pools", "/pools/extended", "/pools/retired", "/pools/retiring"]) ask(operation, {}, PAGES);
  for (const pool of pools) {
    for (const pool_id of [toBech32("pool", fromHex(pool)), pool]) {
      for (const operation of Object.keys(oracleAnswers).filter((one) => one.startsWith("/pools/{pool_id}"))) {
        const single = /(\}|metadata|relays)$/.test(operation);
        ask(operation, { pool_id }, single ? [{}] : PAGES);
      }
    }
  }
  ask("/assets", {}, PAGES);
  for (const asset of [...units, "00".repeat(30)]) {
    ask("/assets/{asset}", { asset });
    for (const list of ["history", "txs", "addresses"]) ask(`/assets/{asset}/${list}`, { asset }, PAGES);
    for (const list of ["transactions", "utxos"]) ask(`/assets/{asset}/${list}`, { asset }, [...PAGES, ...ranges()]);
  }
  for (const policy_id of [...new Set(units.map(policyOf)), "00".repeat(28)]) {
    ask("/assets/policy/{policy_id}", { policy_id }, PAGES);
  }
  ask("/scripts", {}, PAGES);
  for (
    const script_hash of new Set([...txs.flatMap(({ scripts }) => scripts.map(({ hash }) => hash)), "00".repeat(28)])
  ) {
    for (const single of ["", "/json", "/cbor"]) ask(`/scripts/{script_hash}${single}`, { script_hash });
    for (const list of ["redeemers", "utxos"]) ask(`/scripts/{script_hash}/${list}`, { script_hash }, PAGES);
  }
  // what only failed transactions carry is not known
  const failed = txs.filter(({ valid }) => !valid).map(({ scanned: { witnesses } }) => decode(witnesses));
  for (const witnesses of failed) {
    const plutus = entry(witnesses, 7), redeemers = entry(witnesses, 5);
    for (const item of plutus ? asSet(plutus) : []) {
      const script_hash = hash224(Uint8Array.from([3, ...as(item, "bytes").value]));
      for (const single of ["", "/json", "/cbor"]) ask(`/scripts/{script_hash}${single}`, { script_hash });
    }
    for (const [, argument] of redeemers ? as(redeemers, "map").value : []) {
      const [data] = as(argument, "array").value;
      ask("/scripts/datum/{datum_hash}", { datum_hash: hash256(raw(data!)) });
    }
  }
  const datums = new Set([
    ...txs.flatMap((tx) => [...tx.datums.keys()]),
    ...outputs.flatMap(({ dataHash }) => dataHash ?? []),
    UNKNOWN,
  ]);
  for (const datum_hash of datums) {
    ask("/scripts/datum/{datum_hash}", { datum_hash });
    ask("/scripts/datum/{datum_hash}/cbor", { datum_hash });
  }
  ask("/metadata/txs/labels", {}, PAGES);
  const labels = new Set(txs.flatMap(({ metadata }) => metadata.map(([label]) => String(label))));
  for (const label of [...labels, "424242"]) {
    ask("/metadata/txs/labels/{label}", { label }, PAGES);
    ask("/metadata/txs/labels/{label}/cbor", { label }, PAGES);
  }
  ask("/mempool", {}, PAGES);
  for (const { hash } of oracle.mempool) ask("/mempool/{hash}", { hash });
  ask("/mempool/{hash}", { hash: UNKNOWN });
  for (const address of addresses.filter((one) => one.startsWith("addr_test"))) {
    ask("/mempool/addresses/{address}", { address }, PAGES);
  }
  for (const one of ["/", "/health", "/health/clock", "/network", "/network/eras"]) ask(one);
  const xpub = toHex(masterKey().to_public().as_bytes());
  for (const [role, index] of [["0", "0"], ["1", "7"], ["2", "0"], ["3", "1"]] as const) {
    ask("/utils/addresses/xpub/{xpub}/{role}/{index}", { xpub, role, index });
  }
  return all;
}
