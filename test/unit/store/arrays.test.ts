import fc from "fast-check";
import { expect, test } from "vitest";
import { readArray, writeArray } from "#src/store/arrays.ts";

test("arrays are read as written", () => {
  fc.assert(fc.property(fc.array(fc.option(fc.string({ unit: "grapheme" }))), (values) => {
    expect(readArray(writeArray(values), String)).toEqual(values);
  }));
  fc.assert(fc.property(fc.array(fc.bigInt()), (values) => {
    expect(readArray(writeArray(values), BigInt)).toEqual(values);
  }));
});

test("numbers are unquoted, and missing values are NULL", () => {
  expect(writeArray([1, -2n, 0.5, null, undefined, "NULL", 'a"\\'])).toBe(
    String.raw`{1,-2,0.5,NULL,NULL,"NULL","a\"\\"}`,
  );
});

test("in PostgreSQL's format", () => {
  expect(readArray("{}", Number)).toEqual([]);
  expect(readArray("{1,-2,NULL}", Number)).toEqual([1, -2, null]);
  expect(readArray(String.raw`{a,"NULL","say \"b\"","back\\slash","",c d}`, String)).toEqual([
    "a",
    "NULL",
    'say "b"',
    "back\\slash",
    "",
    "c d",
  ]);
  expect(() => readArray("{{1},{2}}", Number)).toThrow(SyntaxError);
});
