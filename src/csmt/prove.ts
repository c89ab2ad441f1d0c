/** Makes proofs from a tree. Each function throws `MissingSubtree` if it needs a sub-tree that is not loaded. */
import { bitAt, firstDifference, spreadBits } from "#src/csmt/bits.ts";
import { Leaf, type Node, Stub } from "#src/csmt/node.ts";
import type { CompletenessProof, ExclusionProof, InclusionProof, ProofStep } from "#src/csmt/proof.ts";
import { MissingSubtree } from "#src/csmt/tree.ts";

/** Proves that a key has its value; undefined if the tree does not have the key. */
export function proveInclusion(top: Node | undefined, key: Uint8Array): InclusionProof | undefined {
  const way = top && descend(top, key);
  return top && way?.node instanceof Leaf && way.matches ? inclusionOf(top, way.node, way.steps) : undefined;
}

/** Proves that no key begins with a target of whole bytes; undefined if one does. */
export function proveExclusion(top: Node | undefined, target: Uint8Array): ExclusionProof | undefined {
  if (!top) return null;
  const way = descend(top, target);
  if (way.matches) return undefined;
  const { leaf, steps } = leftmost(way.node, way.steps);
  return { target: spreadBits(target, 0, target.length * 8), witness: inclusionOf(top, leaf, steps) };
}

/** Proves which keys begin with a prefix of whole bytes: all elements of the sub-tree, which are given in order. */
export function proveCompleteness(
  top: Node | undefined,
  prefix: Uint8Array,
): { readonly proof: CompletenessProof; readonly elements: readonly Leaf[] } {
  const way = top && descend(top, prefix);
  if (!way?.matches) return { proof: { empty: proveExclusion(top, prefix) ?? null }, elements: [] };
  const elements: Leaf[] = [];
  const merges: [number, number][] = [];
  const add = (node: Node): number => {
    if (node instanceof Stub) throw new MissingSubtree(node);
    if (node instanceof Leaf) return elements.push(node) - 1;
    const left = add(node.left);
    const right = add(node.right);
    merges.push([left, right]);
    return left;
  };
  add(way.node);
  return { proof: { merges, steps: way.steps }, elements };
}

/**
 * Follows a key, or the beginning of one, to the node where it ends (`matches`) or to the one whose part of the path it
 * leaves. Steps are from that node to the root.
 */
function descend(
  top: Node,
  key: Uint8Array,
): { readonly node: Node; readonly matches: boolean; readonly steps: readonly ProofStep[] } {
  const bits = key.length * 8;
  const steps: ProofStep[] = [];
  let node = top;
  let from = 0;
  for (;;) {
    const end = Math.min(node.end, bits);
    if (firstDifference(node.path, key, from, end) < end) return { node, matches: false, steps };
    if (bits <= node.end) return { node, matches: true, steps };
    // a key that goes on where a leaf ends
    if (node instanceof Leaf) return { node, matches: false, steps };
    if (node instanceof Stub) throw new MissingSubtree(node);
    const isLeft = bitAt(key, node.end) === 0;
    from = node.end + 1;
    const child = isLeft ? node.left : node.right;
    steps.unshift(stepOf(child, isLeft ? node.right : node.left, from));
    node = child;
  }
}

/** The first element of a sub-tree. */
function leftmost(node: Node, steps: readonly ProofStep[]): { readonly leaf: Leaf; readonly steps: ProofStep[] } {
  const below = [...steps];
  let at = node;
  while (!(at instanceof Leaf)) {
    if (at instanceof Stub) throw new MissingSubtree(at);
    below.unshift(stepOf(at.left, at.right, at.end + 1));
    at = at.left;
  }
  return { leaf: at, steps: below };
}

function stepOf(child: Node, sibling: Node, from: number): ProofStep {
  return {
    consumed: 1 + child.end - from,
    sibling: { jump: spreadBits(sibling.path, from, sibling.end), value: sibling.value },
  };
}

function inclusionOf(top: Node, leaf: Leaf, steps: readonly ProofStep[]): InclusionProof {
  return {
    key: spreadBits(leaf.path, 0, leaf.end),
    value: leaf.value,
    steps,
    rootJump: spreadBits(leaf.path, 0, top.end),
  };
}
