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
export class Built {
  /** `tag` is the constructor's number, of any size; 0 for maps and lists. */
  constructor(readonly kind: 0 | 1 | 2, readonly tag: Int, readonly parts: List) {}
}

/** Data in the machine. Integers in it may be numbers or bigints, not only in the one form of `Int`. */
export type MachineData = Data | number | Built;

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
  return (data as Constr | Built).tag;
}

/** Fields of a constructor, elements of a list, entries of a map. */
export function partsOf(data: MachineData): List {
  if (data instanceof Built) return data.parts;
  return listOf<unknown>(partsArray(data));
}

/** As `partsOf`, as an array. */
export function partsArray(data: MachineData): readonly unknown[] {
  if (data instanceof Constr) return data.fields;
  if (data instanceof Built) return data.parts.toArray();
  return data instanceof DataMap ? data.entries : data as readonly Data[];
}

/** The value of integer data, as an `Int`. */
export function integerOf(data: MachineData): Int {
  return typeof data === "number" ? data : toInt(data as bigint);
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
    } else {
      if (kind === DataKind.CONSTR && tagOf(a) !== tagOf(b)) return false;
      const [ours, theirs] = [partsArray(a), partsArray(b)];
      if (ours.length !== theirs.length) return false;
      pushParts(kind, ours, left);
      pushParts(kind, theirs, right);
    }
  }
  return true;
}

function pushParts(kind: DataKind, parts: readonly unknown[], onto: MachineData[]): void {
  if (kind === DataKind.MAP) {
    for (const [key, value] of parts as readonly DataEntry[]) onto.push(key, value);
  } else {
    for (const part of parts as readonly MachineData[]) onto.push(part);
  }
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
    else pushParts(kindOf(data), partsArray(data), this.open);
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
    if (kind !== DataKind.INTEGER && kind !== DataKind.BYTES) pushParts(kind, partsArray(next), open);
  }
  return count;
}
