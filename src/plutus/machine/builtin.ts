/** A built-in function with the prices of one cost model. */
import type { CostFunction } from "#src/plutus/machine/costing.ts";
import type { Measure } from "#src/plutus/machine/measure.ts";
import { Partial, type Value } from "#src/plutus/machine/value.ts";

/** The function on values; it receives exactly its number of arguments. */
export type Run = (...values: Value[]) => Value;

/** A built-in function without its costs. */
export interface Definition {
  /** Forces needed before the first argument. */
  readonly forces?: number;
  /** How the size of each argument is measured. */
  readonly takes: readonly Measure[];
  readonly run: Run;
}

export class Builtin {
  readonly arity: number;
  readonly run: Run;
  readonly measures: readonly Measure[];
  /** Whether the price does not depend on the arguments. */
  readonly isConstant: boolean;
  /** The function as a value, by the number of forces that it still needs. */
  readonly values: readonly Partial[];

  constructor(
    readonly name: string,
    definition: Definition,
    readonly cpu: CostFunction,
    readonly memory: CostFunction,
    /** The prices, if both are constant. */
    readonly constantCpu = cpu.of(0, 0, 0, 0),
    readonly constantMemory = memory.of(0, 0, 0, 0),
  ) {
    this.arity = definition.takes.length;
    this.run = definition.run;
    this.measures = definition.takes;
    const most = Math.max(constantCpu, constantMemory);
    this.isConstant = cpu.isConstant && memory.isConstant && most <= Number.MAX_SAFE_INTEGER;
    this.values = Array.from(
      { length: (definition.forces ?? 0) + 1 },
      (_, forces) => new Partial(this, forces, this.arity, null, null),
    );
  }
}
