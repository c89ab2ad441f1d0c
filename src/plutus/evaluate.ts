/**
 * Phase-2 validation: runs the scripts of a transaction on their script contexts. A script may take seconds, so only
 * evaluator threads (and tests) import this module; other code receives an `Evaluate` function.
 */
import { CborError } from "#src/cardano/cbor.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { collectScripts, type ScriptRun } from "#src/plutus/context/collect.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import { evaluate, isUnit, type Outcome } from "#src/plutus/machine/evaluate.ts";
import type { Evaluation, EvaluationInput, RedeemerUnits, ScriptRefusal } from "#src/plutus/types.ts";
import { flatOf } from "#src/plutus/wellFormed.ts";

/**
 * Measuring stops at this multiple of the units that a transaction may use. Up to there, a builder learns by how much a
 * transaction is too large.
 */
export const MEASURED_TIMES = 4n;

/**
 * Runs every script of a transaction, which may be one of a chain, and gives the units that each redeemer used. Failures are
 * results, not exceptions.
 */
export function evaluateScripts(input: EvaluationInput): Evaluation {
  const { transaction, utxos, parameters: { protocolVersion, costModels }, slots, horizon } = input;
  const read = readTransaction(transaction, { stored: true });
  if (!read.ok) return { ok: false, kind: "undecodable", message: read.error.message };
  try {
    const collected = collectScripts({
      transaction: read.value,
      resolved: new Map(utxos.map(({ ref, output }) => [refKey(ref), output])),
      time: posixTime(slots, horizon),
      protocolMajor: protocolVersion.major,
      costModels,
    });
    if (collected.ok) return runAll(collected.value, input);
    const errors = collected.error;
    return { ok: false, kind: "not_collected", message: describeFailure({ name: "CollectErrors", errors }), errors };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return { ok: false, kind: "undecodable", message: `an output behind an input is not read: ${error.message}` };
  }
}

function runAll(
  runs: readonly ScriptRun[],
  { parameters: { protocolVersion: { major }, maxTxUnits }, limited = false }: EvaluationInput,
): Evaluation {
  const redeemers: RedeemerUnits[] = [];
  let left: Units = { memory: maxTxUnits.memory * MEASURED_TIMES, steps: maxTxUnits.steps * MEASURED_TIMES };
  for (const { redeemer, script: { bytes, language }, args, costModel } of runs) {
    const { purpose, index } = redeemer;
    const limit = limited ? redeemer.units : left;
    const flat = flatOf(bytes, language);
    if (!flat) return refused(`the script for ${name(redeemer)} is no program`, []);
    const outcome = evaluate(flat, args, { language, protocolMajor: major, costModel }, limit);
    left = { memory: left.memory - outcome.spent.memory, steps: left.steps - outcome.spent.steps };
    if (!outcome.ok && outcome.kind === "budget" && !limited) {
      return {
        ok: false,
        kind: "over_limit",
        message: `the script for ${name(redeemer)} takes more units than any transaction has`,
        units: {
          memory: maxTxUnits.memory * MEASURED_TIMES - left.memory,
          steps: maxTxUnits.steps * MEASURED_TIMES - left.steps,
        },
      };
    }
    const problem = problemOf(outcome, language, limit);
    if (problem) return refused(`the script for ${name(redeemer)} ${problem}`, outcome.logs);
    redeemers.push({ purpose, index, units: outcome.spent });
  }
  return { ok: true, redeemers };
}

function name({ purpose, index }: RedeemerPointer): string {
  return `${purpose} ${index}`;
}

/** Why a run fails its script; undefined if the script succeeded. */
export function problemOf(outcome: Outcome, language: 1 | 2 | 3, { memory, steps }: Units): string | undefined {
  if (outcome.ok) {
    return language < 3 || isUnit(outcome.value)
      ? undefined
      : "does not come to the unit, as those of Plutus V3 have to";
  }
  if (outcome.kind !== "budget") return `fails: ${outcome.message}`;
  return `takes more than the ${memory} memory and ${steps} steps that its redeemer allows`;
}

function refused(message: string, logs: readonly string[]): ScriptRefusal {
  return { ok: false, kind: "refused", message, logs };
}
