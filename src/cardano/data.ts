/** Plutus data: what datums, redeemers and script arguments are made of (CDDL `plutus_data`). */
import { as, asInt, bigNumber, CborError, encode, Encoded, head, type Item } from "#src/cardano/cbor.ts";
import { concat, joined } from "#src/base/bytes.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** A constructor with its fields. Its number is a bigint only where a number cannot hold it (beyond 2^53 − 1). */
export class Constr {
  constructor(readonly tag: number | bigint, readonly fields: readonly Data[]) {}
}

/** A map, in the order given; a key may stand in it more than once. */
export class DataMap {
  constructor(readonly entries: readonly (readonly [Data, Data])[]) {}
}

export type Data = bigint | Uint8Array | Constr | DataMap | readonly Data[];

/** `new Constr`, for terms that are mostly constructors. */
export function constr(tag: number | bigint, ...fields: Data[]): Constr {
  return new Constr(tag, fields);
}

/** Most bytes of one piece of a byte string within Plutus data. */
const PIECE = 64;
const BREAK = new Encoded(Uint8Array.of(0xff));

/** CBOR of Plutus data, in the form that the Haskell serialiser writes, however deeply it is nested. */
export function encodeData(data: Data): Uint8Array {
  const parts: Uint8Array[] = [];
  // what is still to be written, from the last to the next
  const rest: (Data | Encoded)[] = [data];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next instanceof Encoded) parts.push(next.bytes);
    else if (typeof next === "bigint") parts.push(encode(next));
    else if (next instanceof Uint8Array) parts.push(encodedBytes(next));
    else if (next instanceof DataMap) {
      parts.push(head(5, next.entries.length));
      for (const [key, value] of next.entries.toReversed()) rest.push(value, key);
    } else {
      const elements = next instanceof Constr ? next.fields : next;
      if (next instanceof Constr) parts.push(constructorHead(next.tag));
      parts.push(elements.length === 0 ? head(4, 0) : Uint8Array.of(0x9f));
      if (elements.length > 0) rest.push(BREAK);
      for (const element of elements.toReversed()) rest.push(element);
    }
  }
  return joined(parts);
}

/** What stands before the list of a constructor's fields. */
function constructorHead(tag: number | bigint): Uint8Array {
  if (tag < 7) return head(6, 121 + Number(tag));
  if (tag < 128) return head(6, 1280 + Number(tag) - 7);
  return concat(head(6, 102), head(4, 2), encode(tag));
}

function encodedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= PIECE) return encode(bytes);
  const parts: Uint8Array[] = [Uint8Array.of(0x5f)];
  for (let i = 0; i < bytes.length; i += PIECE) parts.push(encode(bytes.subarray(i, i + PIECE)));
  return joined([...parts, BREAK.bytes]);
}

/** A list, a map or a constructor that is being read. */
interface Open {
  /** What was read of it; keys and values of a map in turn. */
  readonly inside: Data[];
  /** Elements or entries that it has, or -1 until a break. */
  readonly count: number;
  /** Values that make one of those. */
  readonly width: 1 | 2;
  /** What it is, now that all of it was read. */
  readonly whole: () => Data;
}

/**
 * Reads Plutus data at a walk's position, of any depth, exactly as the ledger does (plutus-core `decodeData`): byte strings,
 * including those of big integers, in chunks of at most 64 bytes.
 *
 * @throws {CborError} if the bytes are not Plutus data
 */
export function walkData(walk: Walk): Data {
  const open: Open[] = [];
  for (;;) {
    let value = walkLeaf(walk);
    if (value === undefined) open.push(walkHead(walk));
    for (let inner = open.at(-1); inner; inner = open.at(-1)) {
      const { inside, count, width } = inner;
      if (value !== undefined) inside.push(value);
      if (inside.length % width !== 0 || walk.more(inside.length / width, count)) break;
      open.pop();
      value = inner.whole();
    }
    if (value !== undefined && open.length === 0) return value;
  }
}

/** An integer or bytes; undefined where something begins that holds others. */
function walkLeaf(walk: Walk): Data | undefined {
  switch (walk.major) {
    case major.uint:
    case major.nint:
      return walk.int();
    case major.bytes:
      return walkPieces(walk);
    case major.tag: {
      const initial = walk.source[walk.at];
      if (initial !== 0xc2 && initial !== 0xc3) return undefined;
      walk.tag();
      return bigNumber(initial === 0xc3, walkPieces(walk));
    }
    default:
      return undefined;
  }
}

/** Bytes, none of whose pieces is too long. */
function walkPieces(walk: Walk): Uint8Array {
  const { source, at } = walk;
  const bytes = walk.bytes();
  if (source[at] !== 0x5f) {
    if (bytes.length > PIECE) throw new CborError("more than 64 bytes in one piece");
    return bytes;
  }
  const pieces = new Walk(source, at + 1);
  while (pieces.at < walk.at - 1) {
    if (pieces.bytes().length > PIECE) throw new CborError("a piece of more than 64 bytes");
  }
  return bytes;
}

/** Opens a list, a map or a constructor. */
function walkHead(walk: Walk): Open {
  const inside: Data[] = [];
  switch (walk.major) {
    case major.array:
      return { inside, count: walk.array(), width: 1, whole: () => inside };
    case major.map:
      return { inside, count: walk.map(), width: 2, whole: () => new DataMap(pairs(inside)) };
    case major.tag: {
      const tag = walk.tag();
      if (tag !== 102) {
        const number = tag >= 121 && tag < 128 ? tag - 121 : tag >= 1280 && tag < 1401 ? tag - 1280 + 7 : -1;
        if (number < 0) throw new CborError(`tag ${tag} is no constructor`);
        return { inside, count: walk.array(), width: 1, whole: () => new Constr(number, inside) };
      }
      const start = walk.at;
      // its two elements are not counted ahead: that would take time for each level of what is nested
      const elements = walk.array();
      if (elements !== 2 && elements !== -1) throw new CborError("a constructor's list is none of two");
      const exact = walkNumber(walk);
      const number = exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact;
      const count = walk.array();
      const whole = () => {
        walk.close(start);
        return new Constr(number, inside);
      };
      return { inside, count, width: 1, whole };
    }
    default:
      throw new CborError("no Plutus data");
  }
}

/** The number of a constructor, which is no great integer under a tag. */
function walkNumber(walk: Walk): bigint {
  if (walk.major !== major.uint) throw new CborError("a constructor without a number");
  return walk.int();
}

function pairs(flat: readonly Data[]): [Data, Data][] {
  const entries: [Data, Data][] = [];
  let key: Data | undefined;
  for (const one of flat) {
    if (key !== undefined) entries.push([key, one]);
    key = key === undefined ? one : undefined;
  }
  return entries;
}

/** Plutus data out of an item. Throws `CborError` on anything else. */
export function readData(item: Item): Data {
  return walkData(new Walk(item.source, item.start));
}

/** Number and fields of a constructor, the fields unread; undefined for an item that is none. Throws `CborError` on a bent one. */
export function constructorOf(item: Item): [constructor: number, fields: Item | undefined] | undefined {
  if (item.type !== "tag") return undefined;
  const tag = Number(item.tag);
  if (tag === 102) {
    const [constructor, fields] = as(item.value, "array").value;
    return [Number(asInt(constructor)), fields];
  }
  if (tag >= 121 && tag < 128) return [tag - 121, item.value];
  return tag >= 1280 && tag < 1401 ? [tag - 1280 + 7, item.value] : undefined;
}

/** Plutus data out of CBOR. Throws `CborError`. */
export function decodeData(bytes: Uint8Array): Data {
  const walk = new Walk(bytes);
  const data = walkData(walk);
  walk.end();
  return data;
}

/** Whether bytes are Plutus data as the ledger reads it. */
export function isData(bytes: Uint8Array): boolean {
  try {
    decodeData(bytes);
    return true;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return false;
  }
}
