import fc from "fast-check";
import { expect, test } from "vitest";
import { readArray, writeArray } from "#src/store/arrays.ts";

test("arrays come back as they were", () => {
  fc.assert(fc.property(fc.array(fc.option(fc.string({ unit: "grapheme" }))), (values) => {
    expect(readArray(writeArray(values), String)).toEqual(values);
  }));
  fc.assert(fc.property(fc.array(fc.bigInt()), (values) => {
    expect(readArray(writeArray(values), BigInt)).toEqual(values);
  }));
});

test("numbers stand as they are, and what is missing is NULL", () => {
  expect(writeArray([1, -2n, 0.5, null, undefined, "NULL", 'a"\\'])).toBe(
    String.raw`{1,-2,0.5,NULL,NULL,"NULL","a\"\\"}`,
  );
});

test("as PostgreSQL writes them", () => {
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
