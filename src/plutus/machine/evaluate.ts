/** Evaluates scripts: the entry point of the machine. */
import type { Data } from "#src/cardano/data.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { type CostModel, costModelOf } from "#src/plutus/machine/costModel.ts";
import { Failure, type FailureKind } from "#src/plutus/machine/failure.ts";
import { Budget, run } from "#src/plutus/machine/machine.ts";
import { programOf } from "#src/plutus/machine/programs.ts";
import { apply, constant, type Program } from "#src/plutus/machine/term.ts";
import { startLog } from "#src/plutus/machine/trace.ts";
import { DATA } from "#src/plutus/machine/type.ts";
import { NOTHING, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasCaseOnConstants, hasCoreVersion, type Language } from "#src/plutus/machine/version.ts";

export type { Language } from "#src/plutus/machine/version.ts";
export type { FailureKind } from "#src/plutus/machine/failure.ts";

/** Rules and prices of an evaluation. */
export interface Rules {
  readonly language: Language;
  readonly protocolMajor: number;
  /** The ledger's cost model array for the language. */
  readonly costModel: readonly bigint[];
}

/** Result of a script. `spent` are the units it used, up to the failure if it failed; `logs` are the messages it traced. */
export type Outcome =
  | { readonly ok: true; readonly value: Value; readonly spent: Units; readonly logs: readonly string[] }
  | {
    readonly ok: false;
    readonly kind: FailureKind;
    readonly message: string;
    readonly spent: Units;
    readonly logs: readonly string[];
  };

/** Greatest limit: doubles are exact up to here. */
const MOST = BigInt(Number.MAX_SAFE_INTEGER);
/** Greatest reported use. */
const LARGEST = (1n << 63n) - 1n;

/** Cost models by array object, language and version, so that each array is read once. */
const models = new WeakMap<readonly bigint[], Map<string, CostModel>>();

function modelOf({ language, protocolMajor, costModel }: Rules): CostModel {
  let known = models.get(costModel);
  if (known === undefined) models.set(costModel, known = new Map());
  const key = `${language}/${protocolMajor}`;
  let model = known.get(key);
  if (model === undefined) known.set(key, model = costModelOf(language, protocolMajor, costModel));
  return model;
}

/**
 * Runs a script, given as flat bytes (without the CBOR byte string around them), on arguments. A failure of the script is a
 * result. An exception is a defect of the machine and says nothing about the script.
 *
 * @param limit maximum memory and steps; a number above 2^53 - 1 means no limit
 */
export function evaluate(flat: Uint8Array, args: readonly Data[], rules: Rules, limit: Units): Outcome {
  const logs = startLog();
  try {
    return evaluateProgram(programOf(flat, rules.language, rules.protocolMajor), args, rules, limit);
  } catch (error) {
    return failed(error, { memory: 0n, steps: 0n }, logs);
  }
}

/** As `evaluate`, for a decoded program. */
export function evaluateProgram(program: Program, args: readonly Data[], rules: Rules, limit: Units): Outcome {
  const logs = startLog();
  const budget = new Budget(bounded(limit.steps), bounded(limit.memory));
  const spent = (): Units => ({
    memory: saturated(BigInt(budget.memory) + budget.greatMemory),
    steps: saturated(BigInt(budget.cpu) + budget.greatCpu),
  });
  try {
    if (!hasCoreVersion(program.version, rules.language, rules.protocolMajor)) {
      throw new Failure("version", `Plutus Core ${program.version.join(".")} is not available`);
    }
    if (program.open) throw new Failure("open-term", "a variable is not bound");
    const term = args.reduce((fun, arg) => apply(fun, constant(new Constant(DATA, arg))), program.term);
    const value = run(term, modelOf(rules), budget, hasCaseOnConstants(rules.protocolMajor));
    return { ok: true, value, spent: spent(), logs };
  } catch (error) {
    return failed(error, spent(), logs);
  }
}

/** Whether a value is the unit, the required result of Plutus V3 scripts. */
export function isUnit(value: Value): boolean {
  return value === NOTHING || (value instanceof Constant && value.type === NOTHING.type);
}

function bounded(limit: bigint): number {
  return limit <= MOST ? Number(limit) : Infinity;
}

function saturated(count: bigint): bigint {
  return count < LARGEST ? count : LARGEST;
}

function failed(error: unknown, spent: Units, logs: readonly string[]): Outcome {
  if (!(error instanceof Failure)) throw error;
  return { ok: false, kind: error.kind, message: error.message, spent, logs };
}
