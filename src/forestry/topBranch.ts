/**
 * The shared top branch: the hashes in the 16 slots of the branch at a trie's root, concatenated. Proofs that share it omit
 * their first step.
 */
import { digest, digestPair, EMPTY } from "#src/forestry/hash.ts";
import { BranchNode } from "#src/forestry/node.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { concat, equalBytes } from "#src/base/bytes.ts";

/** Bytes of a top branch: 32 for each slot, all zero for an empty one. */
export const TOP_BRANCH_BYTES = 512;

/** The top branch of a trie; undefined unless its root is a branch without shared nibbles (`skip` 0). */
export function topBranchOf(trie: Forestry): Uint8Array | undefined {
  const { top } = trie;
  if (!(top instanceof BranchNode) || top.at > 0) return undefined;
  return concat(...Array.from({ length: 16 }, (_, slot) => top.merkle(16 + slot)));
}

/** A proof without its first step; undefined unless that step is the top branch. */
export function proofBelowTopBranch([first, ...rest]: Proof): Proof | undefined {
  return first?.skip === 0 ? rest : undefined;
}

/** The hash in a path's slot. */
export function readSlot(topBranch: Uint8Array, path: Uint8Array): Uint8Array {
  const at = 32 * (path[0]! >> 4);
  return topBranch.subarray(at, at + 32);
}

/** The top branch with another hash in a path's slot. */
export function withSlot(topBranch: Uint8Array, path: Uint8Array, held: Uint8Array): Uint8Array {
  const next = topBranch.slice();
  next.set(held, 32 * (path[0]! >> 4));
  return next;
}

/** Root of the trie with this top branch; undefined if its length is wrong or fewer than two slots are occupied. */
export function topBranchRoot(topBranch: Uint8Array): Uint8Array | undefined {
  if (topBranch.length !== TOP_BRANCH_BYTES) return undefined;
  let hashes = Array.from({ length: 16 }, (_, slot) => topBranch.subarray(32 * slot, 32 * slot + 32));
  if (hashes.filter((one) => !equalBytes(one, EMPTY)).length < 2) return undefined;
  while (hashes.length > 1) {
    hashes = Array.from({ length: hashes.length / 2 }, (_, i) => digestPair(hashes[2 * i]!, hashes[2 * i + 1]!));
  }
  return digest(hashes[0]!);
}
