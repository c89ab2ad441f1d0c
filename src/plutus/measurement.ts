/**
 * Measures the redeemers of a transaction that need not be complete: fee, units, signatures and script data hash may be
 * missing or wrong. Clients request this while they build a transaction (Ogmios: `evaluateTransaction`; ledger:
 * `evalTxExUnits`).
 *
 * Unlike validation, each redeemer stands by itself: what one lacks says nothing about the others.
 */
import type { Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { scriptsBy } from "#src/plutus/context/collect.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import { allTargets, scriptHashOf } from "#src/plutus/purpose.ts";
import { type ScriptArguments, translate } from "#src/plutus/context/translate.ts";
import type { ContextInput } from "#src/plutus/context/txInfo.ts";
import { type ContextError, Untranslatable } from "#src/plutus/context/error.ts";
import { MEASURED_TIMES, problemOf } from "#src/plutus/evaluate.ts";
import { evaluate } from "#src/plutus/machine/evaluate.ts";
import type { EvaluationInput, Measurement, RedeemerFailure } from "#src/plutus/types.ts";
import { flatOf } from "#src/plutus/wellFormed.ts";

/** Measures each redeemer of a transaction, which may be one of a chain. Failures are results, not exceptions. */
export function measureRedeemers(input: EvaluationInput): Measurement {
  const { transaction, utxos, parameters: { protocolVersion }, slots, horizon } = input;
  const read = readTransaction(transaction, { stored: true });
  if (!read.ok) return { ok: false, kind: "undecodable", message: read.error.message };
  try {
    return measureAll(input, {
      transaction: read.value,
      resolved: new Map(utxos.map(({ ref, output }) => [refKey(ref), output])),
      time: posixTime(slots, horizon),
      protocolMajor: protocolVersion.major,
    });
  } catch (error) {
    if (error instanceof Untranslatable) return noContext(error.error);
    if (!(error instanceof CborError)) throw error;
    return { ok: false, kind: "undecodable", message: `an output behind an input is not read: ${error.message}` };
  }
}

/** @throws {Untranslatable} where a language cannot represent the transaction */
function measureAll(
  { parameters: { maxTxUnits, costModels } }: EvaluationInput,
  context: ContextInput,
): Measurement {
  const { transaction: { body, witnesses }, resolved, protocolMajor } = context;
  const provided = scriptsBy(context);
  const found = new Map(allTargets(body).map(([{ purpose, index }, target]) => [`${purpose} ${index}`, target]));
  const shown = new Map<number, ScriptArguments>();
  /** The arguments for the scripts of a language. */
  const argumentsIn = (language: 1 | 2 | 3): ScriptArguments => {
    const known = shown.get(language) ?? valueOf(translate(language, context));
    shown.set(language, known);
    return known;
  };
  let left: Units = { memory: maxTxUnits.memory * MEASURED_TIMES, steps: maxTxUnits.steps * MEASURED_TIMES };
  const measure = (redeemer: Redeemer): Result<Units, RedeemerFailure> => {
    const target = found.get(`${redeemer.purpose} ${redeemer.index}`);
    const hash = target && scriptHashOf(target, resolved);
    if (!target || hash === undefined) return failed({ kind: "no_target" });
    const script = provided(hash);
    if (!script) return failed({ kind: "no_script", script: hash });
    if (script.language === 0) return failed({ kind: "no_target" });
    const { language, bytes } = script;
    const costModel = costModels.get(language - 1);
    if (!costModel) return failed({ kind: "no_cost_model", language });
    const datum = target.purpose === "spend" ? resolved.get(refKey(target.ref))?.datumHash : undefined;
    if (datum !== undefined && !witnesses.datums.has(datum)) return failed({ kind: "no_datum", datum });
    const args = valueOf(argumentsIn(language)(redeemer));
    const flat = flatOf(bytes, language);
    if (!flat) return failed({ kind: "failed", message: "the script is no program", logs: [] });
    const limit = {
      memory: left.memory < maxTxUnits.memory ? left.memory : maxTxUnits.memory,
      steps: left.steps < maxTxUnits.steps ? left.steps : maxTxUnits.steps,
    };
    const outcome = evaluate(flat, args, { language, protocolMajor, costModel }, limit);
    left = { memory: left.memory - outcome.spent.memory, steps: left.steps - outcome.spent.steps };
    const { memory, steps } = limit;
    const problem = !outcome.ok && outcome.kind === "budget"
      ? `takes more than the ${memory} memory and ${steps} steps that a transaction may use`
      : problemOf(outcome, language, limit);
    if (problem === undefined) return { ok: true, value: outcome.spent };
    return failed({ kind: "failed", message: `the script ${problem}`, logs: outcome.logs });
  };
  return {
    ok: true,
    redeemers: witnesses.redeemers.map((redeemer) => ({
      purpose: redeemer.purpose,
      index: redeemer.index,
      result: measure(redeemer),
    })),
  };
}

/** @throws {Untranslatable} */
function valueOf<T>(result: Result<T, ContextError>): T {
  if (result.ok) return result.value;
  throw new Untranslatable(result.error.reason, result.error.about);
}

function noContext({ reason, about }: ContextError): Measurement {
  return { ok: false, kind: "no_context", reason, about };
}

function failed(error: RedeemerFailure): Result<never, RedeemerFailure> {
  return { ok: false, error };
}
