/**
 * A tree as rows: each holds the branches of four levels, so that a change touches as many rows as its path has quarters of
 * branches. A small sub-tree is one row.
 *
 * A row is named after the first half-bytes of the keys below it, in hexadecimal: as many as come before the branch at its
 * top. A tree has no row for its top, which is kept beside them (`Top`): a leaf, or the stub of the first row. Rows say
 * nothing of their history, but a sub-tree that became small may still have several.
 */
import { concat, fromHex, joined, toHex } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { bitAt, firstDifference } from "#src/csmt/bits.ts";
import { Branch, Leaf, type Node, Stub } from "#src/csmt/node.ts";

/** Levels of a row. */
const LEVELS = 4;

/** The stub whose row a change of a key needs, or the next one of them; undefined when all is loaded. */
export function stubOn(top: Node | undefined, key: Uint8Array): Stub | undefined {
  let node = top;
  let from = 0;
  while (node) {
    const at = firstDifference(node.path, key, from, Math.min(node.end, key.length * 8));
    if (node instanceof Leaf) return undefined;
    // a branch above a stub may be of the same row
    if (node instanceof Stub) return rowOf({ path: key, end: at }) === rowOf(node) ? node : undefined;
    if (at < node.end) return undefined;
    from = node.end + 1;
    node = bitAt(key, node.end) === 0 ? node.left : node.right;
  }
  return undefined;
}

/** Elements of a sub-tree that is one row, at most. */
const SMALL = 16;

/** Kinds of node in a row. */
const LEAF = 0;
const BRANCH = 1;
const STUB = 2;

/** The name of the row that a stub stands for, or that has a branch at its top. */
export function rowOf({ path, end }: Pick<Node, "path" | "end">): string {
  return toHex(path.subarray(0, (end >> 3) + 1)).slice(0, Math.floor(end / LEVELS));
}

/** Half-bytes of keys with which rows are named in a tree of some ten million elements with keys that are far apart. */
const AHEAD = 7;

/** Names of the rows that there may be on the paths of keys, to be read at once. */
export function rowsAhead(keys: readonly Uint8Array[]): string[] {
  const names = new Set<string>();
  for (const path of keys) {
    const name = rowOf({ path, end: LEVELS * AHEAD });
    for (let length = 0; length <= name.length; length++) names.add(name.slice(0, length));
  }
  return [...names];
}

/** The top of a tree, as bytes; empty for the empty tree. */
export function topBytes(top: Node | undefined): Uint8Array {
  if (!top) return new Uint8Array();
  const parts: Uint8Array[] = [];
  writeNode(top, 0, () => false, parts);
  return joined(parts);
}

/** Reads what `topBytes` wrote. */
export function readTop(bytes: Uint8Array): Node | undefined {
  return bytes.length === 0 ? undefined : new RowReader(new Uint8Array(), bytes).node();
}

/** Reads the sub-tree of a row. */
export function readRow(name: string, bytes: Uint8Array): Branch {
  const digits = name.length & ~1;
  const node = new RowReader(fromHex(name.slice(0, digits)), bytes).node();
  if (!(node instanceof Branch)) throw new RangeError(`the row ${name} is not a branch`);
  return node;
}

/** The rows of all that is loaded of a tree. */
export function rowsOf(top: Node | undefined): Map<string, Uint8Array> {
  const rows = new Map<string, Uint8Array>();
  if (top) addRows(top, rows);
  return rows;
}

/** Adds the row of a branch and those below it. */
function addRows(node: Node, rows: Map<string, Uint8Array>): void {
  if (!(node instanceof Branch)) return;
  const name = rowOf(node);
  const most = isSmall(node) ? Infinity : (Math.floor(node.end / LEVELS) + 1) * LEVELS;
  const outside: Branch[] = [];
  const isInside = (branch: Branch) => {
    if (branch.end < most) return true;
    outside.push(branch);
    return false;
  };
  const parts: Uint8Array[] = [];
  writeNode(node, name.length >> 1, isInside, parts);
  rows.set(name, joined(parts));
  for (const branch of outside) addRows(branch, rows);
}

/** Whether all of a sub-tree is loaded, and its elements are few. */
function isSmall(branch: Branch): boolean {
  let left = SMALL;
  const count = (node: Node): boolean => {
    if (node instanceof Leaf) return left-- > 0;
    return node instanceof Branch && count(node.left) && count(node.right);
  };
  return count(branch);
}

/** Writes a node without the first bytes of its path; branches that are not inside are written as stubs. */
function writeNode(node: Node, skip: number, isInside: (branch: Branch) => boolean, parts: Uint8Array[]): void {
  const { end, value } = node;
  if (node instanceof Leaf) parts.push(heading(LEAF, end), node.path.subarray(skip), value);
  else if (node instanceof Branch && isInside(node)) {
    parts.push(heading(BRANCH, end), value);
    writeNode(node.left, skip, isInside, parts);
    writeNode(node.right, skip, isInside, parts);
  } else parts.push(heading(STUB, end), node.path.subarray(skip, (end >> 3) + 1), value);
}

function heading(kind: number, end: number): Uint8Array {
  return Uint8Array.of(kind, end >> 8, end & 0xff);
}

class RowReader {
  #at = 0;
  constructor(private readonly prefix: Uint8Array, private readonly bytes: Uint8Array) {}

  node(): Node {
    const kind = elementAt(this.bytes, this.#at);
    const end = elementAt(this.bytes, this.#at + 1) << 8 | elementAt(this.bytes, this.#at + 2);
    this.#at += 3;
    if (kind === LEAF) return new Leaf(this.#path(end >> 3), this.#take(32));
    if (kind === STUB) return new Stub(this.#path((end >> 3) + 1), end, this.#take(32));
    const value = this.#take(32);
    return new Branch(end, this.node(), this.node(), value);
  }

  #path(length: number): Uint8Array {
    return concat(this.prefix, this.#take(length - this.prefix.length));
  }

  #take(length: number): Uint8Array {
    if (length < 0 || this.#at + length > this.bytes.length) throw new RangeError("a row that ends too early");
    return this.bytes.subarray(this.#at, this.#at += length);
  }
}
