/**
 * A Merkle Patricia Forestry: a radix-16 trie over the digests of keys, whose root binds every element and which can prove
 * the presence or absence of one in a few hundred bytes. Roots and proofs are those of the published libraries.
 *
 * A `Forestry` is a handle on immutable nodes. Reads and refused changes do not modify it, and `copy` is free, so
 * speculative changes are made on a copy that is then discarded.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { digest } from "./src/forestry/hash.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 * import { includes } from "./src/forestry/verify.ts";
 *
 * const trie = Forestry.from([leafOf(utf8("name"), utf8("Ada"))]);
 * const proof = trie.prove(digest(utf8("name")));
 * if (!proof.ok) throw new Error(proof.error.message);
 * console.log(includes(trie.root, digest(utf8("name")), digest(utf8("Ada")), proof.value)); // true
 * ```
 */
import { digest, EMPTY } from "#src/forestry/hash.ts";
import { divergence, nibble, nibbles, PATH_LENGTH } from "#src/forestry/nibbles.ts";
import { BranchNode, branchOf, build, LeafNode, type Node, StubNode } from "#src/forestry/node.ts";
import type { Proof, Step } from "#src/forestry/proof.ts";
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** An element of the trie. */
export interface Leaf {
  /** Digest of the key, 32 bytes. */
  readonly path: Uint8Array;
  /** Digest of the value, 32 bytes. */
  readonly value: Uint8Array;
}

/** A change of one element; `value` and `old` are digests, as in `Leaf`. */
export type Change =
  | { readonly type: "insert"; readonly path: Uint8Array; readonly value: Uint8Array }
  | { readonly type: "delete"; readonly path: Uint8Array; readonly value: Uint8Array }
  | { readonly type: "update"; readonly path: Uint8Array; readonly old: Uint8Array; readonly value: Uint8Array };

/** Why a change or a proof is impossible: the key exists, is missing, or has another value. */
export type Refusal = Failure<"fact_exists" | "fact_missing" | "fact_differs">;

const exists = fail("fact_exists", "the key is in the trie already");
const missing = fail("fact_missing", "the key is not in the trie");
const differs = fail("fact_differs", "the key has another value");

/**
 * The element for the bytes of a key and a value, of any length: the digests of both.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { leafOf } from "./src/forestry/trie.ts";
 *
 * console.log(leafOf(utf8("name"), utf8("Ada")).path.length); // 32
 * ```
 */
export function leafOf(key: Uint8Array, value: Uint8Array): Leaf {
  return { path: digest(key), value: digest(value) };
}

function checked(leaf: Leaf): LeafNode {
  if (leaf.path.length !== 32 || leaf.value.length !== 32) throw new RangeError("paths and values are 32-byte digests");
  return new LeafNode(0, leaf.path, leaf.value);
}

/**
 * A trie that changes; all paths, values and roots are digests of 32 bytes.
 *
 * @throws {RangeError} by changes whose path or value is no digest.
 * @throws {MissingSubtrie} by tries made by `openCut`, where an operation needs elements that were not loaded.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 *
 * const trie = new Forestry();
 * const { path, value } = leafOf(utf8("name"), utf8("Ada"));
 * const done = trie.apply({ type: "insert", path, value });
 * console.log(done.ok && done.value.length, trie.get(path)?.length); // 0 32
 * ```
 */
export class Forestry {
  /** Callers use `Forestry.from` or `openCut`. */
  constructor(private node: Node | undefined = undefined) {}

  /**
   * A trie of many elements, in any order.
   *
   * @throws {RangeError} if two elements have the same path
   */
  static from(leaves: Iterable<Leaf>): Forestry {
    const nodes = Array.from(leaves, checked).sort((a, b) => compareBytes(a.path, b.path));
    return new Forestry(build(nodes, 0, PATH_LENGTH));
  }

  /** An independent copy, at no cost. */
  copy(): Forestry {
    return new Forestry(this.node);
  }

  /** Root hash, 32 bytes; all zero when the trie is empty. */
  get root(): Uint8Array {
    return (this.node?.hash ?? EMPTY).slice();
  }

  /** The root node, for the other files of this module. */
  get top(): Node | undefined {
    return this.node;
  }

  /** Digest of the value at a path; undefined if there is none. */
  get(path: Uint8Array): Uint8Array | undefined {
    const found = find(this.node, path);
    return found?.value;
  }

  /** Adds an element. */
  insert(path: Uint8Array, value: Uint8Array): Result<void, Refusal> {
    const leaf = checked({ path, value });
    if (find(this.node, path)) return exists;
    this.node = put(this.node, leaf, 0);
    return ok(undefined);
  }

  /** Removes an element; `value` must be its current value. */
  delete(path: Uint8Array, value: Uint8Array): Result<void, Refusal> {
    const leaf = find(this.node, path);
    if (!leaf) return missing;
    if (!equalBytes(leaf.value, value)) return differs;
    this.node = remove(this.node, path);
    return ok(undefined);
  }

  /** Replaces an element's value; `old` must be its current value. */
  update(path: Uint8Array, old: Uint8Array, value: Uint8Array): Result<void, Refusal> {
    const next = checked({ path, value });
    const leaf = find(this.node, path);
    if (!leaf) return missing;
    if (!equalBytes(leaf.value, old)) return differs;
    this.node = replace(this.node, next, 0);
    return ok(undefined);
  }

  /** Makes a change. */
  change(change: Change): Result<void, Refusal> {
    return change.type === "update"
      ? this.update(change.path, change.old, change.value)
      : this[change.type](change.path, change.value);
  }

  /** Makes a change and gives its proof: a verifier that knows the old root computes the new one from it. */
  apply(change: Change): Result<Proof, Refusal> {
    const proof = change.type === "insert" ? this.proveAbsent(change.path) : this.prove(change.path);
    if (!proof.ok) return proof;
    const done = this.change(change);
    return done.ok ? proof : done;
  }

  /** Proof that a path is in the trie; it also proves the removal or change of the element. */
  prove(path: Uint8Array): Result<Proof, Refusal> {
    return find(this.node, path) ? ok(stepsTo(this.node, path)) : missing;
  }

  /** Proof that a path is not in the trie: the proof that the element would have after its insertion. */
  proveAbsent(path: Uint8Array): Result<Proof, Refusal> {
    return find(this.node, path) ? exists : ok(stepsTo(this.node, path));
  }
}

function find(top: Node | undefined, path: Uint8Array): LeafNode | undefined {
  let node = top;
  while (node instanceof BranchNode) node = node.kids[nibble(path, node.at)];
  if (node instanceof StubNode) return divergence(node.path, path, 0, node.end) < node.end ? undefined : node.missing();
  return node && equalBytes(node.path, path) ? node : undefined;
}

/** The nibble at which a node's own path ends. */
function endOf(node: Node): number {
  return node instanceof LeafNode ? PATH_LENGTH : node instanceof BranchNode ? node.at : node.end;
}

function put(node: Node | undefined, leaf: LeafNode, from: number): Node {
  if (!node) return leaf.movedTo(from);
  const at = divergence(node.path, leaf.path, from, endOf(node));
  if (at < endOf(node)) return branchOf(from, at, node, leaf);
  if (!(node instanceof BranchNode)) return node instanceof StubNode ? node.missing() : leaf;
  const slot = nibble(leaf.path, at);
  return node.with(slot, put(node.kids[slot], leaf, at + 1));
}

function replace(node: Node | undefined, leaf: LeafNode, from: number): Node {
  if (!(node instanceof BranchNode)) return leaf.movedTo(from);
  const slot = nibble(leaf.path, node.at);
  return node.with(slot, replace(node.kids[slot], leaf, node.at + 1));
}

function remove(node: Node | undefined, path: Uint8Array): Node | undefined {
  if (!(node instanceof BranchNode)) return undefined;
  const slot = nibble(path, node.at);
  const left = remove(node.kids[slot], path);
  if (left) return node.with(slot, left);
  const other = node.onlyOther(slot);
  return other ? other.movedTo(node.from) : node.with(slot, undefined);
}

/** Steps from the root to the position of a path, whether it is in the trie or not. */
function stepsTo(top: Node | undefined, path: Uint8Array): Step[] {
  const steps: Step[] = [];
  let node = top;
  while (node) {
    const at = divergence(node.path, path, node.from, endOf(node));
    if (at < endOf(node)) {
      steps.push(beside(node, at, at - node.from));
      return steps;
    }
    if (!(node instanceof BranchNode)) return node instanceof StubNode ? node.missing() : steps;
    const slot = nibble(path, at);
    const other = node.onlyOther(slot);
    const skip = at - node.from;
    if (other) steps.push(beside(other, at, skip));
    else steps.push({ type: "branch", skip, neighbors: node.siblings(slot) });
    node = node.kids[slot];
  }
  return steps;
}

/** The step at a branch (existing or future) at nibble `at` whose only other sub-trie is `node`. */
function beside(node: Node, at: number, skip: number): Step {
  if (node instanceof StubNode) return node.missing();
  if (node instanceof LeafNode) return { type: "leaf", skip, key: node.path, value: node.value };
  return {
    type: "fork",
    skip,
    nibble: nibble(node.path, at),
    prefix: nibbles(node.path, at + 1, node.at),
    root: node.merkle(1),
  };
}
