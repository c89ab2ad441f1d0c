/** Values shared by several protocols: points, tips, eras, transactions. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { as, asInt, CborError, type Encodable, Encoded, head, type Item, raw, Tagged } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";

/** The tip before the first block. */
export const originTip: Tip = { ...origin, height: -1 };

/** Index of Conway: the newest era whose blocks are read, and the era of submitted transactions. */
export const CONWAY = 6;

/** An era's name, for messages. */
export function eraName(index: number): string {
  return ERAS[index] ?? `era ${index}`;
}

/** Decodes a small number. Throws `CborError` for others. */
export function readSmallNumber(item: Item | undefined): number {
  const value = asInt(item);
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw new CborError("a number is out of range");
  return Number(value);
}

/** Encodes a point. */
export function pointValue({ slot, hash }: Point): Encodable {
  return slot < 0 ? [] : [slot, fromHex(hash)];
}

/** Decodes a point. Throws `CborError`. */
export function readPoint(item: Item | undefined): Point {
  const messageParts = as(item, "array").value;
  if (messageParts.length === 0) return origin;
  if (messageParts.length !== 2) throw new CborError("no point");
  const hash = as(messageParts[1], "bytes").value;
  if (hash.length !== 32) throw new CborError("a block's hash has 32 bytes");
  return { slot: readSmallNumber(messageParts[0]), hash: toHex(hash) };
}

/** Encodes a tip. */
export function tipValue(tip: Tip): Encodable {
  return [pointValue(tip), Math.max(0, tip.height)];
}

/** Decodes a tip. Throws `CborError`. */
export function readTip(item: Item | undefined): Tip {
  const messageParts = as(item, "array").value;
  if (messageParts.length !== 2) throw new CborError("no tip");
  const point = readPoint(messageParts[0]);
  return point.slot < 0 ? originTip : { ...point, height: readSmallNumber(messageParts[1]) };
}

/** The head before bytes under tag 24 ("CBOR in a byte string"). */
export function embeddedHead(length: number): Uint8Array {
  return concat(Uint8Array.of(0xd8, 0x18), head(2, length));
}

/** Encodes CBOR in a byte string. */
function embedded(bytes: Uint8Array): Encodable {
  return new Tagged(24, bytes);
}

/** Decodes CBOR in a byte string (tag 24). Throws `CborError`. */
export function readEmbedded(item: Item | undefined): Uint8Array {
  const tagged = as(item, "tag");
  if (tagged.tag !== 24n) throw new CborError("expected CBOR in a byte string");
  return as(tagged.value, "bytes").value;
}

/** A transaction on the wire: the era's index and the transaction's bytes. */
export interface WireTransaction {
  readonly era: number;
  readonly bytes: Uint8Array;
}

/** Encodes a transaction: `[era, 24(bytes)]`; a Byron transaction is included without the tag. */
export function transactionValue({ era, bytes }: WireTransaction): Encodable {
  return [era, era === 0 ? new Encoded(bytes) : embedded(bytes)];
}

/** Decodes a transaction. Throws `CborError`. */
export function readTransaction(item: Item | undefined): WireTransaction {
  const messageParts = as(item, "array").value;
  if (messageParts.length !== 2) throw new CborError("no transaction");
  const era = readSmallNumber(messageParts[0]);
  return { era, bytes: era === 0 ? raw(messageParts[1]!) : readEmbedded(messageParts[1]) };
}

/** A transaction id on the wire. */
export interface WireId {
  readonly era: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** Encodes a transaction id: `[era, hash]`; Byron's includes the kind of its payload, `[0, [0, hash]]`. */
export function idValue({ era, hash }: WireId): Encodable {
  return [era, era === 0 ? [0, fromHex(hash)] : fromHex(hash)];
}

/** Decodes a transaction id. Throws `CborError`. */
export function readId(item: Item | undefined): WireId {
  const messageParts = as(item, "array").value;
  if (messageParts.length !== 2) throw new CborError("no transaction id");
  const era = readSmallNumber(messageParts[0]);
  const inner = era === 0 ? as(messageParts[1], "array").value[1] : messageParts[1];
  return { era, hash: toHex(as(inner, "bytes").value) };
}

/** The elements of a message: an array whose first element is its tag. */
export function messageParts(item: Item): { readonly tag: number; readonly rest: readonly Item[] } {
  const elements = as(item, "array").value;
  return { tag: readSmallNumber(elements[0]), rest: elements.slice(1) };
}

/** Checks the number of a message's arguments. Throws `CborError`. */
export function requireCount(count: number, rest: readonly Item[]): void {
  if (rest.length !== count) throw new CborError(`a message with ${rest.length} arguments, not ${count}`);
}
