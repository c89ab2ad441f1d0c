/** Proofs, made in the threads. */
import { toHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type FactsAtHand, openFacts } from "#src/builders/facts.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";

/** Facts, and the path (digest of a key, 32 bytes) that is asked about. */
export interface ProveInput {
  readonly facts: FactsAtHand;
  readonly path: Uint8Array;
}

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

/** Proves a path present, or absent. */
export async function prove({ facts, path }: ProveInput): Promise<Result<Proven, CutMismatch>> {
  await initHash();
  const opened = openFacts(facts);
  if (!opened.ok) return opened;
  const trie = opened.value;
  const value = trie.get(path);
  const proof = value ? trie.prove(path) : trie.proveAbsent(path);
  if (!proof.ok) throw new Error(`the trie contradicts itself: ${proof.error.message}`);
  return ok({
    root: toHex(trie.root),
    ...(value ? { value } : {}),
    proof: proof.value,
    cbor: encodeProof(proof.value),
  });
}
