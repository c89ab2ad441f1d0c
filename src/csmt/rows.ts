/**
 * A tree as rows: each holds the branches of four levels, so that a change touches as many rows as its path has quarters of
 * branches. A small sub-tree is one row.
 *
 * A row is named after the first half-bytes of the keys below it, in hexadecimal: as many as come before the branch at its
 * top. A tree has no row for its top, which is kept beside them (`Top`): a leaf, or the stub of the first row. Rows say
 * nothing of their history, but a sub-tree that became small may still have several.
 */
import { toHex } from "#src/base/bytes.ts";
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
  const writer = new RowWriter();
  writer.node(top, () => false);
  return writer.bytes();
}

/** Reads what `topBytes` wrote. */
export function readTop(bytes: Uint8Array): Node | undefined {
  return bytes.length === 0 ? undefined : new RowReader(bytes).node();
}

/** Reads the sub-tree of a row. @throws RangeError for bytes that are none */
export function readRow(bytes: Uint8Array): Branch {
  const node = new RowReader(bytes).node();
  if (!(node instanceof Branch)) throw new RangeError("a row that is not a branch");
  return node;
}

/** The rows of the changed parts of a tree; and the names of the rows on which those that did not change begin. */
export interface TreeRows {
  readonly rows: ReadonlyMap<string, Uint8Array>;
  readonly kept: ReadonlySet<string>;
}

/** The rows of a tree that was loaded from others; `ends` has where the part of the path of each one's branch ended. */
export function rowsOf(top: Node | undefined, ends: ReadonlyMap<string, number>): TreeRows {
  const made = { rows: new Map<string, Uint8Array>(), kept: new Set<string>(), ends };
  if (top) addRows(top, made);
  return made;
}

interface RowsMade {
  readonly rows: Map<string, Uint8Array>;
  readonly kept: Set<string>;
  readonly ends: ReadonlyMap<string, number>;
}

/** Adds the row of a branch and those below it. */
function addRows(node: Node, made: RowsMade): void {
  if (node instanceof Leaf) return;
  const name = rowOf(node);
  // a branch that did not change may have come to the top of another row
  if (node instanceof Stub || (!node.isNew && made.ends.get(name) === node.end)) {
    made.kept.add(name);
    return;
  }
  const most = isSmall(node) ? Infinity : (Math.floor(node.end / LEVELS) + 1) * LEVELS;
  const outside: (Branch | Stub)[] = [];
  const writer = new RowWriter();
  writer.node(node, (inner) => {
    if (inner instanceof Branch && inner.end < most) return true;
    outside.push(inner);
    return false;
  });
  made.rows.set(name, writer.bytes());
  for (const inner of outside) addRows(inner, made);
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

/** Bytes of the largest row, and more. */
const written = new Uint8Array(65_536);

/** Writes nodes, each after its parent: kind, end, then the key and the value; a stub has as much of a key as it knows. */
class RowWriter {
  #at = 0;

  /** Writes a node, and of branches that are inside their children; the others are stubs. */
  node(node: Node, isInside: (node: Branch | Stub) => boolean): void {
    if (node instanceof Leaf) return this.#add(LEAF, node, node.path.length);
    if (isInside(node) && node instanceof Branch) {
      this.#add(BRANCH, node, 0);
      this.node(node.left, isInside);
      this.node(node.right, isInside);
    } else this.#add(STUB, node, (node.end >> 3) + 1);
  }

  bytes(): Uint8Array {
    return written.slice(0, this.#at);
  }

  #add(kind: number, { path, end, value }: Node, known: number): void {
    written[this.#at] = kind;
    written[this.#at + 1] = end >> 8;
    written[this.#at + 2] = end & 0xff;
    this.#at += 3;
    for (let i = 0; i < known; i++) written[this.#at + i] = elementAt(path, i);
    this.#at += known;
    written.set(value, this.#at);
    this.#at += value.length;
  }
}

/** Bytes of a value. */
const VALUE = 32;

class RowReader {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  node(): Node {
    const kind = elementAt(this.bytes, this.#at);
    const end = elementAt(this.bytes, this.#at + 1) << 8 | elementAt(this.bytes, this.#at + 2);
    this.#at += 3;
    if (kind === LEAF) return new Leaf(this.#take(end >> 3), this.#take(VALUE));
    if (kind === STUB) return new Stub(this.#take((end >> 3) + 1), end, this.#take(VALUE));
    if (kind !== BRANCH) throw new RangeError("a row with a node of no known kind");
    const value = this.#take(VALUE);
    return new Branch(end, this.node(), this.node(), value);
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.bytes.length) throw new RangeError("a row that ends too early");
    return this.bytes.subarray(this.#at, this.#at += length);
  }
}
