/**
 * Cuts: a large trie without its elements. A cut holds one hash for each of the 4,096 prefixes of three nibbles (its
 * buckets); together with the elements of the few buckets that some changes touch, it gives the same roots and proofs as the
 * whole trie.
 *
 * A bucket's hash is the one that its node has where it hangs: a bucket that shares no more than its first nibble with any
 * other hangs from nibble 2, and one that is alone in the trie from nibble 0. Where it hangs follows from which buckets are
 * empty. It may change, or its node may have to be shown in a proof, only when a touched bucket has no other neighbour at
 * some depth; `neededBuckets` names such neighbours as well.
 */
import { EMPTY } from "#src/forestry/hash.ts";
import { BranchNode, build, LeafNode, type Node, StubNode } from "#src/forestry/node.ts";
import { PATH_LENGTH } from "#src/forestry/nibbles.ts";
import { Forestry, type Leaf } from "#src/forestry/trie.ts";
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Nibbles above the cut. */
const DEPTH = 3;
/** Buckets of a cut: prefixes of three nibbles, 0 to 4095. */
export const BUCKETS = 16 ** DEPTH;
/** Bytes of a cut: 32 for each bucket, in order; zero where a bucket is empty. */
export const CUT_BYTES = 32 * BUCKETS;

/** Where the cut and the elements that were read do not belong together: one of the two is of another moment. */
export type CutMismatch = Failure<"cut_mismatch"> & { readonly details: { readonly bucket: number } };

/** The bucket of a path. */
export function bucketOf(path: Uint8Array): number {
  return (path[0]! << 4) | (path[1]! >> 4);
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

/** The cut of a trie; also of one that came out of `openCut` and was changed since. */
export function cutOf(trie: Forestry): Uint8Array {
  const cut = new Uint8Array(CUT_BYTES);
  const visit = (node: Node | undefined): void => {
    if (node instanceof BranchNode && node.at < DEPTH) node.kids.forEach(visit);
    else if (node) cut.set(node.hash, 32 * bucketOf(node.path));
  };
  visit(trie.top);
  return cut;
}

/** Buckets in which two cuts differ, in ascending order. */
export function changedBuckets(before: Uint8Array, after: Uint8Array): number[] {
  return Array.from({ length: BUCKETS }, (_, b) => b).filter((b) => !equalBytes(hashIn(before, b), hashIn(after, b)));
}

/**
 * The buckets whose elements must be read so that the elements under these paths can be changed, in any way and order, and
 * proven present or absent. Ascending; besides the paths' own there are at most three for each of them.
 */
export function neededBuckets(cut: Uint8Array, paths: Iterable<Uint8Array>): number[] {
  const touched = new Set(Array.from(paths, bucketOf));
  const others = occupied(cut).filter((bucket) => !touched.has(bucket));
  const needed = new Set(touched);
  for (const bucket of touched) {
    for (let depth = 0; depth < DEPTH; depth++) {
      const [only, second] = others.filter((other) => shared(bucket, other) === depth);
      if (only !== undefined && second === undefined) needed.add(only);
    }
  }
  return [...needed].sort((a, b) => a - b);
}

/**
 * A trie out of a cut and the elements of some of its buckets: every element of a bucket that is in the map, none of the
 * others. Changes and proofs under other paths than those that `neededBuckets` was asked for throw `MissingSubtrie`.
 */
export function openCut(
  cut: Uint8Array,
  leavesByBucket: ReadonlyMap<number, readonly Leaf[]>,
): Result<Forestry, CutMismatch> {
  const buckets = occupied(cut);
  for (const [bucket, leaves] of leavesByBucket) {
    const belongs = leaves.every((leaf) => bucketOf(leaf.path) === bucket);
    if (!belongs || (leaves.length > 0 && equalBytes(hashIn(cut, bucket), EMPTY))) return mismatch(bucket);
  }
  const nodes: Node[] = [];
  for (const [i, bucket] of buckets.entries()) {
    const from = hangsFrom(bucket, buckets[i - 1], buckets[i + 1]);
    const leaves = leavesByBucket.get(bucket);
    const hash = hashIn(cut, bucket).slice();
    const node = leaves ? bucketNode(leaves)?.movedTo(from) : new StubNode(from, DEPTH, prefixOf(bucket), hash);
    if (!node || !equalBytes(node.hash, hash)) return mismatch(bucket);
    nodes.push(node);
  }
  return ok(new Forestry(build(nodes, 0, DEPTH)));
}

/** The nibble from which a bucket hangs, by the nearest occupied ones on both sides. */
function hangsFrom(bucket: number, before: number | undefined, after: number | undefined): number {
  const depths = [before, after].map((other) => other === undefined ? -1 : shared(bucket, other));
  return Math.max(...depths) + 1;
}

function bucketNode(leaves: readonly Leaf[]): Node | undefined {
  const nodes = leaves.map(({ path, value }) => new LeafNode(0, path, value));
  return build(nodes.sort((a, b) => compareBytes(a.path, b.path)), 0, PATH_LENGTH);
}

function mismatch(bucket: number): { readonly ok: false; readonly error: CutMismatch } {
  const message = `The elements read for bucket ${bucket} are not those of the cut.`;
  return { ok: false, error: { ...fail("cut_mismatch", message).error, details: { bucket } } };
}
