/** Rule UTXOS: Plutus scripts run, and come out as the transaction says. */
import type { LedgerFailure, RedeemerPointer } from "#src/cardano/failure.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { plutusUses, type Scripts } from "#src/ledger/scripts.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import type { Evaluate, Evaluation } from "#src/plutus/types.ts";

/** Runs the scripts of a transaction that passed all other rules; `utxos` are all its inputs. */
export async function checkPhase2(
  transaction: Transaction,
  utxos: readonly Utxo[],
  scripts: Scripts,
  parameters: Parameters,
  evaluate: Evaluate,
  slots: SlotConfig,
): Promise<LedgerFailure[]> {
  const evaluation: Evaluation = plutusUses(scripts).length === 0
    ? { ok: true, redeemers: [] }
    : await evaluate({ transaction: transaction.bytes, utxos: distinct(utxos), parameters, slots });
  const refusal = evaluation.ok ? overBudget(transaction, evaluation) : evaluation;
  if (transaction.valid) {
    return refusal
      ? [{ name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message: refusal.message, logs: refusal.logs }]
      : [];
  }
  return refusal ? [] : [{ name: "ValidationTagMismatch", kind: "PassedUnexpectedly" }];
}

type Refusal = Extract<Evaluation, { ok: false }>;

/** A script that takes more than its redeemer states has failed. */
function overBudget(
  { witnesses }: Transaction,
  { redeemers }: Extract<Evaluation, { ok: true }>,
): Omit<Refusal, "ok"> | undefined {
  const name = ({ purpose, index }: RedeemerPointer) => `${purpose} ${index}`;
  const taken = new Map(redeemers.map((redeemer) => [name(redeemer), redeemer.units]));
  for (const redeemer of witnesses.redeemers) {
    const units = taken.get(name(redeemer));
    const { memory, steps } = redeemer.units;
    if (!units) return { message: `the script for ${name(redeemer)} did not run`, logs: [] };
    if (units.memory > memory || units.steps > steps) {
      return {
        message: `the script for ${name(redeemer)} takes ${units.memory} memory and ${units.steps} steps, ` +
          `its redeemer allows ${memory} and ${steps}`,
        logs: [],
      };
    }
  }
  return undefined;
}

function distinct(utxos: readonly Utxo[]): Utxo[] {
  return [...new Map(utxos.map((utxo) => [refKey(utxo.ref), utxo])).values()];
}
