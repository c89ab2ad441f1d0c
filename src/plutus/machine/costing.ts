/**
 * Costing functions: the price of a built-in function by the sizes of its arguments. Arithmetic is on doubles, which are
 * exact up to 2^53. No limit is greater (see `evaluate`), so an inexact price exceeds every limit.
 */

/** Shapes of costing functions, named as in Plutus' cost model files. Comments give the order of the coefficients in a cost model. */
const Shape = {
  /** constant */
  constant_cost: 0,
  /** intercept, slope */
  linear_in_x: 1,
  linear_in_y: 2,
  linear_in_z: 3,
  linear_in_u: 4,
  added_sizes: 5,
  multiplied_sizes: 6,
  min_size: 7,
  max_size: 8,
  linear_in_max_yz: 9,
  /** intercept, slope; if the size `y` is not zero, it is the cost */
  literal_in_y_or_linear_in_z: 10,
  /** intercept, minimum, slope */
  subtracted_sizes: 11,
  /** constant, intercept, slope */
  linear_on_diagonal: 12,
  /** intercept, slope1, slope2 */
  linear_in_y_and_z: 13,
  /** c0, c1, c2 */
  quadratic_in_x: 14,
  quadratic_in_y: 15,
  quadratic_in_z: 16,
  /** constant, then `multiplied_sizes` */
  const_above_diagonal_multiplied: 17,
  /** constant, then c00, c01, c02, c10, c11, c20, minimum */
  const_above_diagonal_quadratic: 18,
  /** constant, then intercept, slope1, slope2 of a function linear in x and y */
  const_above_diagonal_linear: 19,
  /** c00, c10, c01, c11 */
  with_interaction_in_x_and_y: 20,
  /** as `const_above_diagonal_multiplied`, the constant unused: the greater size is `x`, the smaller `y` */
  above_and_below_diagonal_multiplied: 22,
  /** as `const_above_diagonal_quadratic`, the constant unused: the greater size is `x`, the smaller `y` */
  above_and_below_diagonal_quadratic: 23,
  /** as `linear_in_y`, with a minimum in the array that is unused: intercept, minimum, slope */
  linear_in_y_without_minimum: 24,
  /** coefficient00, coefficient11, coefficient12 */
  exp_mod_cost: 21,
} as const;
export type ShapeName = keyof typeof Shape;

/** How many coefficients a shape has in a cost model. */
export const COEFFICIENTS: Readonly<Record<ShapeName, number>> = {
  constant_cost: 1,
  linear_in_x: 2,
  linear_in_y: 2,
  linear_in_z: 2,
  linear_in_u: 2,
  added_sizes: 2,
  multiplied_sizes: 2,
  min_size: 2,
  max_size: 2,
  linear_in_max_yz: 2,
  literal_in_y_or_linear_in_z: 2,
  subtracted_sizes: 3,
  linear_on_diagonal: 3,
  linear_in_y_and_z: 3,
  quadratic_in_x: 3,
  quadratic_in_y: 3,
  quadratic_in_z: 3,
  const_above_diagonal_multiplied: 3,
  const_above_diagonal_quadratic: 8,
  const_above_diagonal_linear: 4,
  with_interaction_in_x_and_y: 4,
  exp_mod_cost: 3,
  above_and_below_diagonal_multiplied: 3,
  above_and_below_diagonal_quadratic: 8,
  linear_in_y_without_minimum: 3,
};

/** Greatest size and cost: Plutus' saturating integers end here. */
export const MOST = 2 ** 63;
const LARGEST = (1n << 63n) - 1n;

/** A costing function with its coefficients, in the order of a cost model. */
export class CostFunction {
  readonly shape: number;
  private readonly a: number;
  private readonly b: number;
  private readonly c: number;
  private readonly d: number;
  private readonly rest: readonly number[];

  constructor(name: ShapeName, coefficients: readonly number[]) {
    this.shape = Shape[name];
    [this.a = 0, this.b = 0, this.c = 0, this.d = 0, ...this.rest] = coefficients;
  }

  get isConstant(): boolean {
    return this.shape === Shape.constant_cost;
  }

  /** Cost for arguments of these sizes. */
  of(x: number, y: number, z: number, u: number): number {
    const { a, b, c, d } = this;
    switch (this.shape) {
      case Shape.constant_cost:
        return a;
      case Shape.linear_in_x:
        return a + b * x;
      case Shape.linear_in_y:
        return a + b * y;
      case Shape.linear_in_z:
        return a + b * z;
      case Shape.linear_in_u:
        return a + b * u;
      case Shape.added_sizes:
        return a + b * (x + y);
      case Shape.multiplied_sizes:
        return a + b * (x * y);
      case Shape.min_size:
        return a + b * (x < y ? x : y);
      case Shape.max_size:
        return a + b * (x > y ? x : y);
      case Shape.linear_in_max_yz:
        return a + b * (y > z ? y : z);
      case Shape.literal_in_y_or_linear_in_z:
        return y === 0 ? a + b * z : y;
      case Shape.subtracted_sizes:
        return a + c * Math.max(b, x - y);
      case Shape.linear_on_diagonal:
        return x === y ? b + c * x : a;
      case Shape.linear_in_y_and_z:
        return a + b * y + c * z;
      case Shape.quadratic_in_x:
        return a + b * x + c * x * x;
      case Shape.quadratic_in_y:
        return a + b * y + c * y * y;
      case Shape.quadratic_in_z:
        return a + b * z + c * z * z;
      case Shape.const_above_diagonal_multiplied:
        return x < y ? a : b + c * (x * y);
      case Shape.above_and_below_diagonal_multiplied:
        return b + c * (x * y);
      case Shape.const_above_diagonal_quadratic:
        return x < y ? a : this.quadratic(x, y);
      case Shape.above_and_below_diagonal_quadratic:
        return x < y ? this.quadratic(y, x) : this.quadratic(x, y);
      case Shape.linear_in_y_without_minimum:
        return a + c * y;
      case Shape.const_above_diagonal_linear:
        return x < y ? a : b + c * x + d * y;
      case Shape.with_interaction_in_x_and_y:
        return a + b * x + c * y + d * (x * y);
      default: {
        const cost = a + b * y * z + c * y * z * z;
        return x <= z ? cost : cost + Math.floor(cost / 2);
      }
    }
  }

  /** The cost beyond 2^53, saturating as in Plutus. Exact for costs that are linear in `x`; no others become so large. */
  exactly(x: number, y: number, z: number, u: number): bigint {
    const cost = this.shape === Shape.linear_in_x
      ? BigInt(this.a) + BigInt(this.b) * BigInt(x)
      : BigInt(this.of(x, y, z, u));
    return cost < LARGEST ? cost : LARGEST;
  }

  private quadratic(x: number, y: number): number {
    const { b, c, d, rest } = this;
    const [c10 = 0, c11 = 0, c20 = 0, minimum = 0] = rest;
    return Math.max(minimum, b + c * y + d * y * y + c10 * x + c11 * x * y + c20 * x * x);
  }
}
