/**
 * Numbers of JSON: integers are exact, a fraction is never converted to an integer, and numbers out of range are
 * refused.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseJson, readJson, toJson } from "#src/base/json.ts";
import { utf8 } from "#src/base/bytes.ts";

it.each([
  ["12345678901234567.5"],
  ["-4503599627370496.25"],
  ["1.00000000000000000001"],
  ["999999999999999.99999"],
  ["1e-400"],
  ["1e400"],
  ["-1e400"],
  ["1e999999999999999999999"],
])("%s is refused", (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
  expect(() => parseJson(`{"a":[${text}]}`)).toThrow(SyntaxError);
  expect(readJson(utf8(text))).toBeUndefined();
});

it.each([
  ["0.1", 0.1],
  ["-2.5e-3", -0.0025],
  ["4503599627370495.5", 4503599627370495.5],
  ["1.0", 1],
  ["1.50E1", 15],
  ["0e5", 0],
  ["0.000", 0],
  ["120e-1", 12],
  ["12345678901234567.0", 12345678901234567n],
  ["12345678901234567.50e+1", 123456789012345675n],
  ["-1e20", -100000000000000000000n],
  ["9007199254740993", 9007199254740993n],
])("%s is %s", (text, value) => expect(parseJson(text)).toBe(value));

it("a decimal is an integer exactly if it denotes one", () => {
  const digits = fc.stringMatching(/^[0-9]{1,24}$/);
  const decimal = fc.tuple(
    fc.boolean(),
    fc.stringMatching(/^(0|[1-9][0-9]{0,20})$/),
    fc.option(digits),
    fc.option(fc.integer({ min: -40, max: 40 })),
  );
  fc.assert(
    fc.property(decimal, ([negative, whole, fraction, exponent]) => {
      const text = `${negative ? "-" : ""}${whole}${fraction === null ? "" : `.${fraction}`}${
        exponent === null ? "" : `e${exponent}`
      }`;
      const scale = (exponent ?? 0) - (fraction ?? "").length;
      const all = BigInt(whole + (fraction ?? ""));
      const size = scale >= 0 ? all * 10n ** BigInt(scale) : all;
      const divisor = scale >= 0 ? 1n : 10n ** BigInt(-scale);
      let value: unknown;
      try {
        value = parseJson(text);
      } catch {
        // only fractions have that type
        expect(size % divisor).not.toBe(0n);
        return;
      }
      const isWhole = typeof value === "bigint" || Number.isInteger(value);
      expect([text, isWhole]).toEqual([text, size % divisor === 0n]);
      if (!isWhole) {
        expect(value).toBe(Number(text));
        return;
      }
      expect(BigInt(value as number | bigint)).toBe((negative ? -1n : 1n) * (size / divisor));
      expect(typeof value === "bigint").toBe(!Number.isSafeInteger(Number(value)));
      expect(parseJson(toJson(value))).toEqual(Object.is(value, -0) ? 0 : value);
    }),
    { numRuns: 2_000 },
  );
});
