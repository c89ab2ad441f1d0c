/** Keys and values of the tree: what an output is stored under, and its digest. */
import { concat, fromHex } from "#src/base/bytes.ts";
import { head } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import type { OutRef } from "#src/cardano/output.ts";

/** Bits of an address's digest, with which the keys of all of its outputs begin. */
export const PREFIX_BITS = 256;

/** The digest of an address (bytes in hexadecimal; a Byron address in its own CBOR). */
export function addressPrefix(address: string): Uint8Array {
  return blake2b256(fromHex(address));
}

/** Initial bytes of a list of two, and of a digest in it. */
const REF = Uint8Array.of(0x82, 0x58, 0x20);

/** CBOR of a reference to an output, in the form of the eras since Shelley: 36 to 38 bytes for the indices of a block. */
export function encodeRef({ txHash, index }: OutRef): Uint8Array {
  return concat(REF, fromHex(txHash), index < 24 ? Uint8Array.of(index) : head(0, index));
}

/** The key of an output at an address (bytes in hexadecimal). */
export function outputKey(address: string, ref: OutRef): Uint8Array {
  return keyBelow(addressPrefix(address), ref);
}

/** The key of an output at the address of a digest. */
export function keyBelow(prefix: Uint8Array, ref: OutRef): Uint8Array {
  return concat(prefix, encodeRef(ref));
}
