/**
 * A block's own point and height out of `[era tag, block]`, without decoding the block: the first bytes are stepped through, the header
 * is hashed as it came.
 */
import { concat, toHex } from "#src/base/bytes.ts";
import type { Tip } from "#src/cardano/block.ts";
import { as, CborError, decodeAt, type Item, raw } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { nodeError } from "#src/node/errors.ts";
import { CONWAY, eraName, small } from "#src/node/values.ts";

/** Slots of an epoch in Byron on every network there is (10 k, k = 2,160). */
const BYRON_EPOCH = 21_600;

/** Era tag of `[era tag, block]`: 0 an epoch boundary block, 1 Byron, 2 Shelley … 7 Conway. */
export function eraTag(block: Uint8Array): number {
  if (block[0] !== 0x82) throw new CborError("no block of the hard fork combinator");
  const tag = block[1]!;
  if (!(tag < 24)) throw new CborError("no era tag");
  return tag;
}

/** The header of a block, decoded. Throws `CborError`, and a `NodeError` in an era that is not known. */
function headerItem(block: Uint8Array): { readonly tag: number; readonly header: Item } {
  const tag = eraTag(block);
  if (tag > CONWAY + 1) {
    throw nodeError(
      "era_unknown",
      `The node has a block of the ${eraName(tag - 1)} era; this version reads up to ${eraName(CONWAY)}.`,
    );
  }
  // the block is an array of at least two, its head one byte
  if (block[2] === undefined || block[2] >> 5 !== 4) throw new CborError("no block");
  return { tag, header: decodeAt(block, 3) };
}

/** A block's height, read from its first bytes. Throws as `readHeader` does. */
export function heightOf(block: Uint8Array): number {
  const tag = eraTag(block);
  // from Shelley on: [tag, [[[height, …
  if (tag >= 2 && tag <= CONWAY + 1 && block[2]! >> 5 === 4 && block[3] === 0x82 && block[4]! >> 5 === 4) {
    return small(decodeAt(block, 5));
  }
  const { header } = headerItem(block);
  return byron(tag, header).height;
}

/** A block's point and height. Throws `CborError` on other bytes, a `NodeError` (`era_unknown`) in an era that is not known. */
export function readHeader(block: Uint8Array): Tip {
  const { tag, header } = headerItem(block);
  if (tag < 2) {
    const prefix = Uint8Array.of(0x82, tag);
    return { ...byron(tag, header), hash: toHex(blake2b256(concat(prefix, raw(header)))) };
  }
  const [height, slot] = as(as(header, "array").value[0], "array").value;
  return { slot: small(slot), height: small(height), hash: toHex(blake2b256(raw(header))) };
}

function byron(tag: number, header: Item): { slot: number; height: number } {
  const consensus = as(as(header, "array").value[3], "array").value;
  if (tag === 0) {
    const [epoch, difficulty] = consensus;
    return { slot: small(epoch) * BYRON_EPOCH, height: small(as(difficulty, "array").value[0]) };
  }
  const [at, , difficulty] = consensus;
  const [epoch, slot] = as(at, "array").value;
  return {
    slot: small(epoch) * BYRON_EPOCH + small(slot),
    height: small(as(difficulty, "array").value[0]),
  };
}
