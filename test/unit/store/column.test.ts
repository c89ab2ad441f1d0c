import { expect, test } from "vitest";
import { column, isBoolean, isInteger, isText, orNull } from "#src/store/column.ts";

const row = { name: "a", count: 1, large: 1n, active: false, none: null };

test("a column has the type that its reader expects", () => {
  expect(column(row, "name", isText)).toBe("a");
  expect([column(row, "count", isInteger), column(row, "large", isInteger)]).toEqual([1, 1n]);
  expect(column(row, "active", isBoolean)).toBe(false);
  expect([column(row, "none", orNull(isText)), column(row, "name", orNull(isText))]).toEqual([null, "a"]);
});

test("a column of another type, or none, is an error that names the column and not its value", () => {
  expect(() => column(row, "name", isInteger)).toThrow(
    new TypeError(
      "the column name has another type than its reader expects",
    ),
  );
  expect(() => column(row, "none", isText)).toThrow(TypeError);
  expect(() => column(row, "missing", orNull(isText))).toThrow(TypeError);
});
