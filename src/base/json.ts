/**
 * Exact JSON: integers keep every digit in both directions.
 *
 * An integer that a `number` holds exactly is a `number`, any other integer is a `bigint`; a `bigint` is written as a JSON
 * number. (`JSON.parse` loses digits past 2^53; its source-text access is missing on Node 20.)
 */
import { parse, stringify } from "lossless-json";

/** What JSON can carry, with `bigint` for integers beyond 2^53. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

function exactNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
}

/** Value of a JSON text. Throws a `SyntaxError` on anything else, a repeated key included. */
export function parseJson(text: string): Json {
  return parse(text, undefined, { parseNumber: exactNumber }) as Json;
}

/** JSON text of a value; members that are `undefined` are left out. */
export function toJson(value: unknown): string {
  try {
    // The engine's own writer is exact too, and many times faster; it refuses a `bigint`.
    return JSON.stringify(value) ?? "null";
  } catch {
    return stringify(value) ?? "null";
  }
}
