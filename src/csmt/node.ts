/**
 * Nodes of the tree. They are immutable: a changed tree shares its unchanged nodes with the original. Digests are computed
 * on first use.
 *
 * Every node knows a key that runs through it (`path`, of which a stub has only the bits to `end`) and the bit `end` that
 * its own part of the path ends before. Where that part begins depends on the parent, so a node that moves stays the same.
 */
import { blake2b256 } from "#src/cardano/hash.ts";
import { writeBits } from "#src/csmt/bits.ts";

export type Node = Leaf | Branch | Stub;

/** One element. */
export class Leaf {
  readonly end: number;
  /** `path` is the whole key, `value` the digest of the element. */
  constructor(readonly path: Uint8Array, readonly value: Uint8Array) {
    this.end = path.length * 8;
  }
}

/** Two sub-trees that agree up to bit `end` and differ in it; `left` has the 0. */
export class Branch {
  /** Whether a change has made it, so that its row is another one than before. */
  readonly isNew: boolean;
  #value: Uint8Array | undefined;

  /** `value` is that of a branch which was read. */
  constructor(readonly end: number, readonly left: Node, readonly right: Node, value?: Uint8Array) {
    this.#value = value;
    this.isNew = value === undefined;
  }

  get path(): Uint8Array {
    return this.left.path;
  }

  get value(): Uint8Array {
    if (this.#value) return this.#value;
    const from = this.end + 1;
    // the values of children first: an encoding uses the same bytes for all
    const [left, right] = [valued(this.left), valued(this.right)];
    return this.#value = branchValue({ node: left, from }, { node: right, from });
  }

  /** The same branch with children of which more is loaded. */
  with(left: Node, right: Node): Branch {
    return left === this.left && right === this.right
      ? this
      : new Branch(this.end, left, right, this.isNew ? undefined : this.#value);
  }
}

/** A node with its value computed. */
function valued({ path, end, value }: Node): NodePart["node"] {
  return { path, end, value };
}

/** A sub-tree of two or more elements that is not loaded. */
export class Stub {
  constructor(readonly path: Uint8Array, readonly end: number, readonly value: Uint8Array) {}
}

/** What the digest of a node is computed of; its own part of the path begins at a bit. */
export interface NodePart {
  readonly node: Pick<Node, "path" | "end" | "value">;
  readonly from: number;
}

/** Room for the encodings of two nodes whose parts of the path have at most 2^16 bits. */
const encoding = new Uint8Array(2 * (2 + 8_192 + 2 + 32));

/** Encodes a part: the number of its bits, the bits, the length of the value, the value; gives where it ended. */
function encodePart({ node: { path, end, value }, from }: NodePart, at: number): number {
  encoding[at] = (end - from) >> 8;
  encoding[at + 1] = (end - from) & 0xff;
  const next = writeBits(path, from, end, encoding, at + 2);
  encoding[next] = 0;
  encoding[next + 1] = value.length;
  encoding.set(value, next + 2);
  return next + 2 + value.length;
}

/** The value of a branch, by its children. */
export function branchValue(left: NodePart, right: NodePart): Uint8Array {
  return blake2b256(encoding.subarray(0, encodePart(right, encodePart(left, 0))));
}

/** The root of a tree, by its top node; undefined for the empty tree. */
export function rootOf(top: NodePart["node"] | undefined): Uint8Array | undefined {
  return top && blake2b256(encoding.subarray(0, encodePart({ node: top, from: 0 }, 0)));
}
