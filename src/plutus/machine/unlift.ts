/** Reads the arguments of built-in functions. Each function throws a `Failure` of kind `type` for a value of another type. */
import type { Assets } from "#src/plutus/machine/assets.ts";
import type { MachineData } from "#src/plutus/machine/data.ts";
import { Failure, refuse } from "#src/plutus/machine/failure.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { List } from "#src/plutus/machine/list.ts";
import {
  BOOL,
  BYTES,
  DATA,
  INTEGER,
  sameType,
  TEXT,
  type Type,
  TypeTag,
  UNIT,
  VALUE,
} from "#src/plutus/machine/type.ts";
import { type Value } from "#src/plutus/machine/value.ts";
import { type Constant, ValueKind } from "#src/plutus/machine/constant.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

function mismatch(expected: string): never {
  throw new Failure("type", `an argument is not ${expected}`);
}

/** A constant of any type. */
export function constantOf(value: Value): Constant {
  return value.kind === ValueKind.CONSTANT ? value : mismatch("a constant");
}

/** The content of a constant; the type must be one that is compared by identity. */
export function ofType<T>(value: Value, type: Type<T>, expected = "of that type"): T {
  return value.kind === ValueKind.CONSTANT && value.type === type ? value.value as T : mismatch(expected);
}

export function integer(value: Value): Int {
  return ofType(value, INTEGER, "an integer");
}

export function bytes(value: Value): Uint8Array {
  return ofType(value, BYTES, "a byte string");
}

export function text(value: Value): string {
  return ofType(value, TEXT, "a string");
}

export function bool(value: Value): boolean {
  return ofType(value, BOOL, "a boolean");
}

export function unit(value: Value): void {
  ofType(value, UNIT, "the unit");
}

export function data(value: Value): MachineData {
  return ofType(value, DATA, "data");
}

/** A ledger value. */
export function tokens(value: Value): Assets {
  return ofType(value, VALUE, "a value");
}

/** A list of one type. */
export function listOfType<T>(value: Value, type: Type<List<T>>): List<T> {
  return value.kind === ValueKind.CONSTANT && sameType(value.type, type)
    ? value.value as List<T>
    : mismatch("such a list");
}

/** Contents of constants by type tag, for parts of any type. */
interface Composed {
  readonly [TypeTag.LIST]: List;
  readonly [TypeTag.PAIR]: readonly [unknown, unknown];
  readonly [TypeTag.ARRAY]: readonly unknown[];
}

function ofTag<Tag extends keyof Composed>(value: Value, tag: Tag, expected: string): Composed[Tag] {
  return value.kind === ValueKind.CONSTANT && value.type.tag === tag
    ? value.value as Composed[Tag]
    : mismatch(expected);
}

/** A list with elements of any type. */
export function list(value: Value): List {
  return ofTag(value, TypeTag.LIST, "a list");
}

export function pair(value: Value): readonly [unknown, unknown] {
  return ofTag(value, TypeTag.PAIR, "a pair");
}

export function array(value: Value): readonly unknown[] {
  return ofTag(value, TypeTag.ARRAY, "an array");
}

/** Type of the elements of a list or an array, or of the first part of a pair. */
export function firstType(value: Value): Type {
  return constantOf(value).type.first ?? mismatch("a list, a pair or an array");
}

/** Type of the second part of a pair. */
export function secondType(value: Value): Type {
  return constantOf(value).type.second ?? mismatch("a pair");
}

const INT_LEAST = -(1n << 63n);
const INT_MOST = (1n << 63n) - 1n;

/** An integer of 64 bits (Haskell's `Int`) as a number, which is exact below 2^53: greater ones are out of range everywhere. */
export function int64(value: Value): number {
  const whole = integer(value);
  if (typeof whole === "bigint" && (whole < INT_LEAST || whole > INT_MOST)) refuse("an integer is beyond 64 bits");
  return Number(whole);
}

const CARDANO_LEAST = -(1n << 262143n);
const CARDANO_MOST = (1n << 262143n) - 1n;
const CARDANO_BYTES = 65536;

/** An integer of at most 32 kB. */
function boundedInteger(value: Value): Int {
  const whole = integer(value);
  if (typeof whole === "number" || (whole >= CARDANO_LEAST && whole <= CARDANO_MOST)) return whole;
  return refuse("an integer has more than 32 kB");
}

/** A byte string of at most 64 kB. */
function boundedBytes(value: Value): Uint8Array {
  const whole = bytes(value);
  return whole.length <= CARDANO_BYTES ? whole : refuse("a byte string has more than 64 kB");
}

/** Readers for arguments that are bounded in some variants only. */
export function bounds(variant: Variant): {
  readonly integer: (value: Value) => Int;
  readonly bytes: (value: Value) => Uint8Array;
} {
  return hasBounds(variant) ? { integer: boundedInteger, bytes: boundedBytes } : { integer, bytes };
}

/** An integer from 0 to 255. */
export function byte(value: Value): number {
  const whole = integer(value);
  return typeof whole === "number" && whole >= 0 && whole <= 255 ? whole : refuse("an integer is no byte");
}
