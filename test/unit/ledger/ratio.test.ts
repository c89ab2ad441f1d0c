/** Exact fractions. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, divide, floor, less, multiply, share, subtract, toNumber, whole, zero } from "#src/ledger/epoch/ratio.ts";

const integer = fc.bigInt(-(10n ** 20n), 10n ** 20n);
const ratio = fc.tuple(integer, fc.bigInt(1n, 10n ** 20n)).map(([numerator, denominator]) => ({
  numerator,
  denominator,
}));

describe("fractions", () => {
  it("are rounded to the integer below, negative ones too", () => {
    expect([floor(share(7n, 2n)), floor(share(-7n, 2n)), floor(share(7n, -2n)), floor(share(-6n, 2n))]).toEqual([
      3n,
      -4n,
      -4n,
      -3n,
    ]);
    fc.assert(fc.property(ratio, (of) => {
      const below = floor(of);
      expect(less(of, whole(below))).toBe(false);
      expect(less(of, whole(below + 1n))).toBe(true);
    }));
  });

  it("are zero for a division by zero", () => {
    expect(share(5n, 0n)).toEqual(zero);
    expect(divide(whole(5n), zero)).toEqual(zero);
  });

  it("are restored by the inverse of each operation", () => {
    const same = (a: { numerator: bigint; denominator: bigint }, b: typeof a) => !less(a, b) && !less(b, a);
    fc.assert(fc.property(ratio, ratio, (a, b) => {
      expect(same(subtract(add(a, b), b), a)).toBe(true);
      fc.pre(b.numerator !== 0n);
      expect(same(divide(multiply(a, b), b), a)).toBe(true);
    }));
  });

  it("become the nearest numbers, whatever their length", () => {
    expect(toNumber({ numerator: 3n ** 900n, denominator: 3n ** 899n * 4n })).toBeCloseTo(0.75, 12);
    expect(toNumber(share(1n, 10n ** 15n))).toBe(1e-15);
    expect(toNumber(share(-45_000_000_000_000_000n, 2n))).toBe(-22_500_000_000_000_000);
  });
});
