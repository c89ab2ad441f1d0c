/**
 * Nodes of the tree. They are immutable: a changed tree shares its unchanged nodes with the original. Digests are computed
 * on first use.
 *
 * Every node knows a key that runs through it (`path`, of which a stub has only the bits to `end`) and the bit `end` that
 * its own part of the path ends before. Where that part begins depends on the parent, so a node that moves stays the same.
 */
import { blake2b256 } from "#src/cardano/hash.ts";
import { packBits } from "#src/csmt/bits.ts";

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
  #value: Uint8Array | undefined;
  constructor(readonly end: number, readonly left: Node, readonly right: Node, value?: Uint8Array) {
    this.#value = value;
  }

  get path(): Uint8Array {
    return this.left.path;
  }

  get value(): Uint8Array {
    return this.#value ??= branchValue(
      encodeNode(this.left, this.end + 1),
      encodeNode(this.right, this.end + 1),
    );
  }
}

/** A sub-tree of two or more elements that is not loaded. */
export class Stub {
  constructor(readonly path: Uint8Array, readonly end: number, readonly value: Uint8Array) {}
}

/** The form of a node that digests are computed of, its own part of the path beginning at a bit. */
export function encodeNode({ path, end, value }: Pick<Node, "path" | "end" | "value">, from: number): Uint8Array {
  const packed = packBits(path, from, end);
  const bytes = new Uint8Array(packed.length + 36);
  bytes[0] = (end - from) >> 8;
  bytes[1] = (end - from) & 0xff;
  bytes.set(packed, 2);
  bytes[packed.length + 3] = 32;
  bytes.set(value, packed.length + 4);
  return bytes;
}

/** The value of a branch, by its encoded children. */
export function branchValue(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return blake2b256(both);
}

/** The root of a tree, by its top node; undefined for the empty tree. */
export function rootOf(top: Pick<Node, "path" | "end" | "value"> | undefined): Uint8Array | undefined {
  return top && blake2b256(encodeNode(top, 0));
}
