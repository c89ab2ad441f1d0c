/**
 * Plutus data inside the machine: decoded data (see src/cardano/data.ts), and data that scripts build, whose parts are the
 * machine's lists so that building is O(1). Nothing here recurses: data may be nested as deeply as the budget allows.
 */
import { equalBytes } from "#src/base/bytes.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import { type Int, toInt, words } from "#src/plutus/machine/integer.ts";
import { type List, listOf } from "#src/plutus/machine/list.ts";

export const DataKind = { CONSTR: 0, MAP: 1, LIST: 2, INTEGER: 3, BYTES: 4 } as const;
export type DataKind = (typeof DataKind)[keyof typeof DataKind];

/** A constructor, map or list whose parts are one of the machine's lists; entries of a map are pairs. */
export class Built<Kind extends 0 | 1 | 2, Part> {
  /** `tag` is the constructor's number, of any size; 0 for maps and lists. */
  constructor(readonly kind: Kind, readonly tag: Int, readonly parts: List<Part>) {}
}

/** Data in the machine. Integers in it may be numbers or bigints, not only in the one form of `Int`. */
export type MachineData = Data | number | Built<0 | 2, MachineData> | Built<1, DataEntry>;

export type DataEntry = readonly [MachineData, MachineData];

export function kindOf(data: MachineData): DataKind {
  if (data instanceof Constr) return DataKind.CONSTR;
  if (data instanceof Uint8Array) return DataKind.BYTES;
  if (typeof data === "bigint" || typeof data === "number") return DataKind.INTEGER;
  if (data instanceof DataMap) return DataKind.MAP;
  return data instanceof Built ? data.kind : DataKind.LIST;
}

/** Number of a constructor. */
export function tagOf(data: MachineData): Int {
  return data instanceof Constr || data instanceof Built ? data.tag : anotherKind("a constructor");
}

/** Fields of a constructor, elements of a list, entries of a map. */
export function partsOf(data: MachineData): List {
  if (data instanceof Built) return data.parts;
  return data instanceof DataMap ? listOf(data.entries) : listOf(itemsOf(data));
}

/** Fields of a constructor, elements of a list. */
export function itemsOf(data: MachineData): readonly MachineData[] {
  if (data instanceof Constr) return data.fields;
  if (data instanceof Built) return data.kind === DataKind.MAP ? anotherKind("a list") : data.parts.toArray();
  if (typeof data === "bigint" || typeof data === "number") return anotherKind("a list");
  return data instanceof DataMap || data instanceof Uint8Array ? anotherKind("a list") : data;
}

/** Entries of a map. */
export function entriesOf(data: MachineData): readonly DataEntry[] {
  if (data instanceof DataMap) return data.entries;
  return data instanceof Built && data.kind === DataKind.MAP ? data.parts.toArray() : anotherKind("a map");
}

/** The value of integer data, as an `Int`. */
export function integerOf(data: MachineData): Int {
  if (typeof data === "number") return data;
  return typeof data === "bigint" ? toInt(data) : anotherKind("an integer");
}

/** An error of the program: callers look at the kind first. */
function anotherKind(expected: string): never {
  throw new TypeError(`the data is not ${expected}`);
}

/** Whether two pieces of data are equal. */
export function sameData(first: MachineData, second: MachineData): boolean {
  const left: MachineData[] = [first];
  const right: MachineData[] = [second];
  for (let a = left.pop(), b = right.pop(); a !== undefined && b !== undefined; a = left.pop(), b = right.pop()) {
    if (a === b) continue;
    const kind = kindOf(a);
    if (kind !== kindOf(b)) return false;
    if (kind === DataKind.INTEGER) {
      if (integerOf(a) !== integerOf(b)) return false;
    } else if (a instanceof Uint8Array && b instanceof Uint8Array) {
      if (!equalBytes(a, b)) return false;
    } else if (kind === DataKind.MAP) {
      const [ours, theirs] = [entriesOf(a), entriesOf(b)];
      if (ours.length !== theirs.length) return false;
      pushEntries(ours, left);
      pushEntries(theirs, right);
    } else {
      if (kind === DataKind.CONSTR && tagOf(a) !== tagOf(b)) return false;
      const [ours, theirs] = [itemsOf(a), itemsOf(b)];
      if (ours.length !== theirs.length) return false;
      for (const part of ours) left.push(part);
      for (const part of theirs) right.push(part);
    }
  }
  return true;
}

function pushEntries(entries: readonly DataEntry[], onto: MachineData[]): void {
  for (const [key, value] of entries) onto.push(key, value);
}

/** Adds the parts of a constructor, list or map. */
function pushParts(data: MachineData, onto: MachineData[]): void {
  if (kindOf(data) === DataKind.MAP) pushEntries(entriesOf(data), onto);
  else for (const part of itemsOf(data)) onto.push(part);
}

/** Size of a byte string for costing, in eight-byte words; 1 if it is empty. */
export function byteWords(bytes: Uint8Array): number {
  return bytes.length <= 8 ? 1 : (bytes.length + 7) >>> 3;
}

/** Measures data node by node, so that two measures can run side by side. */
class Measure {
  size = 0;
  private readonly open: MachineData[];
  constructor(data: MachineData) {
    this.open = [data];
  }

  /** Adds one node; false if there was none left. */
  step(): boolean {
    const data = this.open.pop();
    if (data === undefined) return false;
    this.size += 4;
    if (typeof data === "number" || typeof data === "bigint") this.size += words(integerOf(data));
    else if (data instanceof Uint8Array) this.size += byteWords(data);
    else pushParts(data, this.open);
    return true;
  }
}

/** Size of data for costing: four for each node, plus the words of integers and byte strings. */
export function dataSize(data: MachineData): number {
  const measure = new Measure(data);
  while (measure.step());
  return measure.size;
}

/** The smaller of two sizes, in time proportional to it: comparing large data with small data is cheap. */
export function smallerSize(a: MachineData, b: MachineData): number {
  const [left, right] = [new Measure(a), new Measure(b)];
  for (;;) {
    if (left.size <= right.size) {
      if (!left.step()) return left.size;
    } else if (!right.step()) return right.size;
  }
}

/** Number of nodes of data. */
export function nodeCount(data: MachineData): number {
  const open: MachineData[] = [data];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count++;
    const kind = kindOf(next);
    if (kind !== DataKind.INTEGER && kind !== DataKind.BYTES) pushParts(next, open);
  }
  return count;
}
