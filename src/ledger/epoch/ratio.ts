/** Exact arithmetic of fractions; denominators are not zero, and positive where something is compared or rounded. */
import type { Ratio } from "#src/cardano/parameters.ts";

export const zero: Ratio = { numerator: 0n, denominator: 1n };
export const one: Ratio = { numerator: 1n, denominator: 1n };

/** An integer as a fraction. */
export function whole(value: bigint): Ratio {
  return { numerator: value, denominator: 1n };
}

/** `above / below`, or zero where there is nothing to divide by (ledger: `%?`). */
export function share(above: bigint, below: bigint): Ratio {
  if (below === 0n) return zero;
  return below < 0n ? { numerator: -above, denominator: -below } : { numerator: above, denominator: below };
}

export function add(a: Ratio, b: Ratio): Ratio {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

export function subtract(a: Ratio, b: Ratio): Ratio {
  return add(a, { numerator: -b.numerator, denominator: b.denominator });
}

/** Product of all of them. */
export function multiply(...factors: readonly Ratio[]): Ratio {
  let { numerator, denominator } = one;
  for (const factor of factors) {
    numerator *= factor.numerator;
    denominator *= factor.denominator;
  }
  return { numerator, denominator };
}

/** `a / b`, or zero where `b` is zero. */
export function divide(a: Ratio, b: Ratio): Ratio {
  return share(a.numerator * b.denominator, a.denominator * b.numerator);
}

/** Whether `a` is less than `b`. */
export function less(a: Ratio, b: Ratio): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

export function smaller(a: Ratio, b: Ratio): Ratio {
  return less(a, b) ? a : b;
}

export function greater(a: Ratio, b: Ratio): Ratio {
  return less(a, b) ? b : a;
}

/** The greatest integer that is not above. */
export function floor({ numerator, denominator }: Ratio): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** The nearest number, as far as a `number` goes. */
export function toNumber({ numerator, denominator }: Ratio): number {
  // Both are cut to 64 digits of the smaller one's kind, so that neither becomes infinite.
  const excess = Math.max(0, Math.min(bits(numerator), bits(denominator)) - 64);
  return Number(numerator >> BigInt(excess)) / Number(denominator >> BigInt(excess));
}

function bits(value: bigint): number {
  return (value < 0n ? -value : value).toString(16).length * 4;
}
