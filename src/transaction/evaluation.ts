/**
 * Evaluation of scripts while a transaction is balanced.
 *
 * Units come from evaluating the very transaction that is given out, except for amounts of lovelace (fee, change) and
 * the script data hash: an integer below 2^64 costs a script the same whatever it is. So only other inputs or another
 * number of change outputs need another evaluation.
 */
import type { Result } from "#src/base/result.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import { redeemerIndices, subjectOf, type TransactionParts } from "#src/cardano/transaction.ts";
import { type DraftPlan, totalUnits, type UnitsBySubject } from "#src/transaction/drafting.ts";
import type { FeeBalanced } from "#src/transaction/feeBalance.ts";
import type { Coin } from "#src/transaction/coinPool.ts";

/** Runs the scripts of a transaction (see `src/plutus`). */
export type Measure = (transaction: Uint8Array, utxos: readonly Utxo[]) =>
  | { readonly ok: true; readonly redeemers: readonly MeasuredRedeemer[] }
  | MeasureFailure;

/** Why scripts gave no units. */
export type MeasureFailure =
  | { readonly ok: false; readonly kind: "refused"; readonly message: string; readonly logs: readonly string[] }
  | { readonly ok: false; readonly kind: "over_limit"; readonly message: string; readonly units: Units }
  | {
    readonly ok: false;
    readonly kind: "not_collected" | "undecodable";
    readonly message: string;
    readonly errors?: readonly unknown[];
  };

/** Units of one run of a script. */
interface MeasuredRedeemer {
  readonly purpose: string;
  readonly index: number;
  readonly units: Units;
}

/**
 * Evaluations after which units are no longer lowered: otherwise two choices of inputs could ask for each other for
 * ever.
 */
const FREE_ROUNDS = 2;

/**
 * Balances with the units of the last evaluation until the evaluated transaction is the balanced one. `balance` is
 * called with the units known so far; `refused` turns a failed evaluation into a failure of the caller. Without
 * redeemers, `measure` is not called.
 */
export function evaluateUntilStable<T extends Pick<FeeBalanced<Coin>, "draft" | "change">, F>(
  plan: Pick<DraftPlan, "references" | "redeemers" | "mint" | "withdrawals">,
  { maxTxUnits }: Pick<Parameters, "maxTxUnits">,
  measure: Measure,
  balance: (units: UnitsBySubject) => Result<T, F>,
  refused: (failure: MeasureFailure, balanced: T) => F,
): Result<T, F> {
  let units: UnitsBySubject = new Map();
  let evaluated = plan.redeemers.length === 0 ? undefined : "";
  for (let round = 0;; round++) {
    const balanced = balance(units);
    if (!balanced.ok) return balanced;
    const { draft, change } = balanced.value;
    const shape = [...draft.inputs.map(({ ref }) => refKey(ref)), change.length].join();
    if (evaluated === undefined || evaluated === shape) return balanced;
    const run = measure(draft.transaction, [
      ...draft.inputs,
      ...plan.references,
      ...draft.collateral?.inputs ?? [],
    ]);
    if (!run.ok) return { ok: false, error: refused(run, balanced.value) };
    const refs = draft.inputs.map(({ ref }) => ref);
    units = unitsOf({ ...plan, inputs: refs }, run.redeemers, round < FREE_ROUNDS ? new Map() : units);
    const total = totalUnits(units.values());
    if (total.memory > maxTxUnits.memory || total.steps > maxTxUnits.steps) {
      const message = "the scripts need more execution units than a transaction may have";
      return { ok: false, error: refused({ ok: false, kind: "over_limit", message, units: total }, balanced.value) };
    }
    evaluated = shape;
  }
}

/** Units that runs took, by what the redeemers are for; none below `least`. */
function unitsOf(
  parts: Pick<TransactionParts, "inputs" | "mint" | "withdrawals"> & Pick<DraftPlan, "redeemers">,
  run: readonly MeasuredRedeemer[],
  least: UnitsBySubject,
): UnitsBySubject {
  const indexOf = redeemerIndices(parts);
  const taken = new Map(run.map(({ purpose, index, units }) => [`${purpose}${index}`, units]));
  return new Map(parts.redeemers.map(({ for: target }) => {
    const units = taken.get(`${target.purpose}${indexOf(target)}`);
    if (!units) throw new TypeError("the evaluation left out a redeemer");
    return [subjectOf(target), larger(units, least.get(subjectOf(target)))];
  }));
}

function larger(a: Units, b: Units = a): Units {
  return { memory: a.memory > b.memory ? a.memory : b.memory, steps: a.steps > b.steps ? a.steps : b.steps };
}
