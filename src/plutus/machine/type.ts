/** Types of constants: the default universe of Plutus Core. */
import type { Assets } from "#src/plutus/machine/assets.ts";
import type { G1Point, G2Point, MillerLoop } from "#src/plutus/machine/points.ts";
import type { DataEntry, MachineData } from "#src/plutus/machine/data.ts";
import type { Int } from "#src/plutus/machine/integer.ts";
import type { List } from "#src/plutus/machine/list.ts";

/** Number of a type in the flat encoding (specification, appendix C); 7 is the application of a type to another. */
export const TypeTag = {
  INTEGER: 0,
  BYTES: 1,
  TEXT: 2,
  UNIT: 3,
  BOOL: 4,
  LIST: 5,
  PAIR: 6,
  APPLICATION: 7,
  DATA: 8,
  G1: 9,
  G2: 10,
  MILLER_LOOP: 11,
  ARRAY: 12,
  VALUE: 13,
} as const;
export type TypeTag = (typeof TypeTag)[keyof typeof TypeTag];

/** Maximum number of nodes of a type, as in the ledger's decoder: it bounds the recursion of functions on types. */
export const MAX_TYPE_NODES = 32;

/**
 * A type whose constants hold a `T`; lists and arrays have a `first`, pairs a `first` and a `second`. Simple types are compared
 * by identity.
 */
export class Type<out T = unknown> {
  /** Carries `T` for the type checker; has no value at run time. */
  declare readonly holds?: T;
  private list: Type<List<T>> | undefined;
  private array: Type<readonly T[]> | undefined;

  /** `first` and `second`: the types of elements, of a list or of a pair. */
  constructor(readonly tag: TypeTag, readonly first: Type | null = null, readonly second: Type | null = null) {}

  /** The type of lists of this type. */
  get listOf(): Type<List<T>> {
    return this.list ??= new Type(TypeTag.LIST, this);
  }

  /** The type of arrays of this type. */
  get arrayOf(): Type<readonly T[]> {
    return this.array ??= new Type(TypeTag.ARRAY, this);
  }
}

export const INTEGER: Type<Int> = new Type(TypeTag.INTEGER);
export const BYTES: Type<Uint8Array> = new Type(TypeTag.BYTES);
export const TEXT: Type<string> = new Type(TypeTag.TEXT);
export const UNIT: Type<null> = new Type(TypeTag.UNIT);
export const BOOL: Type<boolean> = new Type(TypeTag.BOOL);
export const DATA: Type<MachineData> = new Type(TypeTag.DATA);
export const G1: Type<G1Point> = new Type(TypeTag.G1);
export const G2: Type<G2Point> = new Type(TypeTag.G2);
export const MILLER_LOOP: Type<MillerLoop> = new Type(TypeTag.MILLER_LOOP);
export const VALUE: Type<Assets> = new Type(TypeTag.VALUE);

export const DATA_LIST: Type<List<MachineData>> = DATA.listOf;
export const DATA_PAIR: Type<DataEntry> = new Type(TypeTag.PAIR, DATA, DATA);
/** Type of the entries of a map in `Data`. */
export const DATA_PAIRS: Type<List<DataEntry>> = DATA_PAIR.listOf;
/** Result type of `unConstrData`. */
export const CONSTR_PAIR: Type<readonly [Int, List<MachineData>]> = new Type(TypeTag.PAIR, INTEGER, DATA_LIST);

const SIMPLE: readonly (Type | undefined)[] = [
  INTEGER,
  BYTES,
  TEXT,
  UNIT,
  BOOL,
  undefined,
  undefined,
  undefined,
  DATA,
  G1,
  G2,
  MILLER_LOOP,
  undefined,
  VALUE,
];

/** The type without parameters that has this number; undefined if there is none. */
export function simpleType(tag: number): Type | undefined {
  return SIMPLE[tag];
}

/** Whether two types are equal. `MAX_TYPE_NODES` bounds the recursion. */
export function sameType(a: Type | null, b: Type | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.tag !== b.tag || a.first === null) return false;
  return sameType(a.first, b.first) && sameType(a.second, b.second);
}
