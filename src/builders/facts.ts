/** Facts as they are sent to a thread: digests of key and value, 64 bytes each in one array, which crosses threads far faster than objects. */
import { ok, type Result } from "#src/base/result.ts";
import { bucketOf, type CutMismatch, fillBuckets, openCut } from "#src/forestry/cut.ts";
import { Forestry, type Leaf } from "#src/forestry/trie.ts";

/** All facts of a token; or, with its cut, those of the buckets that the changes need (see `neededBuckets`). */
export interface FactsAtHand {
  readonly leaves: Uint8Array;
  readonly cut?: { readonly hashes: Uint8Array; readonly buckets: readonly number[] } | undefined;
}

/** Packs facts for a thread. */
export function packFacts(leaves: readonly Leaf[], cut?: FactsAtHand["cut"]): FactsAtHand {
  const packed = new Uint8Array(leaves.length * 64);
  leaves.forEach(({ path, value }, i) => {
    packed.set(path, i * 64);
    packed.set(value, i * 64 + 32);
  });
  return { leaves: packed, cut };
}

function unpack(packed: Uint8Array): Leaf[] {
  const leaves: Leaf[] = [];
  for (let at = 0; at < packed.length; at += 64) {
    leaves.push({ path: packed.subarray(at, at + 32), value: packed.subarray(at + 32, at + 64) });
  }
  return leaves;
}

/** The trie of packed facts, or that cut and facts are not of one moment. */
export function openFacts({ leaves, cut }: FactsAtHand): Result<Forestry, CutMismatch> {
  return cut ? openCut(cut.hashes, byBucket(leaves, cut.buckets)) : ok(Forestry.from(unpack(leaves)));
}

/** As `openFacts`, for facts whose trie was opened before, without its cut where it has one: only the buckets at hand are put in. */
export function reopenFacts(known: Forestry, { leaves, cut }: FactsAtHand): Result<Forestry, CutMismatch> {
  return cut ? fillBuckets(known, byBucket(leaves, cut.buckets)) : ok(known);
}

function byBucket(leaves: Uint8Array, buckets: readonly number[]): Map<number, Leaf[]> {
  const sorted = new Map<number, Leaf[]>(buckets.map((bucket) => [bucket, []]));
  for (const leaf of unpack(leaves)) sorted.get(bucketOf(leaf.path))?.push(leaf);
  return sorted;
}
