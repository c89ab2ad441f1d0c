/**
 * Shapes: how a value is decoded from CBOR and encoded to it. Both directions are in one place, so that client and
 * server agree.
 *
 * A node sends lists, sets and maps with over 23 entries with indefinite length, shorter ones definite. In arguments a
 * node only accepts sets as definite lists in its own strictly ascending order; otherwise it closes the connection.
 * Decoding accepts either length.
 */
import { concat } from "#src/base/bytes.ts";
import {
  as,
  asInt,
  asSet,
  CborError,
  type Encodable,
  encode,
  Encoded,
  Indefinite,
  type Item,
  Tagged,
} from "#src/cardano/cbor.ts";

/** The version of the protocol (16 to 23) and the era for which a value is encoded. */
export interface EncodingContext {
  readonly version: number;
  readonly era: number;
}

/** The shape of a value on the wire. `read` throws `CborError` for anything else. */
export interface CborShape<T> {
  read(item: Item | undefined, at: EncodingContext): T;
  write(value: T, at: EncodingContext): Encodable;
}

/** The shape of an array of fields. */
interface RecordShape<T> extends CborShape<T> {
  write(value: T, at: EncodingContext): readonly Encodable[];
}

/** The value of a shape. */
export type ShapeValue<S> = S extends CborShape<infer T> ? T : never;

/** For shapes that depend neither on the version nor on the era. */
export const UNVERSIONED: EncodingContext = { version: 0, era: 0 };

/** Number of entries from which on a node sends a list or a map with indefinite length. */
const INDEFINITE_FROM = 24;

/** Encodes a list as a node does. */
export function sentList(elements: readonly Encodable[]): Encodable {
  return elements.length < INDEFINITE_FROM ? elements : new Indefinite(elements);
}

/** Encodes a map as a node does, with entries in the given order. */
export function sentMap(entries: readonly (readonly [Encodable, Encodable])[]): Encodable {
  if (entries.length < INDEFINITE_FROM) return new Map(entries);
  const parts = entries.map(([key, value]) => concat(encode(key), encode(value)));
  return new Encoded(concat(Uint8Array.of(0xbf), ...parts, Uint8Array.of(0xff)));
}

/** An array of exactly these fields, in this order; with `more`, unknown ones may follow. */
export function record<T extends object>(
  fields: { readonly [K in keyof T]-?: CborShape<T[K]> },
  { more = false } = {},
): RecordShape<T> {
  const shapes = Object.entries<CborShape<unknown>>(fields);
  return {
    read(item, at) {
      const elements = as(item, "array").value;
      if (elements.length < shapes.length || (!more && elements.length > shapes.length)) {
        throw new CborError(`expected ${shapes.length} elements, found ${elements.length}`);
      }
      return Object.fromEntries(shapes.map(([name, shape], i) => [name, shape.read(elements[i], at)])) as T;
    },
    write: (value, at) => shapes.map(([name, shape]) => shape.write(Reflect.get(value, name), at)),
  };
}

/** An object with one member, whose name is part of its type (a computed name alone has the type `string`). */
export function named<Name extends string, T>(name: Name, value: T): { readonly [N in Name]: T } {
  return { [name]: value } as { readonly [N in Name]: T };
}

/** A list of elements of one shape. */
export function listOf<T>(element: CborShape<T>): CborShape<readonly T[]> {
  return {
    read: (item, at) => as(item, "array").value.map((each) => element.read(each, at)),
    write: (values, at) => sentList(values.map((each) => element.write(each, at))),
  };
}

type Compare<T> = (a: T, b: T) => number;

/** Distinct values in ascending order. */
export function ascending<T>(values: readonly T[], order: Compare<T>): T[] {
  return [...values].sort(order).filter((value, i, sorted) => {
    const before = sorted[i - 1];
    return before === undefined || order(before, value) !== 0;
  });
}

/**
 * A set in a query's arguments: a definite list under tag 258; with `"since Conway"`, the tag only from that era on.
 */
export function argumentSet<T>(
  element: CborShape<T>,
  order: Compare<T>,
  tag: "always" | "since Conway" = "always",
): CborShape<readonly T[]> {
  return {
    read: (item, at) => asSet(item).map((each) => element.read(each, at)),
    write(values, at) {
      const list = ascending(values, order).map((each) => element.write(each, at));
      return tag === "always" || at.era >= 6 ? new Tagged(258, list) : list;
    },
  };
}

/** A set in an answer: a list under tag 258. */
export function sentSet<T>(element: CborShape<T>, order: Compare<T>): CborShape<readonly T[]> {
  return {
    read: (item, at) => asSet(item).map((each) => element.read(each, at)),
    write: (values, at) => new Tagged(258, sentList(ascending(values, order).map((each) => element.write(each, at)))),
  };
}

/** A map as rows, each combined from a key and a value; encoded in the order of the keys. */
export function mapOf<Row, K, V>(
  key: CborShape<K>,
  value: CborShape<V>,
  order: Compare<K>,
  join: (key: K, value: V) => Row,
  split: (row: Row) => readonly [K, V],
): CborShape<readonly Row[]> {
  return {
    read(item, at) {
      // Dingo encodes some empty maps as empty arrays
      if (item?.type === "array" && item.value.length === 0) return [];
      return as(item, "map").value.map(([k, v]) => join(key.read(k, at), value.read(v, at)));
    },
    write: (rows, at) =>
      sentMap(
        rows.map(split).sort(([a], [b]) => order(a, b)).map(([k, v]) => [key.write(k, at), value.write(v, at)]),
      ),
  };
}

/** `Maybe`: `[]` or `[x]`. */
export function maybe<T>(shape: CborShape<T>): CborShape<T | undefined> {
  return {
    read(item, at) {
      const elements = as(item, "array").value;
      if (elements.length > 1) throw new CborError(`expected at most one element, found ${elements.length}`);
      return elements[0] && shape.read(elements[0], at);
    },
    write: (value, at) => (value === undefined ? [] : [shape.write(value, at)]),
  };
}

/** `null` or x. */
export function nullable<T>(shape: CborShape<T>): CborShape<T | undefined> {
  return {
    read: (item, at) => (item?.type === "null" ? undefined : shape.read(item, at)),
    write: (value, at) => (value === undefined ? null : shape.write(value, at)),
  };
}

/** One shape before a version of the protocol, another one since. */
export function since<T>(version: number, before: CborShape<T>, after: CborShape<T>): CborShape<T> {
  const of = (at: EncodingContext) => (at.version < version ? before : after);
  return { read: (item, at) => of(at).read(item, at), write: (value, at) => of(at).write(value, at) };
}

/** A natural number that a `number` holds exactly. */
export const count: CborShape<number> = {
  read(item) {
    const value = Number(asInt(item));
    if (!Number.isSafeInteger(value) || value < 0) throw new CborError("a number out of range");
    return value;
  },
  write: (value) => value,
};

/** An integer of any size: lovelace, picoseconds. */
export const amount: CborShape<bigint> = { read: (item) => asInt(item), write: (value) => value };

/** A text. */
export const text: CborShape<string> = { read: (item) => as(item, "text").value, write: (value) => value };

/** A truth value. */
export const flag: CborShape<boolean> = { read: (item) => as(item, "bool").value, write: (value) => value };

/** One of some names, encoded as its index. */
export function choice<const T extends string>(what: string, names: readonly T[]): CborShape<T> {
  return {
    read(item, at) {
      const name = names[count.read(item, at)];
      if (name === undefined) throw new CborError(`no such ${what}`);
      return name;
    },
    write: (value) => names.indexOf(value),
  };
}
