/** Hashes of RFC 6962: SHA-256 with one byte before leaves and another before inner nodes. */
import { sha256 } from "@noble/hashes/sha2.js";
import { concat } from "#src/base/bytes.ts";

/** Bytes in a hash. */
export const HASH_BYTES = 32;

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** Root of a tree without entries. */
export const EMPTY_LOG_ROOT: Uint8Array = sha256(new Uint8Array());

/** Hash of an entry. */
export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(concat(LEAF, entry));
}

/** Hash of an inner node. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(NODE, left, right));
}
