/**
 * Verifies proofs; needs only a trusted root. A proof gives two roots: one with the element and one without it. If one of
 * them is the trusted root, the other follows.
 *
 * The checks are those of the on-chain verifier. Each one prevents a malformed proof from leading to a true root: a neighbour
 * leaf given with another path, a leaf given as a branch, a slot that is not the element's, a branch given as a leaf with a
 * short path.
 */
import { digest, digestPair, EMPTY, EMPTY_TREES } from "#src/forestry/hash.ts";
import { divergence, nibble, nibbles, PATH_LENGTH, suffix } from "#src/forestry/nibbles.ts";
import { concat, equalBytes } from "#src/base/bytes.ts";
import type { Proof, Step } from "#src/forestry/proof.ts";

/**
 * Root of the trie with an element, according to a proof; undefined if the proof cannot belong to that path. With `above`
 * nibbles, root and proof are those of the sub-trie at that depth.
 *
 * @example
 * ```ts
 * import { toHex, utf8 } from "./src/base/bytes.ts";
 * import { digest } from "./src/forestry/hash.ts";
 * import { rootWith } from "./src/forestry/verify.ts";
 *
 * // the proof of the only element of a trie has no steps
 * const root = rootWith(digest(utf8("name")), digest(utf8("Ada")), []);
 * console.log(root && toHex(root));
 * ```
 */
export function rootWith(path: Uint8Array, value: Uint8Array, proof: Proof, above = 0): Uint8Array | undefined {
  return path.length === 32 && value.length === 32 ? walk(path, value, proof, 0, above) : undefined;
}

/**
 * Root of the trie without the element, according to a proof; see `rootWith`.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { digest } from "./src/forestry/hash.ts";
 * import { rootWithout } from "./src/forestry/verify.ts";
 *
 * console.log(rootWithout(digest(utf8("name")), [])?.every((byte) => byte === 0)); // true: the empty trie
 * ```
 */
export function rootWithout(path: Uint8Array, proof: Proof, above = 0): Uint8Array | undefined {
  return path.length === 32 ? walk(path, undefined, proof, 0, above) : undefined;
}

/**
 * Whether the proof shows that the trie of that root holds the value (a digest) under the path.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 * import { includes } from "./src/forestry/verify.ts";
 *
 * const { path, value } = leafOf(utf8("name"), utf8("Ada"));
 * console.log(includes(Forestry.from([{ path, value }]).root, path, value, [])); // true
 * ```
 */
export function includes(root: Uint8Array, path: Uint8Array, value: Uint8Array, proof: Proof): boolean {
  const found = rootWith(path, value, proof);
  return found !== undefined && equalBytes(found, root);
}

/**
 * Whether the proof shows that the trie of that root holds nothing under the path.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { digest } from "./src/forestry/hash.ts";
 * import { Forestry } from "./src/forestry/trie.ts";
 * import { excludes } from "./src/forestry/verify.ts";
 *
 * console.log(excludes(new Forestry().root, digest(utf8("name")), [])); // true
 * ```
 */
export function excludes(root: Uint8Array, path: Uint8Array, proof: Proof): boolean {
  const found = rootWithout(path, proof);
  return found !== undefined && equalBytes(found, root);
}

function walk(
  path: Uint8Array,
  value: Uint8Array | undefined,
  proof: Proof,
  i: number,
  cursor: number,
): Uint8Array | undefined {
  const step = proof[i];
  if (step === undefined) return value ? digest(concat(suffix(path, cursor), value)) : EMPTY;
  if (!Number.isInteger(step.skip) || step.skip < 0) return undefined;
  const at = cursor + step.skip;
  if (at >= PATH_LENGTH) return undefined;
  const slot = nibble(path, at);
  const beside = neighbor(step, path, cursor, at);
  if (beside === undefined) return undefined;
  if (value === undefined && i === proof.length - 1 && beside.alone) return beside.alone();
  const below = walk(path, value, proof, i + 1, at + 1);
  return below && digest(concat(nibbles(path, cursor, at), fold(below, slot, beside.siblings)));
}

interface Beside {
  /** The four sibling hashes, 128 bytes. */
  readonly siblings: Uint8Array;
  /** Hash of the only neighbour when it hangs where the branch hung. */
  readonly alone?: () => Uint8Array;
}

function neighbor(step: Step, path: Uint8Array, cursor: number, at: number): Beside | undefined {
  const slot = nibble(path, at);
  switch (step.type) {
    case "branch":
      return step.neighbors.length === 128 ? { siblings: step.neighbors } : undefined;
    case "fork": {
      const { nibble: other, prefix, root } = step;
      if (!Number.isInteger(other) || other < 0 || other > 15 || other === slot) return undefined;
      if (root.length !== 32 || prefix.some((n) => n > 15)) return undefined;
      return {
        siblings: sparse(slot, other, digest(concat(prefix, root))),
        alone: () => digest(concat(nibbles(path, cursor, at), Uint8Array.of(other), prefix, root)),
      };
    }
    case "leaf": {
      const { key, value } = step;
      if (key.length !== 32 || value.length !== 32) return undefined;
      if (divergence(key, path, cursor, at) !== at || nibble(key, at) === slot) return undefined;
      return {
        siblings: sparse(slot, nibble(key, at), digest(concat(suffix(key, at + 1), value))),
        alone: () => digest(concat(suffix(key, cursor), value)),
      };
    }
  }
}

/** The siblings of `slot` when `other` is the only other occupied slot. */
function sparse(slot: number, other: number, hash: Uint8Array): Uint8Array {
  const out = new Uint8Array(128);
  let h = hash;
  for (const [level, empty] of EMPTY_TREES.slice(0, 4).entries()) {
    const beside = (slot >> level) ^ 1;
    out.set(other >> level === beside ? h : empty, 32 * (3 - level));
    if (other >> level !== slot >> level) {
      h = (other >> level) & 1 ? digestPair(empty, h) : digestPair(h, empty);
    }
  }
  return out;
}

/** Root of the binary tree over 16 slots out of one slot's hash and its siblings. */
function fold(hash: Uint8Array, slot: number, siblings: Uint8Array): Uint8Array {
  let h = hash;
  for (let level = 0; level < 4; level++) {
    const beside = siblings.subarray(32 * (3 - level), 32 * (4 - level));
    h = (slot >> level) & 1 ? digestPair(beside, h) : digestPair(h, beside);
  }
  return h;
}
