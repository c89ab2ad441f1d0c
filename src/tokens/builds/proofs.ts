/** Proofs of facts, computed in the builder threads. */
import { toHex } from "#src/base/bytes.ts";
import { setBounded } from "#src/base/maps.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { openFacts, type PackedFacts, reopenFacts } from "#src/tokens/builds/packedFacts.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { MissingSubtrie } from "#src/forestry/node.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";

/** A request for a proof. */
export interface ProveInput {
  /** The expected root of the facts, in hexadecimal. */
  readonly root: string;
  /** Digest of a key, 32 bytes. */
  readonly path: Uint8Array;
  readonly facts: PackedFacts;
  /**
   * Whether `facts` is complete. If not, the thread needs the rest in its cache: with a cut, `facts` has only the
   * path's own bucket.
   */
  readonly whole: boolean;
}

/** Why there is no proof; `facts_needed`: the thread does not have the rest of the facts. */
export type ProveFailure = CutMismatch | Failure<"facts_needed">;

/** The trie's answer for a path. */
export interface PathProof {
  /** Root of the facts, in hexadecimal. */
  readonly root: string;
  /** Digest of the value, if the fact exists. */
  readonly value?: Uint8Array;
  /** Proof of presence or absence. */
  readonly proof: Proof;
  readonly cbor: Uint8Array;
}

/** Tries cached by a thread; each takes up to two megabytes. */
const MAX_CACHED = 12;

/**
 * Complete tries, and upper parts of those with a cut, by root. A root determines its trie, so entries never become
 * stale.
 */
const cache = new Map<string, Forestry>();

const factsNeeded = fail("facts_needed", "The job needs more of the facts than it received.");

/** Proves that a path is present or absent. */
export async function prove({ facts, whole, root, path }: ProveInput): Promise<Result<PathProof, ProveFailure>> {
  const name = `${facts.cut ? "upper" : "whole"} ${root}`;
  const known = takeCached(name);
  if (!known && !whole) return factsNeeded;
  await initHash();
  const opened = known ? ok(known) : openFacts(cacheablePart(facts));
  if (!opened.ok) return opened;
  const found = known ? root : toHex(opened.value.root);
  if (found === root) setBounded(cache, name, opened.value, MAX_CACHED);
  const filled = reopenFacts(opened.value, facts);
  if (!filled.ok) return filled;
  try {
    const trie = filled.value;
    const value = trie.get(path);
    const proof = value ? trie.prove(path) : trie.proveAbsent(path);
    if (!proof.ok) throw new Error(`the trie contradicts itself: ${proof.error.message}`);
    return ok({ root: found, ...(value ? { value } : {}), proof: proof.value, cbor: encodeProof(proof.value) });
  } catch (error) {
    // the proof needs a neighbour whose facts are not here
    if (error instanceof MissingSubtrie && !whole) return factsNeeded;
    throw error;
  }
}

/** The part of the facts that is cached. */
function cacheablePart({ leaves, cut }: PackedFacts): PackedFacts {
  return cut ? { leaves: new Uint8Array(), cut: { hashes: cut.hashes, buckets: [] } } : { leaves };
}

function takeCached(name: string): Forestry | undefined {
  const trie = cache.get(name);
  cache.delete(name);
  return trie;
}
