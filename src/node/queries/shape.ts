/**
 * Shapes: how a value is read from CBOR and written to it, both directions in one place, so that client and server cannot differ.
 *
 * What a node sends: lists, sets and maps with over 23 entries are of indefinite length, shorter ones definite. What a node takes in
 * arguments: sets as definite lists, strictly ascending in its own order; otherwise it hangs up. Reading accepts either length.
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

/** For which version of the protocol (16 to 23) and which era something is written. */
export interface At {
  readonly version: number;
  readonly era: number;
}

/** One form on the wire. `read` throws `CborError` on anything else. */
export interface Shape<T> {
  read(item: Item | undefined, at: At): T;
  write(value: T, at: At): Encodable;
}

/** Entries from which on a node sends a list or a map with indefinite length. */
const LONG = 24;

/** A list as a node sends it. */
export function sentList(elements: readonly Encodable[]): Encodable {
  return elements.length < LONG ? elements : new Indefinite(elements);
}

/** A map as a node sends it; the entries stand in the order given. */
export function sentMap(entries: readonly (readonly [Encodable, Encodable])[]): Encodable {
  if (entries.length < LONG) return new Map(entries);
  const parts = entries.map(([key, value]) => concat(encode(key), encode(value)));
  return new Encoded(concat(Uint8Array.of(0xbf), ...parts, Uint8Array.of(0xff)));
}

/** An array of exactly these fields, in this order; with `more`, unknown ones may follow. */
export function record<T extends object>(
  fields: { readonly [K in keyof T]-?: Shape<T[K]> },
  { more = false } = {},
): Shape<T> {
  const shapes = Object.entries(fields) as [keyof T, Shape<T[keyof T]>][];
  return {
    read(item, at) {
      const elements = as(item, "array").value;
      if (elements.length < shapes.length || (!more && elements.length > shapes.length)) {
        throw new CborError(`expected ${shapes.length} elements, found ${elements.length}`);
      }
      return Object.fromEntries(shapes.map(([name, shape], i) => [name, shape.read(elements[i], at)])) as T;
    },
    write: (value, at) => shapes.map(([name, shape]) => shape.write(value[name], at)),
  };
}

/** A list, each element of one shape. */
export function listOf<T>(element: Shape<T>): Shape<readonly T[]> {
  return {
    read: (item, at) => as(item, "array").value.map((each) => element.read(each, at)),
    write: (values, at) => sentList(values.map((each) => element.write(each, at))),
  };
}

type Order<T> = (a: T, b: T) => number;

/** Values in ascending order, each once. */
export function ascending<T>(values: readonly T[], order: Order<T>): T[] {
  return [...values].sort(order).filter((value, i, sorted) => i === 0 || order(sorted[i - 1]!, value) !== 0);
}

/** A set in the arguments of a query: a definite list under tag 258; `"since Conway"`: the tag only from that era on. */
export function argumentSet<T>(
  element: Shape<T>,
  order: Order<T>,
  tag: "always" | "since Conway" = "always",
): Shape<readonly T[]> {
  return {
    read: (item, at) => asSet(item).map((each) => element.read(each, at)),
    write(values, at) {
      const list = ascending(values, order).map((each) => element.write(each, at));
      return tag === "always" || at.era >= 6 ? new Tagged(258, list) : list;
    },
  };
}

/** A set in an answer: tag 258 around a list. */
export function sentSet<T>(element: Shape<T>, order: Order<T>): Shape<readonly T[]> {
  return {
    read: (item, at) => asSet(item).map((each) => element.read(each, at)),
    write: (values, at) => new Tagged(258, sentList(ascending(values, order).map((each) => element.write(each, at)))),
  };
}

/** A map, as rows: each row joined from a key and a value. Written in the order of the keys. */
export function mapOf<Row, K, V>(
  key: Shape<K>,
  value: Shape<V>,
  order: Order<K>,
  join: (key: K, value: V) => Row,
  split: (row: Row) => readonly [K, V],
): Shape<readonly Row[]> {
  return {
    read(item, at) {
      // Dingo writes an empty array for some of its empty maps
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
export function maybe<T>(shape: Shape<T>): Shape<T | undefined> {
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
export function nullable<T>(shape: Shape<T>): Shape<T | undefined> {
  return {
    read: (item, at) => (item?.type === "null" ? undefined : shape.read(item, at)),
    write: (value, at) => (value === undefined ? null : shape.write(value, at)),
  };
}

/** One shape before a version of the protocol, another since. */
export function since<T>(version: number, before: Shape<T>, after: Shape<T>): Shape<T> {
  const of = (at: At) => (at.version < version ? before : after);
  return { read: (item, at) => of(at).read(item, at), write: (value, at) => of(at).write(value, at) };
}

/** A natural number that a `number` carries exactly. */
export const count: Shape<number> = {
  read(item) {
    const value = Number(asInt(item));
    if (!Number.isSafeInteger(value) || value < 0) throw new CborError("a number out of range");
    return value;
  },
  write: (value) => value,
};

/** An integer of any size: lovelace, picoseconds. */
export const amount: Shape<bigint> = { read: (item) => asInt(item), write: (value) => value };

/** A text. */
export const text: Shape<string> = { read: (item) => as(item, "text").value, write: (value) => value };
