/** Values of the machine. Kinds are numbers and there are few classes, which keeps the machine's loop fast. */
import type { Builtin } from "#src/plutus/machine/builtin.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { Term } from "#src/plutus/machine/term.ts";
import { BOOL, type Type, UNIT } from "#src/plutus/machine/type.ts";

export const ValueKind = { CONSTANT: 0, LAMBDA: 1, DELAY: 2, BUILTIN: 3, CONSTR: 4 } as const;

/** Variables in scope, the innermost first. */
export class Env {
  constructor(readonly value: Value, readonly next: Env | null) {}
}

/**
 * A constant. What `value` is depends on the type: integer `Int`, bytes `Uint8Array`, text `string`, unit `null`,
 * bool `boolean`, data `MachineData`, list `List`, pair an array of two, array an array, value `Assets`, the others their curve's
 * classes.
 */
export class Constant {
  readonly kind = ValueKind.CONSTANT;
  constructor(readonly type: Type, readonly value: unknown) {}
}

/** A lambda or a delayed term, with the variables in its scope. */
export class Closure {
  constructor(readonly kind: 1 | 2, readonly body: Term, readonly env: Env | null) {}
}

/** A built-in function that still needs forces or arguments. Its arguments so far are a linked list: `argument` is the last, `before` has the others. */
export class Partial {
  readonly kind = ValueKind.BUILTIN;
  constructor(
    readonly builtin: Builtin,
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
