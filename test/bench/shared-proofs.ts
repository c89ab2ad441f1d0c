/**
 * How small the proofs of a batch could be if what they repeat stood there once: a lower bound, by which it can be told how many more requests
 * an update could take.
 */
import { BranchNode, type Node } from "#src/forestry/node.ts";
import { nibble } from "#src/forestry/nibbles.ts";
import { encodeProof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";

/** A hash as an element of a list, and what a list takes around two elements. */
const HASH = 34;
const PAIR = 2;

/** Bytes of a binary tree over 16 slots in which these are opened: hashes for the rest. */
function openedBytes(slots: ReadonlySet<number>, from = 0, width = 16): number {
  const touched = [...slots].some((slot) => slot >= from && slot < from + width);
  if (!touched) return HASH;
  if (width === 1) return 0;
  const half = width / 2;
  return PAIR + openedBytes(slots, from, half) + openedBytes(slots, from + half, half);
}

/**
 * Bytes of one proof for all paths against the trie before the batch: branches through which two or more of them go stand there once, opened in
 * all slots that they take; below, each has a proof of its own. What a verifier needs beyond that (which request goes where) is left
 * out, and so is that a batch changes the trie as it goes. `most` levels of branches are shared.
 */
export function sharedBytes(facts: Forestry, paths: readonly Uint8Array[], most = Infinity): number {
  const own = (group: readonly Uint8Array[], depth: number) =>
    group.reduce((sum, path) => {
      const proof = facts.prove(path);
      const steps = proof.ok ? proof : facts.proveAbsent(path);
      return sum + encodeProof(steps.ok ? steps.value.slice(depth) : []).length;
    }, 0);
  const visit = (node: Node | undefined, group: readonly Uint8Array[], depth: number): number => {
    if (depth >= most || group.length < 2 || !(node instanceof BranchNode) || node.at !== node.from) {
      return own(group, depth);
    }
    const slots = new Map<number, Uint8Array[]>();
    for (const path of group) {
      const slot = nibble(path, node.at);
      slots.set(slot, [...(slots.get(slot) ?? []), path]);
    }
    const below = [...slots].reduce((sum, [slot, paths]) => sum + visit(node.kids[slot], paths, depth + 1), 0);
    return openedBytes(new Set(slots.keys())) + below;
  };
  return visit(facts.top, paths, 0);
}
