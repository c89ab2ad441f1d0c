/**
 * Crowns: what the 16 slots of the branch at the top of a trie hold, side by side. Proofs that share a crown begin behind it.
 */
import { digest, digestPair, EMPTY } from "#src/forestry/hash.ts";
import { BranchNode } from "#src/forestry/node.ts";
import type { Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { concat, equalBytes } from "#src/base/bytes.ts";

/** Bytes of a crown: 32 for each slot, zero where one is empty. */
export const CROWN_BYTES = 512;

/** The crown of a trie; undefined where no branch without shared nibbles is at its top. */
export function crownOf(trie: Forestry): Uint8Array | undefined {
  const { top } = trie;
  if (!(top instanceof BranchNode) || top.at > 0) return undefined;
  return concat(...Array.from({ length: 16 }, (_, slot) => top.merkle(16 + slot)));
}

/** A proof without its first step, where that is the branch whose slots are the crown. */
export function behindCrown([first, ...rest]: Proof): Proof | undefined {
  return first?.skip === 0 ? rest : undefined;
}

/** What the slot of a path holds. */
export function slotIn(crown: Uint8Array, path: Uint8Array): Uint8Array {
  const at = 32 * (path[0]! >> 4);
  return crown.subarray(at, at + 32);
}

/** The crown with something else in the slot of a path. */
export function withSlot(crown: Uint8Array, path: Uint8Array, held: Uint8Array): Uint8Array {
  const next = crown.slice();
  next.set(held, 32 * (path[0]! >> 4));
  return next;
}

/** Root of the trie with a crown; undefined for what is none: another length, or less than two slots occupied. */
export function crownRoot(crown: Uint8Array): Uint8Array | undefined {
  if (crown.length !== CROWN_BYTES) return undefined;
  let hashes = Array.from({ length: 16 }, (_, slot) => crown.subarray(32 * slot, 32 * slot + 32));
  if (hashes.filter((one) => !equalBytes(one, EMPTY)).length < 2) return undefined;
  while (hashes.length > 1) {
    hashes = Array.from({ length: hashes.length / 2 }, (_, i) => digestPair(hashes[2 * i]!, hashes[2 * i + 1]!));
  }
  return digest(hashes[0]!);
}
