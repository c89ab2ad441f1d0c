/** Proofs, made in the threads. */
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type FactsAtHand, openFacts, reopenFacts } from "#src/builders/facts.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { MissingSubtrie } from "#src/forestry/node.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import type { Forestry } from "#src/forestry/trie.ts";

/** What is asked about, and what of the facts is at hand. */
export interface ProveInput {
  /** The root that the facts should have, in hexadecimal. */
  readonly root: string;
  /** Digest of a key, 32 bytes. */
  readonly path: Uint8Array;
  readonly facts: FactsAtHand;
  /** Whether these facts suffice, or only where the thread knows the rest: of a cut the path's own bucket, and else none at all. */
  readonly whole: boolean;
}

/** Why there is no proof; `facts_needed` the thread does not know the rest of the facts. */
export type ProveFailure = CutMismatch | Failure<"facts_needed">;

/** What the trie says of a path. */
export interface Proven {
  /** Root of the facts, in hexadecimal. */
  readonly root: string;
  /** Digest of the value, where there is one. */
  readonly value?: Uint8Array;
  /** That it is there, or that nothing is. */
  readonly proof: Proof;
  readonly cbor: Uint8Array;
}

/** Tries that a thread keeps: each takes up to two megabytes. */
const KEPT = 12;

/** Whole tries, and the upper parts of those with a cut, by their roots. A root says all that is in a trie, so none of them is ever stale. */
const kept = new Map<string, Forestry>();

const needed = fail("facts_needed", "More of the facts is needed than was given.");

/** Proves a path present, or absent. */
export async function prove({ facts, whole, root, path }: ProveInput): Promise<Result<Proven, ProveFailure>> {
  const name = `${facts.cut ? "upper" : "whole"} ${root}`;
  const known = take(name);
  if (!known && !whole) return needed;
  await initHash();
  const opened = known ? ok(known) : openFacts(upper(facts));
  if (!opened.ok) return opened;
  const found = known ? root : toHex(opened.value.root);
  if (found === root) keep(name, opened.value);
  const filled = reopenFacts(opened.value, facts);
  if (!filled.ok) return filled;
  try {
    const trie = filled.value;
    const value = trie.get(path);
    const proof = value ? trie.prove(path) : trie.proveAbsent(path);
    if (!proof.ok) throw new Error(`the trie contradicts itself: ${proof.error.message}`);
    return ok({ root: found, ...(value ? { value } : {}), proof: proof.value, cbor: encodeProof(proof.value) });
  } catch (error) {
    // A neighbour has to be shown whose own facts are not here.
    if (error instanceof MissingSubtrie && !whole) return needed;
    throw error;
  }
}

/** What is kept of facts. */
function upper({ leaves, cut }: FactsAtHand): FactsAtHand {
  return cut ? { leaves: new Uint8Array(), cut: { hashes: cut.hashes, buckets: [] } } : { leaves };
}

function take(name: string): Forestry | undefined {
  const trie = kept.get(name);
  kept.delete(name);
  return trie;
}

function keep(name: string, trie: Forestry): void {
  kept.set(name, trie);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
}
