/**
 * The trie's hash: blake2b with a 32-byte digest. It runs on `@noble/hashes` until `initHash` has put WebAssembly in its
 * place, which is about eight times faster and cannot be loaded without waiting. Both give the same digests.
 */
import { blake2b256 } from "#src/cardano/hash.ts";

let implementation: (bytes: Uint8Array) => Uint8Array = blake2b256;
let ready: Promise<void> | undefined;

/** Digest of some bytes, 32 bytes. */
export function digest(bytes: Uint8Array): Uint8Array {
  return implementation(bytes);
}

/** Switches to the fast hash; calls after the first wait for the same. Whoever builds large tries calls this first. */
export function initHash(): Promise<void> {
  ready ??= (async () => {
    const { createBLAKE2b } = await import("hash-wasm");
    const hasher = await createBLAKE2b(256);
    implementation = (bytes) => {
      hasher.init();
      hasher.update(bytes);
      return hasher.digest("binary");
    };
  })();
  return ready;
}

const pair = new Uint8Array(64);

/** Digest of two digests side by side: an inner node of the binary tree over 16 slots. */
export function digestPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 0);
  pair.set(right, 32);
  return implementation(pair);
}

/** What stands for nothing: the root of an empty trie and the hash of an empty slot, 32 zero bytes. */
export const EMPTY: Uint8Array = new Uint8Array(32);

/** Hashes of binary trees over 1, 2, 4, 8 and 16 empty slots. */
export const EMPTY_TREES: readonly Uint8Array[] = emptyTrees();

function emptyTrees(): Uint8Array[] {
  const trees = [EMPTY];
  for (let i = 0; i < 4; i++) trees.push(digestPair(trees[i]!, trees[i]!));
  return trees;
}
