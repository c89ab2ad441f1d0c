/**
 * The shared top branch: the hashes in the 16 slots of the branch at a trie's root, concatenated. Proofs that share it omit
 * their first step.
 */
import { digest, EMPTY } from "#src/forestry/hash.ts";
import { BranchNode } from "#src/forestry/node.ts";
import { nibble } from "#src/forestry/nibbles.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { concat, equalBytes } from "#src/base/bytes.ts";

/** Bytes of a top branch: 32 for each slot, all zero for an empty one. */
export const TOP_BRANCH_BYTES = 512;

/**
 * The top branch of a trie, 512 bytes; undefined unless its root is a branch without shared nibbles (`skip` 0).
 *
 * @example
 * ```ts
 * import { topBranchOf } from "./src/forestry/topBranch.ts";
 * import { Forestry } from "./src/forestry/trie.ts";
 *
 * console.log(topBranchOf(new Forestry())); // undefined
 * ```
 */
export function topBranchOf(trie: Forestry): Uint8Array | undefined {
  const { top } = trie;
  if (!(top instanceof BranchNode) || top.at > 0) return undefined;
  return concat(...Array.from({ length: 16 }, (_, slot) => top.merkle(16 + slot)));
}

/**
 * A proof without its first step; undefined unless that step is the top branch.
 *
 * @example
 * ```ts
 * import { proofBelowTopBranch } from "./src/forestry/topBranch.ts";
 *
 * console.log(proofBelowTopBranch([{ type: "branch", skip: 0, neighbors: new Uint8Array(128) }])); // []
 * ```
 */
export function proofBelowTopBranch([first, ...rest]: Proof): Proof | undefined {
  return first?.skip === 0 ? rest : undefined;
}

/**
 * The hash in a path's slot, 32 bytes.
 *
 * @example
 * ```ts
 * import { readSlot, TOP_BRANCH_BYTES } from "./src/forestry/topBranch.ts";
 *
 * console.log(readSlot(new Uint8Array(TOP_BRANCH_BYTES), new Uint8Array(32)).length); // 32
 * ```
 */
export function readSlot(topBranch: Uint8Array, path: Uint8Array): Uint8Array {
  const at = 32 * nibble(path, 0);
  return topBranch.subarray(at, at + 32);
}

/**
 * The top branch with another hash in a path's slot.
 *
 * @throws {RangeError} if hash and slot do not fit into the top branch.
 *
 * @example
 * ```ts
 * import { readSlot, TOP_BRANCH_BYTES, withSlot } from "./src/forestry/topBranch.ts";
 *
 * const path = new Uint8Array(32);
 * const changed = withSlot(new Uint8Array(TOP_BRANCH_BYTES), path, new Uint8Array(32).fill(7));
 * console.log(readSlot(changed, path)[0]); // 7
 * ```
 */
export function withSlot(topBranch: Uint8Array, path: Uint8Array, held: Uint8Array): Uint8Array {
  const next = topBranch.slice();
  next.set(held, 32 * nibble(path, 0));
  return next;
}

/**
 * Root of the trie with this top branch; undefined if its length is wrong or fewer than two slots are occupied.
 *
 * @example
 * ```ts
 * import { TOP_BRANCH_BYTES, topBranchRoot } from "./src/forestry/topBranch.ts";
 *
 * console.log(topBranchRoot(new Uint8Array(TOP_BRANCH_BYTES))); // undefined
 * ```
 */
export function topBranchRoot(topBranch: Uint8Array): Uint8Array | undefined {
  if (topBranch.length !== TOP_BRANCH_BYTES) return undefined;
  const slots = Array.from({ length: 16 }, (_, slot) => topBranch.subarray(32 * slot, 32 * slot + 32));
  if (slots.filter((one) => !equalBytes(one, EMPTY)).length < 2) return undefined;
  let level = topBranch;
  while (level.length > 32) {
    const below = level;
    const pairs = Array.from({ length: below.length / 64 }, (_, i) => digest(below.subarray(64 * i, 64 * i + 64)));
    level = concat(...pairs);
  }
  return digest(level);
}
