/** What a built-in function takes out of its arguments. Each function throws a `Failure` of kind `type` on a value of another type. */
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
import { type Constant, type Value, ValueKind } from "#src/plutus/machine/value.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

function mismatch(expected: string): never {
  throw new Failure("type", `an argument is not ${expected}`);
}

/** A constant, of whatever type. */
export function constantOf(value: Value): Constant {
  return value.kind === ValueKind.CONSTANT ? value : mismatch("a constant");
}

export function integer(value: Value): Int {
  return value.kind === ValueKind.CONSTANT && value.type === INTEGER ? value.value as Int : mismatch("an integer");
}

export function bytes(value: Value): Uint8Array {
  return value.kind === ValueKind.CONSTANT && value.type === BYTES
    ? value.value as Uint8Array
    : mismatch("a byte string");
}

export function text(value: Value): string {
  return value.kind === ValueKind.CONSTANT && value.type === TEXT ? value.value as string : mismatch("a string");
}

export function bool(value: Value): boolean {
  return value.kind === ValueKind.CONSTANT && value.type === BOOL ? value.value as boolean : mismatch("a boolean");
}

export function unit(value: Value): void {
  if (value.kind !== ValueKind.CONSTANT || value.type !== UNIT) mismatch("the unit");
}

export function data(value: Value): MachineData {
  return value.kind === ValueKind.CONSTANT && value.type === DATA ? value.value as MachineData : mismatch("data");
}

/** A list of whatever type. */
export function list(value: Value): List {
  return value.kind === ValueKind.CONSTANT && value.type.tag === TypeTag.LIST
    ? value.value as List
    : mismatch("a list");
}

/** A list of one type. */
export function listOfType(value: Value, type: Type): List {
  return value.kind === ValueKind.CONSTANT && sameType(value.type, type)
    ? value.value as List
    : mismatch("such a list");
}

export function pair(value: Value): readonly [unknown, unknown] {
  return value.kind === ValueKind.CONSTANT && value.type.tag === TypeTag.PAIR
    ? value.value as readonly [unknown, unknown]
    : mismatch("a pair");
}

export function array(value: Value): readonly unknown[] {
  return value.kind === ValueKind.CONSTANT && value.type.tag === TypeTag.ARRAY
    ? value.value as readonly unknown[]
    : mismatch("an array");
}

/** A ledger value. */
export function tokens(value: Value): Assets {
  return value.kind === ValueKind.CONSTANT && value.type === VALUE ? value.value as Assets : mismatch("a value");
}

/** A constant of a type that is compared by identity. */
export function ofType(value: Value, type: Type): unknown {
  return value.kind === ValueKind.CONSTANT && value.type === type ? value.value : mismatch("of that type");
}

const INT_LEAST = -(1n << 63n);
const INT_MOST = (1n << 63n) - 1n;

/** An integer of the machine type `Int` (64 bits), as a number that is exact where it matters: below 2^53. */
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

/** How arguments are taken that are bounded under some variants only. */
export function bounds(variant: Variant): {
  readonly integer: (value: Value) => Int;
  readonly bytes: (value: Value) => Uint8Array;
} {
  return hasBounds(variant) ? { integer: boundedInteger, bytes: boundedBytes } : { integer, bytes };
}

/** An integer that is a byte. */
export function byte(value: Value): number {
  const whole = integer(value);
  return typeof whole === "number" && whole >= 0 && whole <= 255 ? whole : refuse("an integer is no byte");
}
