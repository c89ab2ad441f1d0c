/** Complete transactions of the published contract, built regardless of whether they would be accepted. */
import { expect } from "vitest";
import { type Constr, constr, type Data as PlutusData, encodeData } from "#src/cardano/data.ts";
import { encodeTransaction, type NewOutput, type Redeemer } from "#src/cardano/transaction.ts";
import { type Assets, lovelace } from "#src/cardano/value.ts";
import { compareRefs, type OutRef, type Utxo } from "#src/cardano/output.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { changeOf, encodeRequest, encodeState, type Operation } from "#src/contract/datum.ts";
import { type KeyAddress, keyAddressHex } from "#src/contract/plutusAddress.ts";
import { type Action, mintData, spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { contributesByIndex } from "#src/contract/script.ts";
import { fn, unit } from "#src/contract/uplc/expression.ts";
import { compiled, program } from "#src/contract/uplc/program.ts";
import type { Data, Unit } from "#src/contract/uplc/term.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { published, slots } from "./contractLedger.ts";
import { theBuild } from "./contractBuild.ts";
import { evaluateSecond } from "../plutus/secondEvaluator.ts";
import { coin, person, utxo } from "../wallets/person.ts";

const build = theBuild();

export const policy = build.script.hash;
export const cage = scriptAddress(0, policy).hex;
export const owner = person("owner");
export const alice = person("alice");
export const bob = person("bob");

/** A redeemer. A contribution or a refusal without an index has that of its input. */
type WholeRedeemer = SpendRedeemer | { readonly type: "refuse" };

/** A transaction: its inputs and their redeemers, its outputs, its signers. */
export interface Whole {
  readonly spends: readonly { readonly utxo: Utxo; readonly redeemer?: WholeRedeemer | Constr }[];
  readonly outputs: readonly NewOutput[];
  readonly mint?: Assets;
  /** The seed of a boot, or undefined for a burn. */
  readonly seed?: OutRef;
  /** The redeemer of the mint, instead of the one that `seed` implies. */
  readonly minting?: PlutusData;
  readonly signers: readonly string[];
  /** Policies among those of `mint` whose script is `yes`, which runs. */
  readonly running?: readonly string[];
}

/** A Plutus script that accepts everything. */
export const yes = compiled(program(fn<[Data], Unit>((_context) => unit)));

const UNITS = { memory: 1n, steps: 1n };

/** In version 3, a contribution without an index has that of its input. */
function placed(redeemer: WholeRedeemer, index: number): SpendRedeemer {
  if (redeemer.type === "refuse") return { index, ...redeemer };
  return redeemer.type === "contribute" && contributesByIndex(build.script) ? { index, ...redeemer } : redeemer;
}

/** The parts of the transaction, and the redeemer that runs longest. */
export function partsOf(
  { spends, outputs, mint, seed, minting, signers, running = [] }: Whole,
  { fee, collateral = [] }: { readonly fee: bigint; readonly collateral?: readonly OutRef[] },
) {
  const redeemers: (Redeemer & { readonly largest?: boolean })[] = spends.flatMap(({ utxo, redeemer }) =>
    redeemer
      ? [{
        for: { purpose: "spend" as const, ref: utxo.ref },
        data: (index) => encodeData("type" in redeemer ? spendData(placed(redeemer, index)) : redeemer),
        units: UNITS,
        largest: "type" in redeemer && redeemer.type === "modify",
      }]
      : []
  );
  for (const policy of running) {
    redeemers.push({ for: { purpose: "mint", policy }, data: encodeData(constr(0)), units: UNITS });
  }
  const ours = [...(mint?.keys() ?? [])].some((asset) => asset.startsWith(policy));
  if (ours) {
    const data = encodeData(minting ?? mintData(seed ? { type: "minting", seed } : { type: "burning" }));
    redeemers.push({ for: { purpose: "mint", policy }, data, units: UNITS });
  }
  return {
    inputs: spends.map(({ utxo }) => utxo.ref),
    outputs,
    fee,
    collateral,
    validTo: 1_000,
    requiredSigners: signers,
    references: [published.ref],
    redeemers,
    ...(mint ? { mint } : {}),
    ...(running.length > 0 ? { scripts: [yes] } : {}),
  };
}

/**
 * Whether the scripts accept it; for version 2 two machines run, and must agree to the unit (the second one has no `case`
 * on constants).
 */
export function accepted(whole: Whole): boolean {
  const transaction = encodeTransaction(partsOf(whole, { fee: 1_000_000n }));
  const utxos = [...whole.spends.map(({ utxo }) => utxo), published];
  const first = evaluateScripts({ transaction, utxos, parameters, slots });
  if (build.name === "3.0.0") return first.ok;
  const second = evaluateSecond(transaction, utxos, slots);
  expect(second !== undefined).toBe(first.ok);
  if (!first.ok || !second) return false;
  const pairs = (list: readonly { memory: bigint; steps: bigint }[]) =>
    list.map((u) => `${u.memory}/${u.steps}`).sort();
  expect(pairs(second)).toEqual(pairs(first.redeemers.map(({ units }) => units)));
  return true;
}

/** A request's output. */
export interface RequestFields {
  readonly utxo: Utxo;
  readonly refund: KeyAddress;
  readonly key: string;
  readonly operation: Operation;
  /** Whether an update refuses it. */
  readonly refused?: boolean;
}

export function requestFields(
  token: string,
  key: string,
  operation: Operation,
  more: { refund?: KeyAddress; policy?: string; address?: string; ref?: OutRef } = {},
): RequestFields {
  const refund = more.refund ?? { payment: alice.key };
  const datum = encodeRequest({
    policy: more.policy ?? policy,
    name: token,
    refund,
    fee: 500_000n,
    key: utf8(key),
    operation,
  });
  const output = { address: more.address ?? cage, value: lovelace(2_000_000n), datum };
  return { utxo: more.ref ? utxo(output, more.ref) : utxo(output), refund, key, operation };
}

/** A token's state as a new output. */
export function stateOf(token: string, root: Uint8Array, by = owner.key, address = cage): NewOutput {
  const value = { lovelace: 2_000_000n, assets: new Map([[policy + token, 1n]]) };
  return { address, value, datum: encodeState({ owner: by, root: toHex(root) }) };
}

export function refundOf({ refund }: RequestFields, amount = 1_500_000n): NewOutput {
  return { address: keyAddressHex(refund, 0), value: lovelace(amount) };
}

export const paying = { utxo: coin(owner.enterprise, 50_000_000n) };
export const changing: NewOutput = { address: owner.enterprise, value: lovelace(40_000_000n) };

/** An honest update, with its parts. */
export function updating(token: string, requests: readonly RequestFields[], facts = new Forestry()) {
  const trie = facts.copy();
  const ordered = [...requests].sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref));
  const actions = ordered.map(({ key, operation, refused }): Action => {
    if (refused) return { type: "refuse" };
    const proof = trie.apply(changeOf(utf8(key), operation));
    if (!proof.ok) throw new Error(proof.error.message);
    return { type: "apply", proof: proof.value };
  });
  const state = utxo(stateOf(token, facts.root));
  const contributed = ordered.map(({ utxo, refused }) => ({
    utxo,
    redeemer: refused ? { type: "refuse" as const } : { type: "contribute" as const },
  }));
  const modified = (acts: readonly Action[]) => ({ utxo: state, redeemer: { type: "modify" as const, actions: acts } });
  const next = stateOf(token, trie.root);
  const refunds = ordered.map((one) => one.refused ? refundOf(one, one.utxo.output.value.lovelace) : refundOf(one));
  const whole: Whole = {
    spends: [modified(actions), ...contributed, paying],
    outputs: [next, ...refunds, changing],
    signers: [owner.key],
  };
  return { whole, state, next, refunds, actions, contributed, modified, after: trie.root };
}
