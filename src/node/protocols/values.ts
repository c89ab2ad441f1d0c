/** What several protocols carry: points, tips, eras, transactions. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { as, asInt, CborError, type Encodable, Encoded, head, type Item, raw, Tagged } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";

/** Before the first block, as a tip. */
export const originTip: Tip = { ...origin, height: -1 };

/** Index of the newest era whose blocks are read, and of the one that transactions are made for. */
export const CONWAY = 6;

/** An era's name, for sentences. */
export function eraName(index: number): string {
  return ERAS[index] ?? `era ${index}`;
}

/** A small number that a protocol carries. Throws `CborError` on others. */
export function small(item: Item | undefined): number {
  const value = asInt(item);
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw new CborError("a number is out of range");
  return Number(value);
}

/** A point, to be encoded. */
export function pointValue({ slot, hash }: Point): Encodable {
  return slot < 0 ? [] : [slot, fromHex(hash)];
}

/** Reads a point. Throws `CborError`. */
export function readPoint(item: Item | undefined): Point {
  const parts = as(item, "array").value;
  if (parts.length === 0) return origin;
  if (parts.length !== 2) throw new CborError("no point");
  const hash = as(parts[1], "bytes").value;
  if (hash.length !== 32) throw new CborError("a block's hash has 32 bytes");
  return { slot: small(parts[0]), hash: toHex(hash) };
}

/** A tip, to be encoded. */
export function tipValue(tip: Tip): Encodable {
  return [pointValue(tip), Math.max(0, tip.height)];
}

/** Reads a tip. Throws `CborError`. */
export function readTip(item: Item | undefined): Tip {
  const parts = as(item, "array").value;
  if (parts.length !== 2) throw new CborError("no tip");
  const point = readPoint(parts[0]);
  return point.slot < 0 ? originTip : { ...point, height: small(parts[1]) };
}

/** Bytes under tag 24 ("CBOR in a byte string"): what stands before them. */
export function wrapHead(length: number): Uint8Array {
  return concat(Uint8Array.of(0xd8, 0x18), head(2, length));
}

/** CBOR in a byte string, to be encoded. */
export function wrapped(bytes: Uint8Array): Encodable {
  return new Tagged(24, bytes);
}

/** Bytes under tag 24. Throws `CborError`. */
export function unwrap(item: Item | undefined): Uint8Array {
  const tagged = as(item, "tag");
  if (tagged.tag !== 24n) throw new CborError("expected CBOR in a byte string");
  return as(tagged.value, "bytes").value;
}

/** A transaction as it travels: the era's index and the transaction's own bytes. */
export interface WireTransaction {
  readonly era: number;
  readonly bytes: Uint8Array;
}

/** A transaction, to be encoded: `[era, 24(bytes)]`; Byron's stands there as the item that it is. */
export function transactionValue({ era, bytes }: WireTransaction): Encodable {
  return [era, era === 0 ? new Encoded(bytes) : wrapped(bytes)];
}

/** Reads a transaction. Throws `CborError`. */
export function readTransaction(item: Item | undefined): WireTransaction {
  const parts = as(item, "array").value;
  if (parts.length !== 2) throw new CborError("no transaction");
  const era = small(parts[0]);
  return { era, bytes: era === 0 ? raw(parts[1]!) : unwrap(parts[1]) };
}

/** A transaction's id as it travels. */
export interface WireId {
  readonly era: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** A transaction's id, to be encoded: `[era, hash]`, Byron's with the kind of its payload, `[0, [0, hash]]`. */
export function idValue({ era, hash }: WireId): Encodable {
  return [era, era === 0 ? [0, fromHex(hash)] : fromHex(hash)];
}

/** Reads a transaction's id. Throws `CborError`. */
export function readId(item: Item | undefined): WireId {
  const parts = as(item, "array").value;
  if (parts.length !== 2) throw new CborError("no transaction id");
  const era = small(parts[0]);
  const inner = era === 0 ? as(parts[1], "array").value[1] : parts[1];
  return { era, hash: toHex(as(inner, "bytes").value) };
}

/** The elements of a message: an array whose first element says which. */
export function parts(item: Item): { readonly tag: number; readonly rest: readonly Item[] } {
  const elements = as(item, "array").value;
  return { tag: small(elements[0]), rest: elements.slice(1) };
}

/** Refuses a message that has more or fewer arguments than it should. Throws `CborError`. */
export function exactly(count: number, rest: readonly Item[]): void {
  if (rest.length !== count) throw new CborError(`a message with ${rest.length} arguments, not ${count}`);
}
