/**
 * A ledger's outputs and a token's facts for tests of built transactions: transactions are applied as the ledger does.
 */
import { expect } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { created } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type Assets, lovelace, noAssets } from "#src/cardano/value.ts";
import type { CageScript } from "#src/contract/script.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { changeOf, decodeDatum, encodeRequest, encodeState, type Operation } from "#src/contract/datum.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import { type BuildInput, type Built, measureWith } from "#src/contract/transactions/common.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { newState } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { theBuild } from "./contractBuild.ts";
import { expectSound, unitsOf } from "../ledger/soundness.ts";
import { newRef, type Person, person, signed, utxo } from "../wallets/person.ts";

export const slots: SlotConfig = { zeroTime: 1_700_000_000_000, zeroSlot: 0, slotLength: 1000 };

const { script: cageScript } = theBuild();

/** Address of the contract. */
export const cageAddress = scriptAddress(0, cageScript.hash).hex;

/** Runs scripts with the real evaluator. */
export const measure: Measure = measureWith(evaluateScripts, { parameters, slots });

/** An output that carries a build of the contract. */
export function carrying({ compiledCode }: CageScript): Utxo {
  const script = encode([3, compiledCode]);
  return utxo({ address: person("nobody").enterprise, value: lovelace(40_000_000n), script });
}

/** An output that carries the contract. */
export const published: Utxo = carrying(cageScript);

/** Short names of operations. */
export const op = {
  insert: (value: string): Operation => ({ type: "insert", value: utf8(value) }),
  remove: (value: string): Operation => ({ type: "delete", value: utf8(value) }),
  update: (old: string, value: string): Operation => ({ type: "update", old: utf8(old), value: utf8(value) }),
};

/** Transactions that were applied since the last check, each with the outputs before it. */
const applied: { transaction: Uint8Array; outputs: readonly Utxo[]; slot: number }[] = [];

/** Validates every transaction that was applied by the ledger's rules; called after each test. */
export async function judgeApplied(): Promise<void> {
  for (const { transaction, outputs, slot } of applied.splice(0)) {
    const held = new Map(outputs.map((one) => [refKey(one.ref), one.output]));
    const state = newState({ parameters, outputs: held });
    const judged = await validate(state, transaction, slot, (input) => Promise.resolve(evaluateScripts(input)), slots);
    expect(judged.ok ? [] : judged.error).toEqual([]);
  }
}

/** Unspent outputs, updated by transactions. */
export class Outputs {
  private readonly live = new Map<string, Utxo>();
  slot = 1000;

  constructor(...utxos: readonly Utxo[]) {
    this.add(...utxos);
  }

  add(...utxos: readonly Utxo[]): void {
    for (const one of utxos) this.live.set(refKey(one.ref), one);
  }

  all(): readonly Utxo[] {
    return [...this.live.values()];
  }

  at(address: string): readonly Utxo[] {
    return this.all().filter(({ output }) => output.address === address);
  }

  /** The inputs of a build for one user. */
  input(address: string, more: Partial<BuildInput> = {}): BuildInput {
    return {
      parameters,
      slots,
      slot: this.slot,
      network: 0,
      script: cageScript,
      reference: published,
      address,
      available: this.at(address).map((one) => ({ utxo: one })),
      ...more,
    };
  }

  /**
   * Applies a built transaction after all signers have signed: checks it against the ledger's arithmetic, and its units
   * by evaluating it again.
   */
  apply(
    built: Built,
    ...who: readonly Person[]
  ): { readonly created: readonly Utxo[]; readonly fee: bigint; readonly least: bigint } {
    const transaction = signed(built.transaction, ...who);
    const known = [...this.all(), published];
    const sound = expectSound(transaction, known, parameters);
    const scanned = scanTransaction(transaction);
    expect(scanned.hash).toBe(built.txHash);
    expect(scanned.validTo).toBe(built.validTo);
    expect(built.fee).toBe(sound.fee);
    if (scanned.collateral.length > 0) {
      const touched = new Set([...scanned.inputs, ...scanned.references, ...scanned.collateral].map(refKey));
      const run = measure(transaction, known.filter(({ ref }) => touched.has(refKey(ref))));
      if (!run.ok) throw new Error(`${run.message} ${run.kind === "refused" ? run.logs.join() : ""}`);
      const taken = run.redeemers.map(({ units }) => units);
      expect(unitsOf(transaction)).toEqual({
        memory: taken.reduce((sum, { memory }) => sum + memory, 0n),
        steps: taken.reduce((sum, { steps }) => sum + steps, 0n),
      });
    }
    applied.push({ transaction, outputs: known, slot: this.slot });
    for (const ref of scanned.inputs) this.live.delete(refKey(ref));
    this.add(...created(scanned));
    return { created: created(scanned), fee: sound.fee, least: sound.least };
  }
}

/** Returns a value or throws the failure. */
export function must<T>(result: Result<T, Failure>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.error, (_, value) => typeof value === "bigint" ? `${value}` : value));
}

/** An output that holds a request for a token, as if a user had made it. */
export function requested(
  token: string,
  key: string,
  operation: Operation,
  more: {
    refund?: string;
    fee?: bigint;
    lovelace?: bigint;
    assets?: Assets;
    script?: Uint8Array;
    ref?: OutRef;
    policy?: string;
  } = {},
): Utxo {
  const { refund = person("bob").base, fee = 300_000n, lovelace = 3_000_000n, assets = noAssets, script, ref } = more;
  const { policy = cageScript.hash } = more;
  const datum = encodeRequest({
    policy,
    name: token,
    refund: keyAddress(refund)!,
    fee,
    key: utf8(key),
    operation,
  });
  const { hex: address } = scriptAddress(0, policy);
  return utxo({ address, value: { lovelace, assets }, datum, script }, ref ?? newRef());
}

/** An output that holds the state of a token with some facts, as if earlier updates had led there. */
export function stated(token: string, owner: string, facts: Forestry, policy = cageScript.hash): Utxo {
  return utxo({
    address: scriptAddress(0, policy).hex,
    value: { lovelace: 2_000_000n, assets: new Map([[policy + token, 1n]]) },
    datum: encodeState({ owner, root: toHex(facts.root) }),
  });
}

/** A trie of `count` facts, `key i` to `value i`. */
export function factsOf(count: number): Forestry {
  return Forestry.from(Array.from({ length: count }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`))));
}

/** A token and its facts, kept in a plain model. */
export class ModelToken {
  constructor(readonly token: string, public state: Utxo, readonly facts: Forestry = new Forestry()) {}

  /** Follows an update: applies the changes to the facts; the new state is the first output. */
  follow(state: Utxo, requests: readonly Utxo[]): void {
    for (const { output } of requests) {
      const datum = decodeDatum(output.datum!);
      if (datum?.type !== "request") throw new TypeError("no request");
      const done = this.facts.apply(changeOf(datum.request.key, datum.request.operation));
      if (!done.ok) throw new Error(done.error.message);
    }
    this.state = state;
  }
}
