/**
 * What the contract guarantees of a transaction that all its scripts accept, checked on the whole transaction and
 * independently of the scripts' method: the facts themselves are changed, a root is that of all facts, tokens are
 * counted.
 *
 * A plan need not balance, as the ledger checks that: tokens of the policy that come from nowhere or vanish are
 * detected first.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concat, equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import { changeOf, type Datum, readDatum, type Request } from "#src/contract/datum.ts";
import { keyAddressData } from "#src/contract/plutusAddress.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { CONTRIBUTE, EMPTY, isOurs, NAME, order, type Plan, POLICY, SCRIPT, type Spend } from "./contractPlan.ts";
import { REFUSE } from "./scriptContext.ts";
import { sameData } from "../plutus/uplcJavascript.ts";

/**
 * The verdict on an accepted transaction: it breaks a promise, or it is impossible, since it does not balance or spends
 * a token from a place that it can reach only after a broken promise.
 */
export type Judgement = { readonly kind: "kept" | "impossible" } | { readonly kind: "broken"; readonly what: string };

const KEPT: Judgement = { kind: "kept" };
const broken = (what: string): Judgement => ({ kind: "broken", what });

interface Output {
  readonly data: Data;
  readonly address: Data;
  readonly lovelace: bigint;
  /** Tokens of the policy, by name in hexadecimal. */
  readonly tokens: ReadonlyMap<string, bigint>;
  /** Whether a value is lovelace only, with neither a datum nor a script. */
  readonly plain: boolean;
  /** Whether it has neither a datum nor a script. */
  readonly bare: boolean;
  /** The number of assets other than lovelace. */
  readonly assets: number;
  readonly datum: Data | undefined;
  readonly script: boolean;
}

function fields(data: Data | undefined): readonly Data[] {
  return data instanceof Constr ? data.fields : [];
}
function tokensIn(value: Data | undefined): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const [policy, names] of value instanceof DataMap ? value.entries : []) {
    if (!sameData(policy, POLICY) || !(names instanceof DataMap)) continue;
    for (const [name, quantity] of names.entries) {
      found.set(toHex(name as Uint8Array), (found.get(toHex(name as Uint8Array)) ?? 0n) + (quantity as bigint));
    }
  }
  return found;
}
function outputOf(data: Data): Output {
  const [address, value, datum, script] = fields(data);
  const entries = (value as DataMap).entries;
  const [, ada] = entries[0]!;
  const inline = datum instanceof Constr && datum.tag === 2 ? datum.fields[0] : undefined;
  const assets = entries.slice(1).reduce((sum, [, names]) => sum + (names as DataMap).entries.length, 0);
  const bare = (datum as Constr).tag === 0 && (script as Constr).tag === 1;
  return {
    data,
    address: address!,
    lovelace: (ada as DataMap).entries[0]![1] as bigint,
    tokens: tokensIn(value),
    plain: bare && assets === 0,
    bare,
    assets,
    datum: inline,
    script: (script as Constr).tag === 0,
  };
}
/** The inline datum of an output, read as strictly as the index reads it. */
function read(output: Output | undefined): Datum | undefined {
  return output?.datum === undefined ? undefined : readDatum(output.datum);
}
const spentOf = (spend: Spend) => outputOf(fields(spend.input)[1]!);

function balanced(plan: Plan, inputs: readonly Output[], outputs: readonly Output[]): boolean {
  const sum = new Map<string, bigint>();
  const add = (tokens: ReadonlyMap<string, bigint>, sign: bigint) => {
    for (const [name, quantity] of tokens) sum.set(name, (sum.get(name) ?? 0n) + sign * quantity);
  };
  for (const { tokens } of inputs) add(tokens, 1n);
  add(tokensIn(plan.mint), 1n);
  for (const { tokens } of outputs) add(tokens, -1n);
  return [...sum.values()].every((left) => left === 0n);
}

/** The defect of an output that holds a token. */
function stateFault(output: Output): string | undefined {
  if (output.tokens.size === 0) return undefined;
  const [quantity] = output.tokens.values();
  if (!sameData(output.address, SCRIPT)) return "a token left the contract";
  if (output.assets !== 1 || quantity !== 1n || output.script) return "a state is more than its token";
  return read(output)?.type === "state" ? undefined : "a token without a state";
}

/** Judges a plan whose scripts all accept; `facts` are those of the token `NAME`, other tokens have none. */
export function judge(plan: Plan, facts: Forestry): Judgement {
  const spends = [...plan.spends].sort(order);
  const inputs = spends.map(spentOf);
  const outputs = plan.outputs.map(outputOf);
  if (!balanced(plan, inputs, outputs) || inputs.some((one) => stateFault(one) !== undefined)) {
    return { kind: "impossible" };
  }
  const minted = tokensIn(plan.mint);
  const signed = (key: string) => plan.signers.some((one) => toHex(one) === key);

  for (const output of outputs) {
    const fault = stateFault(output);
    if (fault !== undefined) return broken(fault);
  }
  for (const [name, quantity] of minted) {
    if (quantity <= 0n) continue;
    const seed = spends.some(({ input }) => nameOf(fields(input)[0]!) === name);
    const booted = outputs.find(({ tokens }) => tokens.has(name));
    const datum = read(booted);
    if (quantity !== 1n || !seed) return broken("a token booted twice");
    if (datum?.type !== "state" || datum.state.root !== toHex(EMPTY)) return broken("a token booted with facts");
    if (!signed(datum.state.owner)) return broken("a token whose owner did not sign");
  }

  const ours = spends.filter(isOurs);
  const states = ours.filter((spend) => spentOf(spend).tokens.size > 0);
  const updated = states.filter((spend) => ![...spentOf(spend).tokens.keys()].some((name) => minted.has(name)));
  if (updated.length > 1) return broken("two updates in one");
  if (updated.length === 1 && runsOf(plan) !== ours.length) return broken("another script runs beside an update");
  for (const spend of states) {
    const datum = read(spentOf(spend));
    if (datum?.type !== "state" || !signed(datum.state.owner)) return broken("a state spent without its owner");
  }
  return requestsKept(plan, ours.filter((spend) => !states.includes(spend)), updated[0], outputs, facts);
}

function nameOf(reference: Data): string {
  const [id, index] = fields(reference) as [Uint8Array, bigint];
  return toHex(sha256(concat(id, Uint8Array.of(Number(index >> 8n & 255n), Number(index & 255n)))));
}

/** The number of scripts that run. */
function runsOf({ spends, mintRedeemer, others = [] }: Plan): number {
  return spends.filter(({ redeemer }) => redeemer !== undefined).length + others.length + (mintRedeemer ? 1 : 0);
}

function requestsKept(
  plan: Plan,
  requests: readonly Spend[],
  update: Spend | undefined,
  outputs: readonly Output[],
  facts: Forestry,
): Judgement {
  const ended: EndedRequest[] = [];
  for (const spend of requests) {
    const spent = spentOf(spend);
    if (sameData(spend.redeemer!, REFUSE) || (typeof spend.redeemer === "bigint" && spend.redeemer < 0n)) {
      ended.push({ spent });
      continue;
    }
    if (typeof spend.redeemer === "bigint" || sameData(spend.redeemer!, CONTRIBUTE)) {
      const datum = read(spent);
      if (datum?.type !== "request") return broken("applied an unreadable request");
      if (spent.assets > 0) return broken("applied a request with assets");
      ended.push({ request: datum.request, spent });
      continue;
    }
    // the payment key of the refund address, even if the rest of the datum is malformed
    const [hash] = fields(fields(fields(fields(spent.datum)[0])[1])[0]);
    if (!plan.signers.some((one) => hash instanceof Uint8Array && equalBytes(one, hash))) {
      return broken("a request retracted by another person");
    }
  }
  if (!update) return ended.length > 0 ? broken("a deposit without an update") : KEPT;
  return updateKept(plan, update, ended, outputs, facts);
}

/** A request that is applied, or (without `request`) refused, whose key and operation need not be readable. */
interface EndedRequest {
  readonly request?: Request;
  readonly spent: Output;
}

/** The broken promise of a refused request of the token `name`, whose refund is `back`; undefined if all are kept. */
function refusalFault(spent: Output, name: string, back: Output | undefined): string | undefined {
  const [token, refund] = fields(fields(spent.datum)[0]);
  if (!token || !refund || !sameData(token, constr(0, POLICY, fromHex(name)))) {
    return "refused a request of another token";
  }
  if (!back?.bare || !sameData(back.address, refund)) return "a refund elsewhere";
  // with its assets
  const [, held] = fields(spent.data);
  const [, returned] = fields(back.data);
  return sameData(held!, returned!) ? undefined : "a refund too small";
}

function updateKept(
  plan: Plan,
  update: Spend,
  ended: readonly EndedRequest[],
  outputs: readonly Output[],
  facts: Forestry,
): Judgement {
  const before = spentOf(update);
  const [name] = before.tokens.keys();
  const old = read(before);
  const next = outputs[0]?.tokens.has(name!) ? read(outputs[0]) : undefined;
  if (old?.type !== "state" || next?.type !== "state") return broken("an update into another place");
  if (next.state.owner !== old.state.owner && !plan.signers.some((one) => toHex(one) === next.state.owner)) {
    return broken("an owner who did not sign");
  }
  const trie = name === toHex(NAME) ? facts.copy() : new Forestry();
  if (ended.some(({ request }) => request) && toHex(trie.root) !== old.state.root) {
    return broken("facts under a root that is not theirs");
  }
  for (const [i, { request, spent }] of ended.entries()) {
    if (!request) {
      const what = refusalFault(spent, name!, outputs[i + 1]);
      if (what !== undefined) return broken(what);
      continue;
    }
    if (request.name !== name || request.policy !== toHex(POLICY)) return broken("a request of another token");
    if (!trie.apply(changeOf(request.key, request.operation)).ok) return broken("a change that cannot be made");
    const back = outputs[i + 1];
    if (!back?.plain || !sameData(back.address, keyAddressData(request.refund))) return broken("a refund elsewhere");
    if (request.fee > spent.lovelace || back.lovelace < spent.lovelace - request.fee) {
      return broken("a refund too small");
    }
  }
  const root = ended.some(({ request }) => request) ? toHex(trie.root) : old.state.root;
  return next.state.root === root ? KEPT : broken("a root that is not that of the facts");
}
