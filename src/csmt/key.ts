/** Keys and values of the tree: what an output is stored under, and its digest. */
import { concat, fromHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import type { OutRef } from "#src/cardano/output.ts";

/** Bits of an address's digest, with which the keys of all of its outputs begin. */
export const PREFIX_BITS = 256;

/** The digest of an address (bytes in hexadecimal; a Byron address in its own CBOR). */
export function addressPrefix(address: string): Uint8Array {
  return blake2b256(fromHex(address));
}

/** CBOR of a reference to an output, in the form of the eras since Shelley: 36 to 38 bytes for the indices of a block. */
export function encodeRef({ txHash, index }: OutRef): Uint8Array {
  return encode([fromHex(txHash), index]);
}

/** The key of an output at an address (bytes in hexadecimal). */
export function outputKey(address: string, ref: OutRef): Uint8Array {
  return concat(addressPrefix(address), encodeRef(ref));
}
