/** Rule UTXOS: Plutus scripts run, and come out as the transaction says. */
import type { LedgerFailure, RedeemerPointer } from "#src/cardano/failure.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { plutusScripts, plutusUses, type Scripts } from "#src/ledger/scripts.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import type { Evaluate, Evaluation, ScriptRefusal } from "#src/plutus/types.ts";
import { isClosed } from "#src/plutus/wellFormed.ts";

/**
 * Runs the scripts of a transaction that passed all other rules; `utxos` are all its inputs. A transaction that the machine cannot read is
 * refused whatever it says of its validity: nothing is known about its scripts, so neither its inputs nor its collateral may be spent.
 */
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
  const unbound = unboundIn(scripts);
  const refusal = unbound ?? (evaluation.ok ? overBudget(transaction, evaluation) : evaluation);
  if (refusal?.kind === "unreadable") {
    return [{
      name: "ConwayMempoolFailure",
      message: `The scripts cannot be evaluated here, because the transaction is not readable: ${refusal.message}`,
    }];
  }
  if (transaction.valid) {
    return refusal
      ? [{ name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message: refusal.message, logs: refusal.logs }]
      : [];
  }
  return refusal ? [] : [{ name: "ValidationTagMismatch", kind: "PassedUnexpectedly" }];
}

/** A script with an unbound variable fails before it runs, even where it would never come to the variable. */
function unboundIn(scripts: Scripts): ScriptRefusal | undefined {
  const unbound = plutusScripts(scripts).find(({ bytes }) => !isClosed(bytes));
  return unbound && refused(`the script ${unbound.hash} is malformed or has an unbound variable`);
}

function refused(message: string): ScriptRefusal {
  return { ok: false, kind: "refused", message, logs: [] };
}

/** A script that takes more than its redeemer states has failed. */
function overBudget(
  { witnesses }: Transaction,
  { redeemers }: Extract<Evaluation, { ok: true }>,
): ScriptRefusal | undefined {
  const name = ({ purpose, index }: RedeemerPointer) => `${purpose} ${index}`;
  const taken = new Map(redeemers.map((redeemer) => [name(redeemer), redeemer.units]));
  for (const redeemer of witnesses.redeemers) {
    const units = taken.get(name(redeemer));
    const { memory, steps } = redeemer.units;
    if (!units) return refused(`the script for ${name(redeemer)} did not run`);
    if (units.memory > memory || units.steps > steps) {
      return refused(
        `the script for ${name(redeemer)} takes ${units.memory} memory and ${units.steps} steps, ` +
          `its redeemer allows ${memory} and ${steps}`,
      );
    }
  }
  return undefined;
}

function distinct(utxos: readonly Utxo[]): Utxo[] {
  return [...new Map(utxos.map((utxo) => [refKey(utxo.ref), utxo])).values()];
}
