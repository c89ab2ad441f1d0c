/** Built-in functions on integers. */
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import {
  add,
  divide,
  type Int,
  inverse,
  modulo,
  multiply,
  power,
  quotient,
  remainder,
  subtract,
  toInt,
} from "#src/plutus/machine/integer.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { INTEGER } from "#src/plutus/machine/type.ts";
import { bounds, integer } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import type { Variant } from "#src/plutus/machine/version.ts";

const TWO = [Measure.INTEGER, Measure.INTEGER] as const;

/** Greatest modulus, and bound of base and exponent, of `expModInteger`. */
const BOUND = 1n << 8191n;

function isBounded(value: bigint): boolean {
  return value >= -BOUND && value < BOUND;
}

function expMod(base: bigint, exponent: bigint, modulus: bigint): Int {
  if (modulus <= 0n || modulus >= BOUND) refuse("expModInteger: the modulus is out of bounds");
  if (modulus === 1n) return 0;
  if (base === 0n && exponent < 0n) refuse("expModInteger: zero has no inverse");
  if (!isBounded(base) || !isBounded(exponent)) refuse("expModInteger: an argument is out of bounds");
  if (exponent >= 0n) return toInt(power(((base % modulus) + modulus) % modulus, exponent, modulus));
  const inverted = inverse(base, modulus) ?? refuse("expModInteger: the base has no inverse");
  return toInt(power(inverted, -exponent, modulus));
}

export function integerBuiltins(variant: Variant) {
  const bounded = bounds(variant).integer;
  const operation = (operate: (a: Int, b: Int) => Int): Definition => ({
    takes: TWO,
    run: (a, b) => new Constant(INTEGER, operate(bounded(a), bounded(b))),
  });
  const division = (operate: (a: Int, b: Int) => Int): Definition =>
    operation((a, b) => b === 0 ? refuse("division by zero") : operate(a, b));
  const comparison = (compare: (a: Int, b: Int) => boolean): Definition => ({
    takes: TWO,
    run: (a, b) => compare(bounded(a), bounded(b)) ? TRUE : FALSE,
  });
  return {
    addInteger: operation(add),
    subtractInteger: operation(subtract),
    multiplyInteger: operation(multiply),
    divideInteger: division(divide),
    quotientInteger: division(quotient),
    remainderInteger: division(remainder),
    modInteger: division(modulo),
    equalsInteger: { takes: TWO, run: (a, b) => integer(a) === integer(b) ? TRUE : FALSE },
    lessThanInteger: comparison((a, b) => a < b),
    lessThanEqualsInteger: comparison((a, b) => a <= b),
    expModInteger: {
      takes: [Measure.INTEGER, Measure.INTEGER, Measure.INTEGER],
      run: (base, exponent, modulus) =>
        new Constant(
          INTEGER,
          expMod(BigInt(integer(base)), BigInt(integer(exponent)), BigInt(integer(modulus))),
        ),
    },
  } satisfies Record<string, Definition>;
}
