/** A built-in function with the prices of one cost model. */
import type { CostFunction } from "#src/plutus/machine/costing.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { type BuiltinFunction, Partial, type Run } from "#src/plutus/machine/value.ts";

/** A built-in function without its costs. */
export interface Definition {
  /** Forces needed before the first argument. */
  readonly forces?: number;
  /** How the size of each argument is measured. */
  readonly takes: readonly [Measure, ...Measure[]];
  readonly run: Run;
}

export class Builtin implements BuiltinFunction {
  readonly arity: number;
  readonly run: Run;
  /** Measures of the first four arguments; no function with more measures those. */
  readonly measures: readonly [x: Measure, y: Measure, z: Measure, u: Measure];
  /** Whether the price does not depend on the arguments. */
  readonly isConstant: boolean;
  /** The function as a value, by the number of forces that it still needs. */
  readonly values: readonly Partial[];
  /** The function as a value before its first force and argument. */
  readonly whole: Partial;

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
    const [x, y = Measure.ONE, z = Measure.ONE, u = Measure.ONE] = definition.takes;
    this.measures = [x, y, z, u];
    const most = Math.max(constantCpu, constantMemory);
    this.isConstant = cpu.isConstant && memory.isConstant && most <= Number.MAX_SAFE_INTEGER;
    const { forces = 0 } = definition;
    this.whole = new Partial(this, forces, this.arity, null, null);
    this.values = [
      ...Array.from({ length: forces }, (_, left) => new Partial(this, left, this.arity, null, null)),
      this.whole,
    ];
  }
}
