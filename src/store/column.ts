/** Columns of rows whose types the compiler does not know, such as those of `readTogether`. */
import type { JsonRow } from "#src/store/readTogether.ts";

/**
 * A column of a row.
 *
 * @throws TypeError where it has another type, which is a fault of the query.
 */
export function column<T>(row: JsonRow, name: string, is: (value: unknown) => value is T): T {
  const value = row[name];
  if (!is(value)) throw new TypeError(`the column ${name} has another type than its reader expects`);
  return value;
}

/** A text. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** An integer: from JSON a `number` where that is exact, from a row of its own `int8` is always a `bigint`. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** A truth value. */
export function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/** A value of such a type, or null. */
export function orNull<T>(is: (value: unknown) => value is T): (value: unknown) => value is T | null {
  return (value): value is T | null => value === null || is(value);
}
