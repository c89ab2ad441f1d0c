/**
 * Exact JSON: integers keep every digit in both directions.
 *
 * An integer that a `number` holds exactly is a `number`, any other integer is a `bigint`; a `bigint` is written as a
 * JSON number. A fraction is the nearest `number`; it is refused when that is an integer or infinite, which would be
 * another value. (`JSON.parse` loses digits past 2^53, and its access to the source text is missing on Node 20.)
 */
import { parse, stringify } from "lossless-json";
import { fromUtf8, toHex } from "#src/base/bytes.ts";
import { isRecord } from "#src/base/record.ts";

/** A JSON value, with `bigint` for integers beyond 2^53. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** The type of a value after a message: integers are `number` or `bigint`, bytes are hexadecimal, maps are pairs. */
export type Messaged<T> = T extends bigint ? number | bigint
  : T extends Uint8Array ? string
  : T extends ReadonlyMap<infer K, infer V> ? readonly (readonly [Messaged<K>, Messaged<V>])[]
  : T extends string | number | boolean | null | undefined ? T
  : { readonly [K in keyof T]: Messaged<T[K]> };

/** Encodes a value for a message: bytes as hexadecimal, maps as pairs, without members that are `undefined`. */
export function messaged<T>(value: T): Messaged<T> & Json {
  return asMessage(value) as Messaged<T> & Json;
}

function asMessage(value: unknown): Json {
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(asMessage);
  if (value instanceof Map) return [...value].map(asMessage);
  if (typeof value !== "object" || value === null) return value as Json;
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined).map(([name, one]) => [name, asMessage(one)]),
  );
}

function exactNumber(text: string): number | bigint {
  const value = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : BigInt(text);
  if (!Number.isFinite(value)) throw new SyntaxError("a number is too large");
  if (!Number.isInteger(value)) return value;
  const integer = integerOf(text);
  if (integer === undefined) throw new SyntaxError("a number has too many digits");
  return Number.isSafeInteger(value) ? value : integer;
}

/** The integer that a finite decimal with a point or an exponent denotes; `undefined` where it denotes none. */
function integerOf(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/0+$/, "");
  if (digits.replace(/^0+/, "") === "") return 0n;
  const zeros = Number(exponent) - fraction.length + (whole + fraction).length - digits.length;
  return zeros < 0 ? undefined : BigInt(sign + digits + "0".repeat(zeros));
}

/** The error of JSON with two members of one name in an object, whose values differ. */
export class RepeatedMember extends SyntaxError {}

/**
 * Parses JSON.
 *
 * @throws SyntaxError when it is malformed or has a number that cannot be represented; `RepeatedMember` when it repeats a
 * key.
 */
export function parseJson(text: string): Json {
  return parse(text, undefined, { parseNumber: exactNumber, onDuplicateKey }) as Json;
}

function onDuplicateKey({ key }: { readonly key: string }): never {
  throw new RepeatedMember(`the member ${JSON.stringify(key)} is repeated`);
}

/** Whether some JSON is an object. */
export function isObject(json: Json | undefined): json is { [key: string]: Json } {
  return isRecord(json);
}

/** Whether two values are equal as JSON: in any order of members, and without those that are `undefined`. */
export function isEqualJson(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, i) => isEqualJson(one, b[i]));
  // A `number` may equal a `bigint`.
  if (!isObject(a) || !isObject(b)) return a === b || a !== undefined && b !== undefined && toJson(a) === toJson(b);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isEqualJson(a[name], b[name]));
}

/** Parses JSON from UTF-8 bytes; `undefined` when it is malformed. */
export function readJson(bytes: Uint8Array): Json | undefined {
  const text = fromUtf8(bytes);
  try {
    return text === undefined ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/** 16 digits that may begin an integer past 2^53. A match inside a string only costs time. */
const LONG = /(?:^|[:,[\s-])\d{16}/;

/**
 * Like `parseJson`, for JSON written by this program or by the database, which repeats no key. It uses `JSON.parse`,
 * which is several times as fast, unless an integer could lose digits.
 */
export function parseWritten(text: string): Json {
  return LONG.test(text) ? parseJson(text) : JSON.parse(text);
}

/** An integer as a `number` where that is exact, else as a `bigint`, which `toJson` writes several times as slowly. */
export function jsonInteger(value: number | bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** JSON text of a value, without members that are `undefined`. */
export function toJson(value: unknown): string {
  try {
    // `JSON.stringify` is exact too and many times faster, but throws on a `bigint`.
    return JSON.stringify(value) ?? "null";
  } catch {
    return stringify(value) ?? "null";
  }
}
