/**
 * CBOR (RFC 8949) with raw slices: a decoded item knows where its bytes stand, because hashes are over the bytes as they
 * came, never over what another encoder would have written.
 */
import { fromHex, fromUtf8, joined, toHex, utf8 } from "#src/base/bytes.ts";

/** A decoded item; `start` and `end` are its place in `source`. */
export type Item = { readonly source: Uint8Array; readonly start: number; readonly end: number } & ItemValue;
type ItemValue =
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "bytes"; readonly value: Uint8Array }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "array"; readonly value: readonly Item[]; readonly indefinite: boolean }
  | { readonly type: "map"; readonly value: readonly (readonly [Item, Item])[]; readonly indefinite: boolean }
  | { readonly type: "tag"; readonly tag: bigint; readonly value: Item }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "null" }
  | { readonly type: "undefined" }
  | { readonly type: "simple"; readonly value: number }
  | { readonly type: "float"; readonly value: number }
  /** Nested too deeply to be taken apart; only `decodeAll` gives it. */
  | { readonly type: "deep" };

/** The bytes are malformed CBOR, or not the expected item. */
export class CborError extends Error {
  override readonly name = "CborError";
}

const MAX_DEPTH = 256;

/** Decodes exactly one item. Throws `CborError` on trailing bytes, truncation, bad UTF-8 or nesting over 256. */
export function decode(source: Uint8Array): Item {
  const item = decodeAt(source, 0);
  if (item.end !== source.length) throw new CborError(`${source.length - item.end} bytes after the item`);
  return item;
}

/**
 * Decodes exactly one item of any depth: an item nested deeper than 256 levels becomes one item of type "deep" with its
 * bytes. For bytes from a chain, where only a transaction's size limits the depth.
 *
 * @throws {CborError} if the bytes are not exactly one item
 */
export function decodeAll(source: Uint8Array): Item {
  const item = new Decoder(source, true).item(0, 0);
  if (item.end !== source.length) throw new CborError(`${source.length - item.end} bytes after the item`);
  return item;
}

/** Decodes the item that begins at `start`; what follows it is not looked at. */
export function decodeAt(source: Uint8Array, start: number): Item {
  return new Decoder(source).item(start, 0);
}

class Decoder {
  private readonly view: DataView;
  constructor(private readonly source: Uint8Array, private readonly deep = false) {
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  }

  item(start: number, depth: number): Item {
    const { source } = this;
    if (depth > MAX_DEPTH) {
      if (!this.deep) throw new CborError("nested too deeply");
      return { source, start, end: this.skip(start), type: "deep" };
    }
    const initial = this.byte(start);
    const major = initial >> 5;
    const info = initial & 31;
    if (major === 7) return this.simple(start, info);
    const [argument, next] = this.argument(start + 1, info, major);
    switch (major) {
      case 0:
      case 1: {
        const value = definite(argument);
        return { source, start, end: next, type: "int", value: major === 0 ? value : -1n - value };
      }
      case 2: {
        const [value, end] = this.chunks(next, argument, 2);
        return { source, start, end, type: "bytes", value };
      }
      case 3: {
        const [bytes, end] = this.chunks(next, argument, 3);
        const value = fromUtf8(bytes);
        if (value === undefined) throw new CborError("text is not UTF-8");
        return { source, start, end, type: "text", value };
      }
      case 4: {
        const value: Item[] = [];
        const end = this.repeat(next, argument, (at) => {
          const element = this.item(at, depth + 1);
          value.push(element);
          return element.end;
        });
        return { source, start, end, type: "array", value, indefinite: argument === undefined };
      }
      case 5: {
        const value: [Item, Item][] = [];
        const end = this.repeat(next, argument, (at) => {
          const key = this.item(at, depth + 1);
          const entry = this.item(key.end, depth + 1);
          value.push([key, entry]);
          return entry.end;
        });
        return { source, start, end, type: "map", value, indefinite: argument === undefined };
      }
      default: {
        const value = this.item(next, depth + 1);
        return { source, start, end: value.end, type: "tag", tag: definite(argument), value };
      }
    }
  }

  /** Where the item that begins at `start` ends, found without a call for each level. */
  private skip(start: number): number {
    // items still to come in each open array, map or tag; undefined until a break
    const open: (bigint | undefined)[] = [];
    let at = start;
    do {
      const left = open.at(-1);
      if (open.length > 0 && left === undefined && this.byte(at) === 0xff) {
        open.pop();
        at++;
      } else {
        if (left !== undefined) open[open.length - 1] = left - 1n;
        const initial = this.byte(at);
        const major = initial >> 5;
        if (major < 4 || major === 7) at = this.item(at, 0).end;
        else {
          const [argument, next] = this.argument(at + 1, initial & 31, major);
          open.push(major === 4 || argument === undefined ? argument : major === 5 ? 2n * argument : 1n);
          at = next;
        }
      }
      while (open.at(-1) === 0n) open.pop();
    } while (open.length > 0);
    return at;
  }

  private byte(at: number): number {
    const byte = this.source[at];
    if (byte === undefined) throw new CborError("truncated");
    return byte;
  }

  private argument(at: number, info: number, major: number): [bigint | undefined, number] {
    if (info < 24) return [BigInt(info), at];
    if (info === 31 && major >= 2 && major <= 5) return [undefined, at];
    const width = info === 24 ? 1 : info === 25 ? 2 : info === 26 ? 4 : info === 27 ? 8 : 0;
    if (width === 0) throw new CborError("reserved additional information");
    if (at + width > this.source.length) throw new CborError("truncated");
    const value = width === 8
      ? this.view.getBigUint64(at)
      : BigInt(width === 4 ? this.view.getUint32(at) : width === 2 ? this.view.getUint16(at) : this.byte(at));
    return [value, at + width];
  }

  private repeat(at: number, count: bigint | undefined, one: (at: number) => number): number {
    if (count === undefined) {
      while (this.byte(at) !== 0xff) at = one(at);
      return at + 1;
    }
    if (count > BigInt(this.source.length - at)) throw new CborError("truncated");
    for (let i = 0n; i < count; i++) at = one(at);
    return at;
  }

  private chunks(at: number, length: bigint | undefined, major: number): [Uint8Array, number] {
    if (length !== undefined) {
      if (length > BigInt(this.source.length - at)) throw new CborError("truncated");
      const end = at + Number(length);
      return [this.source.subarray(at, end), end];
    }
    const parts: Uint8Array[] = [];
    while (this.byte(at) !== 0xff) {
      const initial = this.byte(at);
      if (initial >> 5 !== major || (initial & 31) === 31) throw new CborError("chunk of another type");
      const [size, next] = this.argument(at + 1, initial & 31, major);
      const [part, end] = this.chunks(next, size, major);
      parts.push(part);
      at = end;
    }
    return [joined(parts), at + 1];
  }

  private simple(start: number, info: number): Item {
    const { source } = this;
    const at = start + 1;
    if (info === 20 || info === 21) return { source, start, end: at, type: "bool", value: info === 21 };
    if (info === 22) return { source, start, end: at, type: "null" };
    if (info === 23) return { source, start, end: at, type: "undefined" };
    if (info < 20) return { source, start, end: at, type: "simple", value: info };
    if (info === 24) return { source, start, end: at + 1, type: "simple", value: this.byte(at) };
    const width = info === 25 ? 2 : info === 26 ? 4 : info === 27 ? 8 : 0;
    if (width === 0) throw new CborError("unexpected break");
    if (at + width > source.length) throw new CborError("truncated");
    const value = width === 8
      ? this.view.getFloat64(at)
      : width === 4
      ? this.view.getFloat32(at)
      : half(this.view.getUint16(at));
    return { source, start, end: at + width, type: "float", value };
  }
}

/** The argument of an item that has one: `argument` gives none only for strings and containers of indefinite length. */
function definite(argument: bigint | undefined): bigint {
  if (argument === undefined) throw new CborError("reserved additional information");
  return argument;
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The item's own bytes. */
export function raw(item: Item): Uint8Array {
  return item.source.subarray(item.start, item.end);
}

type Of<T extends Item["type"]> = Extract<Item, { type: T }>;

/** The item as one type, or `CborError`. */
export function as<T extends Item["type"]>(item: Item | undefined, type: T): Of<T> {
  if (!isOf(item, type)) throw new CborError(`expected ${type}, found ${item?.type ?? "nothing"}`);
  return item;
}

function isOf<T extends Item["type"]>(item: Item | undefined, type: T): item is Of<T> {
  return item?.type === type;
}

/** The big number whose magnitude is written in bytes. Takes time in proportion to them; byte by byte a megabyte would take minutes. */
export function bigNumber(isNegative: boolean, bytes: Uint8Array): bigint {
  const magnitude = bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`);
  return isNegative ? -1n - magnitude : magnitude;
}

/** The integer that an item is; big numbers (tags 2 and 3) included. */
export function asInt(item: Item | undefined): bigint {
  if (item?.type === "tag" && (item.tag === 2n || item.tag === 3n)) {
    return bigNumber(item.tag === 3n, as(item.value, "bytes").value);
  }
  return as(item, "int").value;
}

/** Elements of an array, or of a set under tag 258 (Conway). */
export function asSet(item: Item | undefined): readonly Item[] {
  return item?.type === "tag" && item.tag === 258n ? as(item.value, "array").value : as(item, "array").value;
}

/** The value under an integer key of a map. */
export function entry(map: Item | undefined, key: number): Item | undefined {
  const wanted = BigInt(key);
  return as(map, "map").value.find(([k]) => k.type === "int" && k.value === wanted)?.[1];
}

// ---------------------------------------------------------------- encoding

/** Bytes that are CBOR already. */
export class Encoded {
  constructor(readonly bytes: Uint8Array) {}
}

/** A tagged value. */
export class Tagged {
  constructor(readonly tag: number, readonly value: Encodable) {}
}

/** An array of indefinite length, as Plutus data has them. */
export class Indefinite {
  constructor(readonly elements: readonly Encodable[]) {}
}

/** A map in the order of its entries, which may have several of one key. */
export class Entries {
  constructor(readonly entries: readonly (readonly [Encodable, Encodable])[]) {}
}

export type Encodable =
  | bigint
  | number
  | boolean
  | null
  | string
  | Uint8Array
  | Encoded
  | Tagged
  | Indefinite
  | Entries
  | readonly Encodable[]
  | ReadonlyMap<Encodable, Encodable>;

/** Initial bytes of an item: major type and argument, in the shortest form. */
export function head(major: number, argument: bigint | number): Uint8Array {
  const value = BigInt(argument);
  const type = major << 5;
  if (value < 24n) return Uint8Array.of(type | Number(value));
  const width = value < 0x100n ? 1 : value < 0x10000n ? 2 : value < 0x100000000n ? 4 : 8;
  const bytes = new Uint8Array(1 + width);
  bytes[0] = type | (width === 1 ? 24 : width === 2 ? 25 : width === 4 ? 26 : 27);
  for (let i = 0; i < width; i++) bytes[width - i] = Number((value >> BigInt(8 * i)) & 255n);
  return bytes;
}

/** Encodes a value: shortest heads, definite lengths, maps in the order given; integers past 64 bits as big numbers. */
export function encode(value: Encodable): Uint8Array {
  const parts: Uint8Array[] = [];
  write(value, parts);
  return joined(parts);
}

const BREAK = Uint8Array.of(0xff);

function write(value: Encodable, parts: Uint8Array[]): void {
  if (value === null) parts.push(Uint8Array.of(0xf6));
  else if (typeof value === "boolean") parts.push(Uint8Array.of(value ? 0xf5 : 0xf4));
  else if (typeof value === "number" || typeof value === "bigint") writeInt(BigInt(value), parts);
  else if (typeof value === "string") {
    const bytes = utf8(value);
    parts.push(head(3, bytes.length), bytes);
  } else if (value instanceof Uint8Array) parts.push(head(2, value.length), value);
  else if (value instanceof Encoded) parts.push(value.bytes);
  else if (value instanceof Tagged) {
    parts.push(head(6, value.tag));
    write(value.value, parts);
  } else if (value instanceof Indefinite) {
    parts.push(Uint8Array.of(0x9f));
    for (const element of value.elements) write(element, parts);
    parts.push(BREAK);
  } else if (isList(value)) {
    parts.push(head(4, value.length));
    for (const element of value) write(element, parts);
  } else {
    const entries = value instanceof Entries ? value.entries : [...value];
    parts.push(head(5, entries.length));
    for (const [key, entry] of entries) {
      write(key, parts);
      write(entry, parts);
    }
  }
}

/** `Array.isArray`, which alone does not recognise a readonly list. */
function isList(value: Encodable): value is readonly Encodable[] {
  return Array.isArray(value);
}

function writeInt(value: bigint, parts: Uint8Array[]): void {
  const negative = value < 0n;
  const magnitude = negative ? -1n - value : value;
  if (magnitude < 1n << 64n) {
    parts.push(head(negative ? 1 : 0, magnitude));
    return;
  }
  let digits = magnitude.toString(16);
  if (digits.length % 2 === 1) digits = "0" + digits;
  const bytes = fromHex(digits);
  parts.push(head(6, negative ? 3 : 2));
  if (bytes.length <= 64) {
    parts.push(head(2, bytes.length), bytes);
    return;
  }
  parts.push(Uint8Array.of(0x5f));
  for (let i = 0; i < bytes.length; i += 64) {
    const chunk = bytes.subarray(i, i + 64);
    parts.push(head(2, chunk.length), chunk);
  }
  parts.push(BREAK);
}
