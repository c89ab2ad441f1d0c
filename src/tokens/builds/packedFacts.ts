/**
 * Facts as sent to a thread: the digests of key and value, 64 bytes a fact, in one array, which is much faster to clone
 * than objects.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { bucketOf, type CutMismatch, fillBuckets, openCut } from "#src/forestry/cut.ts";
import { type Change, Forestry, type Leaf } from "#src/forestry/trie.ts";

/** All facts of a token; or its cut with the facts of the buckets that the changes need (see `neededBuckets`). */
export interface PackedFacts {
  readonly leaves: Uint8Array;
  readonly cut?: { readonly hashes: Uint8Array; readonly buckets: readonly number[] } | undefined;
}

/** The facts of a state that no block holds yet: those of the ledger's state, and the changes between the two in order. */
export interface StateFacts {
  readonly facts: PackedFacts;
  readonly changes?: readonly Change[] | undefined;
}

function unpack(packed: Uint8Array): Leaf[] {
  const leaves: Leaf[] = [];
  for (let at = 0; at < packed.length; at += 64) {
    leaves.push({ path: packed.subarray(at, at + 32), value: packed.subarray(at + 32, at + 64) });
  }
  return leaves;
}

/** The trie of packed facts; fails if cut and facts are of different states. */
export function openFacts({ leaves, cut }: PackedFacts): Result<Forestry, CutMismatch> {
  return cut ? openCut(cut.hashes, groupByBucket(leaves, cut.buckets)) : ok(Forestry.from(unpack(leaves)));
}

/** The trie of a state's facts; `state_differs` if the changes do not apply to the ledger's facts. */
export function openState({ facts, changes = [] }: StateFacts): Result<Forestry, Failure<"state_differs">> {
  const opened = openFacts(facts);
  if (!opened.ok) return fail("state_differs", opened.error.message, opened.error.details);
  for (const change of changes) {
    const done = opened.value.change(change);
    if (!done.ok) return fail("state_differs", done.error.message);
  }
  return opened;
}

/**
 * The trie of packed facts, given the trie opened before (with a cut: its upper part), into which only the buckets are
 * put.
 */
export function reopenFacts(known: Forestry, { leaves, cut }: PackedFacts): Result<Forestry, CutMismatch> {
  return cut ? fillBuckets(known, groupByBucket(leaves, cut.buckets)) : ok(known);
}

function groupByBucket(leaves: Uint8Array, buckets: readonly number[]): Map<number, Leaf[]> {
  const sorted = new Map<number, Leaf[]>(buckets.map((bucket) => [bucket, []]));
  for (const leaf of unpack(leaves)) sorted.get(bucketOf(leaf.path))?.push(leaf);
  return sorted;
}
