/**
 * The root of a set of elements without its trie: 64 to 128 bytes of memory for each element, where a trie has about 1.7 kB.
 */
import { compareBytes } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { EMPTY } from "#src/forestry/hash.ts";
import { divergence, nibble, PATH_LENGTH } from "#src/forestry/nibbles.ts";
import { BranchNode, LeafNode, type Node, StubNode } from "#src/forestry/node.ts";
import type { Leaf } from "#src/forestry/trie.ts";

/** Bytes of an element: its path and the digest of its value. */
const ROW = 64;

/** Two elements of a set have the same path, which is in `details`. */
export type RepeatedPath = Failure<"repeated_path"> & { readonly details: { readonly path: Uint8Array } };

/**
 * A set of elements to which more are added, in any order.
 *
 * @example
 * ```ts
 * import { toHex, utf8 } from "./src/base/bytes.ts";
 * import { LeafSet } from "./src/forestry/leafSet.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 *
 * const [name, place] = [leafOf(utf8("name"), utf8("Ada")), leafOf(utf8("place"), utf8("London"))];
 * const set = new LeafSet();
 * set.add(place);
 * set.add(name);
 * const root = set.root();
 * console.log(root.ok && toHex(root.value) === toHex(Forestry.from([name, place]).root)); // true
 * ```
 */
export class LeafSet {
  private rows = new Uint8Array(64 * ROW);
  private count = 0;

  /** Number of elements. */
  get size(): number {
    return this.count;
  }

  /**
   * Adds an element.
   *
   * @throws {RangeError} if path or value is no digest of 32 bytes.
   */
  add({ path, value }: Leaf): void {
    if (path.length !== 32 || value.length !== 32) throw new RangeError("paths and values are 32-byte digests");
    const at = ROW * this.count;
    if (at === this.rows.length) {
      const wider = new Uint8Array(2 * at);
      wider.set(this.rows);
      this.rows = wider;
    }
    this.rows.set(path, at);
    this.rows.set(value, at + 32);
    this.count += 1;
  }

  /** Root of the trie of these elements, 32 bytes; all zero if there are none. Fails where two have the same path. */
  root(): Result<Uint8Array, RepeatedPath> {
    const order = this.sorted();
    for (let i = 1; i < order.length; i++) {
      const path = this.pathOf(order[i]!);
      if (compareBytes(this.pathOf(order[i - 1]!), path) !== 0) continue;
      const { error } = fail("repeated_path", "Two elements have the same path.");
      return { ok: false, error: { ...error, details: { path: path.slice() } } };
    }
    return ok((order.length === 0 ? EMPTY : this.nodeOf(order, 0, order.length, 0).hash).slice());
  }

  /** Indices of the elements in the order of their paths. */
  private sorted(): Uint32Array {
    const rows = new DataView(this.rows.buffer);
    return Uint32Array.from({ length: this.count }, (_, i) => i).sort((a, b) =>
      rows.getUint32(ROW * a) - rows.getUint32(ROW * b) || compareBytes(this.pathOf(a), this.pathOf(b))
    );
  }

  private pathOf(row: number): Uint8Array {
    return this.rows.subarray(ROW * row, ROW * row + 32);
  }

  /** The node over the elements `start` to `stop` (exclusive, at least one); all below it are only hashes. */
  private nodeOf(order: Uint32Array, start: number, stop: number, from: number): Node {
    const first = order[start]!;
    const path = this.pathOf(first);
    if (stop - start === 1) return new LeafNode(from, path, this.rows.subarray(ROW * first + 32, ROW * first + ROW));
    const at = divergence(path, this.pathOf(order[stop - 1]!), from, PATH_LENGTH);
    const kids: (Node | undefined)[] = new Array(16).fill(undefined);
    for (let begin = start; begin < stop;) {
      const slot = nibble(this.pathOf(order[begin]!), at);
      let end = begin + 1;
      while (end < stop && nibble(this.pathOf(order[end]!), at) === slot) end++;
      const kid = this.nodeOf(order, begin, end, at + 1);
      kids[slot] = new StubNode(at + 1, at + 1, kid.path, kid.hash);
      begin = end;
    }
    return new BranchNode(from, at, path, kids);
  }
}
