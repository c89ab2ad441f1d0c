/**
 * Balancing: from what a transaction must do to the finished transaction without signatures, with its inputs, change, collateral,
 * execution units and fee.
 *
 * Units come from evaluating the very transaction that is given out, but for amounts of lovelace (fee, change) and the script data
 * hash: an integer below 2^64 costs a script the same whatever it is, so only another choice of inputs or number of change
 * outputs asks for another evaluation.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import {
  encodeRedeemers,
  encodeTransaction,
  type NewOutput,
  redeemerIndices,
  subjectOf,
  transactionHash,
  type TransactionParts,
} from "#src/cardano/transaction.ts";
import { ledgerSize } from "#src/transaction/fee.ts";
import {
  type BalanceFailure,
  type Composed,
  type Payer,
  type Skeleton,
  total,
  type UnitsOf,
} from "#src/transaction/draft.ts";
import { Purse } from "#src/transaction/coinSource.ts";

export type { BalanceFailure, Payer, Skeleton } from "#src/transaction/draft.ts";

/** Runs the scripts of a transaction (see `src/plutus`). */
export type Measure = (transaction: Uint8Array, utxos: readonly Utxo[]) =>
  | { readonly ok: true; readonly redeemers: readonly MeasuredRedeemer[] }
  | { readonly ok: false; readonly kind: "refused"; readonly message: string; readonly logs: readonly string[] }
  | { readonly ok: false; readonly kind: "over_limit"; readonly message: string; readonly units: Units }
  | {
    readonly ok: false;
    readonly kind: "not_collected" | "undecodable";
    readonly message: string;
    readonly errors?: readonly unknown[];
  };

/** Units of one run of a script. */
export interface MeasuredRedeemer {
  readonly purpose: string;
  readonly index: number;
  readonly units: Units;
}

/** A finished transaction. */
export interface Balanced {
  /** CBOR, without signatures. */
  readonly transaction: Uint8Array;
  readonly hash: string;
  /** Lovelace. */
  readonly fee: bigint;
  /** Bytes once signed. */
  readonly size: number;
  /** Sum over its scripts. */
  readonly units: Units;
  /** All inputs: those of the skeleton, then those that pay. */
  readonly inputs: readonly Utxo[];
  readonly collateral: readonly Utxo[];
  readonly change: readonly NewOutput[];
}

/** Shapes that are tried before units are no longer lowered; see `balance`. */
export const FREE_ROUNDS = 2;

/** Finishes a transaction. Takes what `measure` takes, once or seldom twice, and a few milliseconds besides. */
export function balance(
  skeleton: Skeleton,
  payer: Payer,
  parameters: Parameters,
  measure: Measure,
): Result<Balanced, BalanceFailure> {
  const purse = new Purse(skeleton, payer, parameters);
  let units: UnitsOf = new Map();
  let evaluated = skeleton.redeemers.length === 0 ? undefined : "";
  for (let round = 0;; round++) {
    const paid = purse.pay(units);
    const { draft, failure } = paid;
    if (!draft) return refused(paid.failure!);
    const limit = tooLarge(draft, parameters);
    if (limit) return limit;
    const shape = shapeOf(draft);
    if (evaluated === undefined || evaluated === shape) return failure ? refused(failure) : finished(draft, parameters);
    const resolved = [...draft.inputs, ...skeleton.references, ...(draft.collateral?.inputs ?? [])];
    const run = measure(draft.transaction, resolved);
    if (!run.ok) return failure ? refused(failure) : unmeasured(run, parameters);
    // Two shapes could ask for each other for ever; units that no longer fall end that.
    units = unitsOf(draft.parts, run.redeemers, round < FREE_ROUNDS ? new Map() : units);
    evaluated = shape;
  }
}

/** Why there are no units, as a failure of the build. */
function unmeasured(run: Extract<ReturnType<Measure>, { readonly ok: false }>, { maxTxUnits }: Parameters) {
  switch (run.kind) {
    case "refused":
      return fail("script_refused", `A script refuses this transaction: ${run.message}`, { logs: run.logs });
    case "over_limit":
      return overUnits(run.units, maxTxUnits)!;
    default: {
      const { message, errors = [] } = run;
      return fail("not_evaluated", `The scripts cannot be run on this transaction: ${message}`, { errors });
    }
  }
}

function refused(error: BalanceFailure): { readonly ok: false; readonly error: BalanceFailure } {
  return { ok: false, error };
}

/** Units that runs took, by what they are for; none below `least`. */
export function unitsOf(
  parts: Pick<TransactionParts, "inputs" | "mint" | "withdrawals" | "redeemers">,
  run: readonly MeasuredRedeemer[],
  least: UnitsOf,
): UnitsOf {
  const indexOf = redeemerIndices(parts);
  const taken = new Map(run.map(({ purpose, index, units }) => [`${purpose}${index}`, units]));
  return new Map((parts.redeemers ?? []).map(({ for: target }) => {
    const units = taken.get(`${target.purpose}${indexOf(target)}`);
    if (!units) throw new TypeError("the evaluation left out a redeemer");
    return [subjectOf(target), larger(units, least.get(subjectOf(target)))];
  }));
}

function larger(a: Units, b: Units = a): Units {
  return { memory: a.memory > b.memory ? a.memory : b.memory, steps: a.steps > b.steps ? a.steps : b.steps };
}

/** What a script can see of a transaction, but for amounts. */
function shapeOf({ inputs, change }: Composed): string {
  return [...inputs.map(({ ref }) => refKey(ref)), change.length].join();
}

function tooLarge(composed: Composed, { maxTxSize, maxTxUnits }: Parameters) {
  const size = ledgerSize(composed.size);
  return size > maxTxSize ? over("bytes", size, maxTxSize) : overUnits(total(composed.units), maxTxUnits);
}

function overUnits({ memory, steps }: Units, limit: Units) {
  if (memory > limit.memory) return over("memory", memory, limit.memory);
  return steps > limit.steps ? over("steps", steps, limit.steps) : undefined;
}

function over(what: string, size: number | bigint, limit: number | bigint) {
  return fail("too_large", `The transaction would take ${size} ${what}; the limit is ${limit}.`, { what, size, limit });
}

const PLUTUS_V3 = 2;

function finished(draft: Composed, parameters: Parameters): { readonly ok: true; readonly value: Balanced } {
  const { parts, fee, size, inputs, collateral, change } = draft;
  const redeemers = encodeRedeemers(parts);
  const hash = scriptDataHash({ redeemers, languages: redeemers ? [PLUTUS_V3] : [], parameters });
  const transaction = encodeTransaction({ ...parts, scriptDataHash: hash });
  return ok({
    transaction,
    hash: transactionHash(transaction),
    fee,
    size,
    units: total(draft.units),
    inputs,
    collateral: collateral?.inputs ?? [],
    change,
  });
}
