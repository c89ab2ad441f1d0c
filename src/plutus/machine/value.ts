/** Values of the machine. Kinds are numbers and there are few classes, which keeps the machine's loop fast. */
import type { CostFunction } from "#src/plutus/machine/costing.ts";
import { Constant, ValueKind } from "#src/plutus/machine/constant.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { Measure } from "#src/plutus/machine/measureKinds.ts";
import type { Term } from "#src/plutus/machine/term.ts";
import { BOOL, UNIT } from "#src/plutus/machine/type.ts";

/** Variables in scope, the innermost first. */
export class Env {
  constructor(readonly value: Value, readonly next: Env | null) {}
}

/** A lambda or a delayed term, with the variables in its scope. */
export class Closure {
  constructor(readonly kind: 1 | 2, readonly body: Term, readonly env: Env | null) {}
}

/** A function on values; it receives exactly its number of arguments. */
export type Run = (...values: Value[]) => Value;

/** A built-in function with the prices of one cost model. */
export interface BuiltinFunction {
  readonly name: string;
  readonly arity: number;
  readonly run: Run;
  /** Measures of the first four arguments; no function with more measures those. */
  readonly measures: readonly [x: Measure, y: Measure, z: Measure, u: Measure];
  readonly cpu: CostFunction;
  readonly memory: CostFunction;
  /** Whether the price does not depend on the arguments. */
  readonly isConstant: boolean;
  /** The prices, if both are constant. */
  readonly constantCpu: number;
  readonly constantMemory: number;
  /** The function as a value, by the number of forces that it still needs. */
  readonly values: readonly Partial[];
}

/** A built-in function that still needs forces or arguments. Its arguments so far are a linked list: `argument` is the last, `before` has the others. */
export class Partial {
  readonly kind = ValueKind.BUILTIN;
  constructor(
    readonly builtin: BuiltinFunction,
    /** Forces that it still needs. */
    readonly forces: number,
    /** Arguments that it still needs. */
    readonly missing: number,
    readonly argument: Value | null,
    readonly before: Partial | null,
  ) {}
}

/** A constructor with its fields. */
export class Constructed {
  readonly kind = ValueKind.CONSTR;
  constructor(readonly tag: Int, readonly fields: readonly Value[]) {}
}

export type Value = Constant | Closure | Partial | Constructed;

export const TRUE: Constant = new Constant(BOOL, true);
export const FALSE: Constant = new Constant(BOOL, false);
export const NOTHING: Constant = new Constant(UNIT, null);
