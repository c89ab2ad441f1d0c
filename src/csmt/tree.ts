/**
 * The tree as an immutable value: insertions and removals give another tree. Its form depends on its elements alone, not on
 * the order of changes.
 *
 * Assumption: no key is the beginning of another one, as with the keys of outputs.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { bitAt, firstDifference } from "#src/csmt/bits.ts";
import { Branch, Leaf, type Node, Stub } from "#src/csmt/node.ts";

/** An element. */
export interface Element {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** An operation needs a sub-tree that is not loaded. */
export class MissingSubtree extends Error {
  override readonly name = "MissingSubtree";
  constructor(readonly stub: Stub) {
    super(`the sub-tree of ${stub.end} bits below ${toHex(stub.path)} is not loaded`);
  }
}

/** The tree with an element, in place of one with the same key. @throws {MissingSubtree} */
export function insert(top: Node | undefined, { key, value }: Element): Node {
  return top ? insertAt(top, 0, key, value) : new Leaf(key, value);
}

function insertAt(node: Node, from: number, key: Uint8Array, value: Uint8Array): Node {
  const at = differenceOf(node, from, key);
  if (at < node.end) {
    const leaf = new Leaf(key, value);
    return bitAt(key, at) === 0 ? new Branch(at, leaf, node) : new Branch(at, node, leaf);
  }
  if (node instanceof Leaf) return new Leaf(key, value);
  if (node instanceof Stub) throw new MissingSubtree(node);
  const { end, left, right } = node;
  return bitAt(key, end) === 0
    ? new Branch(end, insertAt(left, end + 1, key, value), right)
    : new Branch(end, left, insertAt(right, end + 1, key, value));
}

/**
 * The tree without the element of a key; undefined when it was the only one.
 *
 * @throws {MissingSubtree}
 * @throws RangeError if there is no such element: the caller's idea of the tree is wrong
 */
export function remove(top: Node | undefined, key: Uint8Array): Node | undefined {
  if (!top) throw absent(key);
  return removeAt(top, 0, key);
}

function removeAt(node: Node, from: number, key: Uint8Array): Node | undefined {
  if (differenceOf(node, from, key) < node.end) throw absent(key);
  if (node instanceof Leaf) return undefined;
  if (node instanceof Stub) throw new MissingSubtree(node);
  const { end, left, right } = node;
  if (bitAt(key, end) === 0) {
    const rest = removeAt(left, end + 1, key);
    return rest ? new Branch(end, rest, right) : right;
  }
  const rest = removeAt(right, end + 1, key);
  return rest ? new Branch(end, left, rest) : left;
}

function absent(key: Uint8Array): RangeError {
  return new RangeError(`the tree has no element ${toHex(key)}`);
}

/** The bit in which a key leaves a node's part of the path; the node's end if it does not. @throws RangeError for a key that ends within it */
function differenceOf(node: Node, from: number, key: Uint8Array): number {
  const at = firstDifference(node.path, key, from, Math.min(node.end, key.length * 8));
  const isWhole = node instanceof Leaf ? key.length * 8 === node.end : key.length * 8 > node.end;
  if (at === Math.min(node.end, key.length * 8) && !isWhole) {
    throw new RangeError("a key is the beginning of another one");
  }
  return at;
}

/** The element of a key. @throws {MissingSubtree} */
export function find(top: Node | undefined, key: Uint8Array): Leaf | undefined {
  let node = top;
  while (node) {
    const { end } = node;
    if (end > key.length * 8 || firstDifference(node.path, key, 0, end) < end) return undefined;
    if (node instanceof Leaf) return equalBytes(node.path, key) ? node : undefined;
    if (node instanceof Stub) throw new MissingSubtree(node);
    node = bitAt(key, end) === 0 ? node.left : node.right;
  }
  return undefined;
}

/** All elements, in the order of their keys. @throws {MissingSubtree} */
export function* elements(top: Node | undefined): Iterable<Leaf> {
  const open = top ? [top] : [];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node instanceof Leaf) yield node;
    else if (node instanceof Stub) throw new MissingSubtree(node);
    else open.push(node.right, node.left);
  }
}
