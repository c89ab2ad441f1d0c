/** Roots that proofs lead to. A fold gives undefined for a proof that no tree can have. */
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { bitAt, firstDifference, gatherBits } from "#src/csmt/bits.ts";
import { branchValue, type NodePart, rootOf } from "#src/csmt/node.ts";
import type { CompletenessProof, ExclusionProof, InclusionProof, ProofStep } from "#src/csmt/proof.ts";
import type { Element } from "#src/csmt/tree.ts";

type Folded = NodePart["node"];

/** The root of a tree whose element has the proof's key and value. */
export function foldInclusion({ key, value, steps, rootJump }: InclusionProof): Uint8Array | undefined {
  const top = foldSteps({ path: gatherBits(key), end: key.length, value }, steps);
  if (!top || top.end !== rootJump.length || !equalBytes(rootJump, key.subarray(0, top.end))) return undefined;
  return rootOf(top);
}

/** The root of a tree that has no key that begins with the proof's target; the empty tree has none. */
export function foldExclusion({ target, witness }: NonNullable<ExclusionProof>): Uint8Array | undefined {
  const { key, steps, rootJump } = witness;
  let at = 0;
  while (at < key.length && at < target.length && key[at] === target[at]) at++;
  if (at === key.length || at === target.length) return undefined;
  let branch = rootJump.length;
  for (const { consumed } of steps.toReversed()) {
    // the other child of this branch may hold the target
    if (branch === at) return undefined;
    branch += consumed;
  }
  return foldInclusion(witness);
}

/**
 * The root of a tree in which the keys that begin with a prefix are those of the elements, in order. Each element takes part
 * in the fold: one that no merge names is refused.
 */
export function foldCompleteness(
  prefix: Uint8Array,
  elements: readonly Element[],
  { merges, steps }: Exclude<CompletenessProof, { empty: unknown }>,
): Uint8Array | undefined {
  if (elements.length === 0 || merges.length !== elements.length - 1) return undefined;
  const bits = prefix.length * 8;
  if (!areOrdered(elements) || !elements.every(({ key }) => beginsWith(key, prefix))) return undefined;
  const nodes: (Folded | undefined)[] = elements.map(({ key, value }) => ({ path: key, end: key.length * 8, value }));
  for (const [i, j] of merges) {
    const left = nodes[i];
    const right = nodes[j];
    if (i >= j || !left || !right) return undefined;
    const most = Math.min(left.end, right.end);
    const end = firstDifference(left.path, right.path, bits, most);
    if (end === most) return undefined;
    const value = branchValue({ node: left, from: end + 1 }, { node: right, from: end + 1 });
    nodes[i] = { path: left.path, end, value };
    nodes[j] = undefined;
  }
  const [whole] = nodes;
  const [first] = steps;
  // the sub-tree has all keys with the prefix only if its part of the path begins in the prefix
  if (!whole || (first && whole.end - first.consumed >= bits)) return undefined;
  return rootOf(foldSteps(whole, steps));
}

function areOrdered(elements: readonly Element[]): boolean {
  return elements.every(({ key }, i) => {
    const before = elements[i - 1];
    return before === undefined || compareBytes(before.key, key) < 0;
  });
}

function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && equalBytes(key.subarray(0, prefix.length), prefix);
}

/** The top node over a node, by the steps up to it. */
function foldSteps(node: Folded, steps: readonly ProofStep[]): Folded | undefined {
  let at = node;
  for (const { consumed, sibling: { jump, value } } of steps) {
    const end = at.end - consumed;
    if (consumed < 1 || end < 0) return undefined;
    const own = { node: at, from: end + 1 };
    const other = { node: { path: gatherBits(jump), end: jump.length, value }, from: 0 };
    at = { path: at.path, end, value: bitAt(at.path, end) === 0 ? branchValue(own, other) : branchValue(other, own) };
  }
  return at;
}
