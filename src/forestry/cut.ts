/**
 * Cuts: a large trie without its elements. A cut has one hash for each of the 4,096 prefixes of three nibbles (buckets).
 * Together with the elements of the few buckets that changes touch, it gives the same roots and proofs as the whole trie.
 *
 * A bucket's hash is that of its node at the depth where the node starts: a bucket that shares only its first nibble with
 * another one starts at nibble 2; the only bucket of a trie starts at nibble 0. The depth follows from which buckets are
 * empty. It can change, and the node can be needed in a proof, only if a touched bucket has no other neighbour at some
 * depth; `neededBuckets` includes such neighbours.
 */
import { EMPTY } from "#src/forestry/hash.ts";
import { BranchNode, build, LeafNode, type Node, StubNode } from "#src/forestry/node.ts";
import { nibble, PATH_LENGTH } from "#src/forestry/nibbles.ts";
import { Forestry, type Leaf } from "#src/forestry/trie.ts";
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Nibbles above the cut. */
const DEPTH = 3;
/** Buckets of a cut: prefixes of three nibbles, 0 to 4095. */
export const BUCKETS = 16 ** DEPTH;
/** Bytes of a cut: 32 for each bucket, in order; zero where a bucket is empty. */
export const CUT_BYTES = 32 * BUCKETS;

/** The cut and the elements do not belong together: they were read at different points. */
export type CutMismatch = Failure<"cut_mismatch"> & { readonly details: { readonly bucket: number } };

/**
 * The bucket of a path, 0 to 4095.
 *
 * @example
 * ```ts
 * import { bucketOf } from "./src/forestry/cut.ts";
 *
 * console.log(bucketOf(new Uint8Array(32).fill(255))); // 4095
 * ```
 */
export function bucketOf(path: Uint8Array): number {
  return (nibble(path, 0) << 8) | (nibble(path, 1) << 4) | nibble(path, 2);
}

/** The prefix of a bucket, as the beginning of a path. */
function prefixOf(bucket: number): Uint8Array {
  return Uint8Array.of(bucket >> 4, (bucket & 15) << 4);
}

/** Nibbles that two different buckets share: 0 to 2. */
function shared(a: number, b: number): number {
  return a >> 8 !== b >> 8 ? 0 : a >> 4 !== b >> 4 ? 1 : 2;
}

function hashIn(cut: Uint8Array, bucket: number): Uint8Array {
  return cut.subarray(32 * bucket, 32 * bucket + 32);
}

function occupied(cut: Uint8Array): number[] {
  if (cut.length !== CUT_BYTES) throw new RangeError(`a cut has ${CUT_BYTES} bytes`);
  return Array.from({ length: BUCKETS }, (_, bucket) => bucket).filter((b) => !equalBytes(hashIn(cut, b), EMPTY));
}

/**
 * The cut of a trie, including one made by `openCut` and changed since.
 *
 * @example
 * ```ts
 * import { CUT_BYTES, cutOf } from "./src/forestry/cut.ts";
 * import { Forestry } from "./src/forestry/trie.ts";
 *
 * console.log(cutOf(new Forestry()).length === CUT_BYTES); // true
 * ```
 */
export function cutOf(trie: Forestry): Uint8Array {
  const cut = new Uint8Array(CUT_BYTES);
  const visit = (node: Node | undefined): void => {
    if (node instanceof BranchNode && node.at < DEPTH) node.kids.forEach(visit);
    else if (node) cut.set(node.hash, 32 * bucketOf(node.path));
  };
  visit(trie.top);
  return cut;
}

/**
 * Buckets in which two cuts differ, in ascending order.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { changedBuckets, cutOf } from "./src/forestry/cut.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 *
 * const [before, after] = [new Forestry(), Forestry.from([leafOf(utf8("name"), utf8("Ada"))])];
 * console.log(changedBuckets(cutOf(before), cutOf(after)).length); // 1
 * ```
 */
export function changedBuckets(before: Uint8Array, after: Uint8Array): number[] {
  return Array.from({ length: BUCKETS }, (_, b) => b).filter((b) => !equalBytes(hashIn(before, b), hashIn(after, b)));
}

/**
 * The buckets whose elements are needed to change the elements at these paths, in any way and order, and to prove them
 * present or absent. Ascending; at most three more for each path than its own.
 *
 * @throws {RangeError} if the cut has another length than `CUT_BYTES`.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { bucketOf, CUT_BYTES, neededBuckets } from "./src/forestry/cut.ts";
 * import { digest } from "./src/forestry/hash.ts";
 *
 * const path = digest(utf8("name"));
 * console.log(neededBuckets(new Uint8Array(CUT_BYTES), [path])[0] === bucketOf(path)); // true
 * ```
 */
export function neededBuckets(cut: Uint8Array, paths: Iterable<Uint8Array>): number[] {
  const touched = new Set(Array.from(paths, bucketOf));
  const others = occupied(cut).filter((bucket) => !touched.has(bucket));
  const needed = new Set(touched);
  for (const bucket of touched) {
    for (let depth = 0; depth < DEPTH; depth++) {
      const first = others.findIndex((other) => shared(bucket, other) === depth);
      const only = others[first];
      if (only === undefined) continue;
      // most depths of a large trie have several: the second is found soon
      const isAlone = !others.some((other, i) => i > first && shared(bucket, other) === depth);
      if (isAlone) needed.add(only);
    }
  }
  return [...needed].sort((a, b) => a - b);
}

/**
 * A trie from a cut and the elements of some of its buckets. The map must have all elements of each bucket in it. Changes
 * and proofs at paths not passed to `neededBuckets` throw `MissingSubtrie`.
 *
 * @throws {RangeError} if the cut has another length than `CUT_BYTES`, or two elements have the same path.
 *
 * @example
 * ```ts
 * import { equalBytes, utf8 } from "./src/base/bytes.ts";
 * import { cutOf, neededBuckets, openCut } from "./src/forestry/cut.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 *
 * const leaf = leafOf(utf8("name"), utf8("Ada"));
 * const whole = Forestry.from([leaf]);
 * const cut = cutOf(whole);
 * const opened = openCut(cut, new Map(neededBuckets(cut, [leaf.path]).map((bucket) => [bucket, [leaf]])));
 * console.log(opened.ok && equalBytes(opened.value.root, whole.root)); // true
 * ```
 */
export function openCut(
  cut: Uint8Array,
  leavesByBucket: ReadonlyMap<number, readonly Leaf[]>,
): Result<Forestry, CutMismatch> {
  const buckets = occupied(cut);
  const stubs = buckets.map((bucket, i) => {
    const from = hangsFrom(bucket, buckets[i - 1], buckets[i + 1]);
    return new StubNode(from, DEPTH, prefixOf(bucket), hashIn(cut, bucket).slice());
  });
  return fillBuckets(new Forestry(build(stubs, 0, DEPTH)), leavesByBucket);
}

/**
 * A trie made by `openCut`, with the elements of more buckets. Known hashes are kept, so only the new elements cost time.
 *
 * @throws {RangeError} if two elements have the same path.
 *
 * @example
 * ```ts
 * import { utf8 } from "./src/base/bytes.ts";
 * import { bucketOf, cutOf, fillBuckets, openCut } from "./src/forestry/cut.ts";
 * import { Forestry, leafOf } from "./src/forestry/trie.ts";
 *
 * const leaf = leafOf(utf8("name"), utf8("Ada"));
 * const opened = openCut(cutOf(Forestry.from([leaf])), new Map());
 * if (!opened.ok) throw new Error(opened.error.message);
 * console.log(fillBuckets(opened.value, new Map([[bucketOf(leaf.path), [leaf]]])).ok); // true
 * ```
 */
export function fillBuckets(
  trie: Forestry,
  leavesByBucket: ReadonlyMap<number, readonly Leaf[]>,
): Result<Forestry, CutMismatch> {
  let top = trie.top;
  for (const [bucket, leaves] of leavesByBucket) {
    const belongs = leaves.every((leaf) => bucketOf(leaf.path) === bucket) &&
      (leaves.length > 0 || !holds(top, bucket));
    if (!belongs) return mismatch(bucket);
    const node = bucketNode(leaves);
    if (!node) continue;
    top = filledWith(top, node);
    if (!top) return mismatch(bucket);
  }
  return ok(new Forestry(top));
}

/** The node with a bucket's hash replaced by the bucket's node; undefined if the hashes differ. */
function filledWith(node: Node | undefined, bucket: Node): Node | undefined {
  if (node instanceof BranchNode && node.at < DEPTH) {
    const slot = nibble(bucket.path, node.at);
    const filled = filledWith(node.kids[slot], bucket);
    return filled && node.with(slot, filled);
  }
  if (node === undefined || bucketOf(node.path) !== bucketOf(bucket.path)) return undefined;
  const moved = bucket.movedTo(node.from);
  return equalBytes(moved.hash, node.hash) ? moved : undefined;
}

/** Whether a bucket has elements. */
function holds(top: Node | undefined, bucket: number): boolean {
  const path = prefixOf(bucket);
  let node = top;
  while (node instanceof BranchNode && node.at < DEPTH) node = node.kids[nibble(path, node.at)];
  return node !== undefined && bucketOf(node.path) === bucket;
}

/** The nibble at which a bucket's node starts, from the nearest occupied buckets on both sides. */
function hangsFrom(bucket: number, before: number | undefined, after: number | undefined): number {
  const left = before === undefined ? -1 : shared(bucket, before);
  const right = after === undefined ? -1 : shared(bucket, after);
  return Math.max(left, right) + 1;
}

function bucketNode(leaves: readonly Leaf[]): Node | undefined {
  const nodes = leaves.map(({ path, value }) => new LeafNode(0, path, value));
  return build(nodes.sort((a, b) => compareBytes(a.path, b.path)), 0, PATH_LENGTH);
}

function mismatch(bucket: number): { readonly ok: false; readonly error: CutMismatch } {
  const message = `The elements read for bucket ${bucket} are not those of the cut.`;
  return { ok: false, error: { ...fail("cut_mismatch", message).error, details: { bucket } } };
}
