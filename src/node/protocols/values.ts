/** Values shared by several protocols: points, tips, eras, transactions. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import { as, asInt, CborError, Encoded, head, type Item, raw, Tagged } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";
import type { CborShape } from "#src/node/queries/shape.ts";

/** The tip before the first block. */
export const originTip: Tip = { ...origin, height: -1 };

/** Index of Byron, whose ledger has no queries of Shelley's. */
export const BYRON = 0;
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

/** A natural number that a `number` holds exactly. */
export const wireNumber: CborShape<number> = { read: readSmallNumber, write: (value) => value };

/** The elements of an array of two. */
function pairOf(item: Item | undefined, what: string): readonly [Item, Item] {
  const [first, second, ...more] = as(item, "array").value;
  if (!first || !second || more.length > 0) throw new CborError(`no ${what}`);
  return [first, second];
}

/** A point: `[]` for the origin, or `[slot, hash]`. */
export const point: CborShape<Point> = {
  read(item) {
    if (item?.type === "array" && item.value.length === 0) return origin;
    const [slot, hash] = pairOf(item, "point");
    const bytes = as(hash, "bytes").value;
    if (bytes.length !== 32) throw new CborError("a block's hash has 32 bytes");
    return { slot: readSmallNumber(slot), hash: toHex(bytes) };
  },
  write: ({ slot, hash }) => slot < 0 ? [] : [slot, fromHex(hash)],
};

/** A tip: `[point, height]`. */
export const tip: CborShape<Tip> = {
  read(item, at) {
    const [position, height] = pairOf(item, "tip");
    const read = point.read(position, at);
    return read.slot < 0 ? originTip : { ...read, height: readSmallNumber(height) };
  },
  write: (value, at) => [point.write(value, at), Math.max(0, value.height)],
};

/** The head before bytes under tag 24 ("CBOR in a byte string"). */
export function embeddedHead(length: number): Uint8Array {
  return concat(Uint8Array.of(0xd8, 0x18), head(2, length));
}

/** CBOR in a byte string (tag 24). */
export const embedded: CborShape<Uint8Array> = {
  read(item) {
    const { tag, value } = as(item, "tag");
    if (tag !== 24n) throw new CborError("expected CBOR in a byte string");
    return as(value, "bytes").value;
  },
  write: (value) => new Tagged(24, value),
};

/** A transaction on the wire: the era's index and the transaction's bytes. */
export interface WireTransaction {
  readonly era: number;
  readonly bytes: Uint8Array;
}

/** A transaction: `[era, 24(bytes)]`; a Byron transaction is included without the tag. */
export const wireTransaction: CborShape<WireTransaction> = {
  read(item, at) {
    const [number, bytes] = pairOf(item, "transaction");
    const era = readSmallNumber(number);
    return { era, bytes: era === 0 ? raw(bytes) : embedded.read(bytes, at) };
  },
  write: ({ era, bytes }, at) => [era, era === 0 ? new Encoded(bytes) : embedded.write(bytes, at)],
};

/** A transaction id on the wire. */
export interface WireId {
  readonly era: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** A transaction id: `[era, hash]`; Byron's includes the kind of its payload, `[0, [0, hash]]`. */
export const wireId: CborShape<WireId> = {
  read(item) {
    const [number, id] = pairOf(item, "transaction id");
    const era = readSmallNumber(number);
    return { era, hash: toHex(as(era === 0 ? as(id, "array").value[1] : id, "bytes").value) };
  },
  write: ({ era, hash }) => [era, era === 0 ? [0, fromHex(hash)] : fromHex(hash)],
};

/** The elements of a message: an array whose first element is its tag. */
export function messageParts(item: Item): { readonly tag: number; readonly rest: readonly Item[] } {
  const elements = as(item, "array").value;
  return { tag: readSmallNumber(elements[0]), rest: elements.slice(1) };
}

/** Checks the number of a message's arguments. Throws `CborError`. */
export function requireCount(count: number, rest: readonly Item[]): void {
  if (rest.length !== count) throw new CborError(`a message with ${rest.length} arguments, not ${count}`);
}
