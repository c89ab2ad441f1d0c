/**
 * Nodes of the trie. They are immutable: a changed trie shares its unchanged nodes with the original. Hashes are computed on
 * first use and cached.
 *
 * `from` is the nibble at which the node's own part of the path begins: one past its parent's branching nibble. Hashes
 * cover the path from there on, so a node that moves to another depth is a new node.
 */
import { digest, digestPair, EMPTY, EMPTY_TREES } from "#src/forestry/hash.ts";
import { nibble, nibbles, suffix } from "#src/forestry/nibbles.ts";
import { concat } from "#src/base/bytes.ts";

export type Node = LeafNode | BranchNode | StubNode;

/** One element. */
export class LeafNode {
  private known: Uint8Array | undefined;
  constructor(readonly from: number, readonly path: Uint8Array, readonly value: Uint8Array) {}

  get hash(): Uint8Array {
    return this.known ??= digest(concat(suffix(this.path, this.from), this.value));
  }

  movedTo(from: number): LeafNode {
    return from === this.from ? this : new LeafNode(from, this.path, this.value);
  }
}

/** Two or more sub-tries that agree up to nibble `at` and differ in it. `path` is one that runs through here. */
export class BranchNode {
  private known: Uint8Array | undefined;
  constructor(
    readonly from: number,
    readonly at: number,
    readonly path: Uint8Array,
    readonly kids: readonly (Node | undefined)[],
    /** Hashes of the binary tree over the 16 slots in heap order: 1 is the root, 8 to 15 are pairs of slots. */
    private readonly tree: (Uint8Array | undefined)[] = new Array(16).fill(undefined),
  ) {}

  get hash(): Uint8Array {
    return this.known ??= digest(concat(nibbles(this.path, this.from, this.at), this.merkle(1)));
  }

  /** Root of sub-tree `i` of the binary tree; from 16 on, the slots themselves. */
  merkle(i: number): Uint8Array {
    if (i >= 16) return this.kids[i - 16]?.hash ?? EMPTY;
    return this.tree[i] ??= this.join(this.merkle(2 * i), this.merkle(2 * i + 1));
  }

  private join(left: Uint8Array, right: Uint8Array): Uint8Array {
    const level = left === right ? EMPTY_TREES.indexOf(left) : -1;
    return (level < 0 ? undefined : EMPTY_TREES[level + 1]) ?? digestPair(left, right);
  }

  /** The four sibling hashes on the path from the root to slot `k`, the root's child first: 128 bytes. */
  siblings(k: number): Uint8Array {
    const out = new Uint8Array(128);
    for (let level = 3, i = 16 + k; level >= 0; level--, i >>= 1) out.set(this.merkle(i ^ 1), 32 * level);
    return out;
  }

  /** The sub-trie in the only occupied slot beside `k`, or undefined when there are several. */
  onlyOther(k: number): Node | undefined {
    let other: Node | undefined;
    for (let i = 0; i < 16; i++) {
      const kid = this.kids[i];
      if (i === k || kid === undefined) continue;
      if (other !== undefined) return undefined;
      other = kid;
    }
    return other;
  }

  /** The branch with another node in slot `k`. */
  with(k: number, kid: Node | undefined): BranchNode {
    const kids = this.kids.slice();
    kids[k] = kid;
    const tree = this.tree.slice();
    for (let i = (16 + k) >> 1; i > 0; i >>= 1) tree[i] = undefined;
    return new BranchNode(this.from, this.at, this.path, kids, tree);
  }

  movedTo(from: number): BranchNode {
    return from === this.from ? this : new BranchNode(from, this.at, this.path, this.kids, this.tree);
  }
}

/** A sub-trie of which only the hash is loaded: everything below a prefix of `end` nibbles. */
export class StubNode {
  constructor(readonly from: number, readonly end: number, readonly path: Uint8Array, readonly hash: Uint8Array) {}

  movedTo(from: number): StubNode {
    return from === this.from ? this : this.missing();
  }

  /** @throws {MissingSubtrie} always: an operation needs this sub-trie */
  missing(): never {
    throw new MissingSubtrie(nibbles(this.path, 0, this.end));
  }
}

/** An operation needs a sub-trie that was not loaded: the caller loaded fewer buckets than `neededBuckets` gives. */
export class MissingSubtrie extends Error {
  override readonly name = "MissingSubtrie";
  constructor(readonly prefix: Uint8Array) {
    super(`the sub-trie below ${[...prefix].map((n) => n.toString(16)).join("")} was not loaded`);
  }
}

/** A branch over two nodes that differ in nibble `at`; its own path starts at `from`. */
export function branchOf(from: number, at: number, a: Node, b: Node): BranchNode {
  const kids: (Node | undefined)[] = new Array(16).fill(undefined);
  kids[nibble(a.path, at)] = a.movedTo(at + 1);
  kids[nibble(b.path, at)] = b.movedTo(at + 1);
  return new BranchNode(from, at, a.path, kids);
}

/** A trie over nodes in ascending order of their paths; `end` is the nibble at which one of them stops being comparable. */
export function build(
  nodes: readonly Node[],
  from: number,
  end: number,
  start = 0,
  stop = nodes.length,
): Node | undefined {
  const [first, last] = [nodes[start], nodes[stop - 1]];
  if (stop - start === 0 || !first || !last) return undefined;
  if (stop - start === 1) return first.movedTo(from);
  let at = from;
  while (at < end && nibble(first.path, at) === nibble(last.path, at)) at++;
  if (at === end) throw new RangeError("two elements under one path");
  const kids: (Node | undefined)[] = new Array(16).fill(undefined);
  const slotOf = (i: number) => {
    const node = i < stop ? nodes[i] : undefined;
    return node && nibble(node.path, at);
  };
  let i = start;
  for (let slot = slotOf(i); slot !== undefined; slot = slotOf(i)) {
    let next = i + 1;
    while (slotOf(next) === slot) next++;
    kids[slot] = build(nodes, at + 1, end, i, next);
    i = next;
  }
  return new BranchNode(from, at, first.path, kids);
}
