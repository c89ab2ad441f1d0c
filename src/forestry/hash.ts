/** The trie's hash: blake2b with a 32-byte digest. Call `initHash` before building large tries: hashing is then ten times faster. */
import { blake2b256 } from "#src/cardano/hash.ts";

/**
 * Digest of some bytes, 32 bytes.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { digest } from "./src/forestry/hash.ts";
 *
 * console.log(digest(utf8("name")).length); // 32
 * ```
 */
export const digest = blake2b256;
export { initHash } from "#src/cardano/hash.ts";

const pair = new Uint8Array(64);

/** Digest of two concatenated digests: an inner node of the binary tree over 16 slots. */
export function digestPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 0);
  pair.set(right, 32);
  return blake2b256(pair);
}

/** The root of an empty trie and the hash of an empty slot: 32 zero bytes. */
export const EMPTY: Uint8Array = new Uint8Array(32);

/** Hashes of binary trees over 1, 2, 4, 8 and 16 empty slots. */
export const EMPTY_TREES: readonly Uint8Array[] = emptyTrees();

function emptyTrees(): Uint8Array[] {
  let tree = EMPTY;
  return [EMPTY, ...Array.from({ length: 4 }, () => tree = digestPair(tree, tree))];
}
