/** Plutus data: what datums, redeemers and script arguments are made of (CDDL `plutus_data`). */
import {
  as,
  asInt,
  CborError,
  decode,
  decodeAll,
  type Encodable,
  encode,
  Encoded,
  head,
  Indefinite,
  type Item,
  raw,
  Tagged,
} from "#src/cardano/cbor.ts";
import { concat, equalBytes } from "#src/base/bytes.ts";

/** A constructor with its fields. */
export class Constr {
  constructor(readonly tag: number, readonly fields: readonly Data[]) {}
}

/** A map, in the order given. */
export class DataMap {
  constructor(readonly entries: readonly (readonly [Data, Data])[]) {}
}

export type Data = bigint | Uint8Array | Constr | DataMap | readonly Data[];

/** `new Constr`, for terms that are mostly constructors. */
export function constr(tag: number, ...fields: Data[]): Constr {
  return new Constr(tag, fields);
}

function bytesItem(bytes: Uint8Array): Encodable {
  if (bytes.length <= 64) return bytes;
  const parts: Uint8Array[] = [Uint8Array.of(0x5f)];
  for (let i = 0; i < bytes.length; i += 64) {
    const chunk = bytes.subarray(i, i + 64);
    parts.push(head(2, chunk.length), chunk);
  }
  return new Encoded(concat(...parts, Uint8Array.of(0xff)));
}

function listItem(elements: readonly Data[]): Encodable {
  return elements.length === 0 ? [] : new Indefinite(elements.map(dataItem));
}

/** Plutus data as an item to encode, in the form that the Haskell serialiser writes. */
export function dataItem(data: Data): Encodable {
  if (typeof data === "bigint") return data;
  if (data instanceof Uint8Array) return bytesItem(data);
  if (data instanceof DataMap) return new Map(data.entries.map(([k, v]) => [dataItem(k), dataItem(v)]));
  if (!(data instanceof Constr)) return listItem(data);
  if (data.tag < 7) return new Tagged(121 + data.tag, listItem(data.fields));
  if (data.tag < 128) return new Tagged(1280 + data.tag - 7, listItem(data.fields));
  return new Tagged(102, [data.tag, listItem(data.fields)]);
}

/** CBOR of Plutus data. */
export function encodeData(data: Data): Uint8Array {
  return encode(dataItem(data));
}

/** Plutus data out of an item. Throws `CborError` on anything else, and on constructors whose number is beyond 2^53. */
export function readData(item: Item): Data {
  switch (item.type) {
    case "int":
      return item.value;
    case "bytes":
      return item.value;
    case "array":
      return item.value.map(readData);
    case "map":
      return new DataMap(item.value.map(([k, v]) => [readData(k), readData(v)] as const));
    case "tag": {
      if (item.tag === 2n || item.tag === 3n) return asInt(item);
      const found = constructorOf(item);
      if (!found) throw new CborError(`tag ${item.tag} is no constructor`);
      const [constructor, fields] = found;
      if (!Number.isSafeInteger(constructor)) throw new CborError("a constructor's number is beyond 2^53");
      return new Constr(constructor, as(fields, "array").value.map(readData));
    }
    default:
      throw new CborError(`${item.type} is no Plutus data`);
  }
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
  return readData(decode(bytes));
}

/** Most bytes of one piece of a byte string within Plutus data. */
const PIECE = 64;

/**
 * Whether bytes are Plutus data as the ledger reads it, however deeply it is nested: also byte strings, and those of great integers, come in pieces
 * of 64 bytes at the most.
 */
export function isData(bytes: Uint8Array): boolean {
  try {
    return isDataItem(decodeAll(bytes));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return false;
  }
}

function isDataItem(item: Item | undefined): boolean {
  switch (item?.type) {
    case "int":
    case "deep":
      return true;
    case "bytes":
      return isInPieces(item);
    case "array":
      return item.value.every(isDataItem);
    case "map":
      return item.value.every(([key, value]) => isDataItem(key) && isDataItem(value));
    case "tag": {
      if (item.tag === 2n || item.tag === 3n) return item.value.type === "bytes" && isInPieces(item.value);
      if (item.tag === 102n && (item.value.type !== "array" || item.value.value.length !== 2)) return false;
      const [constructor, fields] = constructorOf(item) ?? [-1, undefined];
      return constructor >= 0 && fields?.type === "array" && fields.value.every(isDataItem);
    }
    default:
      return false;
  }
}

/** Whether no piece of a byte string is too long. */
function isInPieces(item: Item & { readonly type: "bytes" }): boolean {
  const bytes = raw(item);
  if (bytes[0] !== 0x5f) return item.value.length <= PIECE;
  for (let at = 1; bytes[at] !== 0xff;) {
    const first = bytes[at]! - 0x40;
    const [length, from] = first === 24 ? [bytes[at + 1]!, at + 2] : [first, at + 1];
    if (length > PIECE) return false;
    at = from + length;
  }
  return true;
}

/** Whether two data are equal as the script builtin `equalsData` sees them. */
export function equalData(a: Data, b: Data): boolean {
  return equalBytes(encodeData(a), encodeData(b));
}
