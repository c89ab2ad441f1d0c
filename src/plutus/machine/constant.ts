/** Constants of programs, and the kinds of values. */
import type { Type } from "#src/plutus/machine/type.ts";

export const ValueKind = { CONSTANT: 0, LAMBDA: 1, DELAY: 2, BUILTIN: 3, CONSTR: 4 } as const;

/**
 * A constant. What `value` is depends on the type: integer `Int`, bytes `Uint8Array`, text `string`, unit `null`,
 * bool `boolean`, data `MachineData`, list `List`, pair an array of two, array an array, value `Assets`, the others their curve's
 * classes.
 */
export class Constant {
  readonly kind = ValueKind.CONSTANT;
  constructor(readonly type: Type, readonly value: unknown) {}
}
