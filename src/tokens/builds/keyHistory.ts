/** Proofs of one key under several roots of a token, one state after the other, computed in the builder threads. */
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { initHash } from "#src/forestry/hash.ts";
import { MissingSubtrie } from "#src/forestry/node.ts";
import { encodeProof, type Step } from "#src/forestry/proof.ts";
import type { Change } from "#src/forestry/trie.ts";
import { openFacts, type PackedFacts } from "#src/tokens/builds/packedFacts.ts";

export interface KeyHistoryInput {
  /** Digest of the key, 32 bytes. */
  readonly path: Uint8Array;
  /** The facts before the first of the states; with a cut, those of the buckets that the changes and the path need. */
  readonly facts: PackedFacts;
  readonly states: readonly {
    /** The expected root, in hexadecimal. */
    readonly root: string;
    /** Changes since the state before. */
    readonly changes: readonly Change[];
    /** Whether a proof is wanted. */
    readonly proven: boolean;
  }[];
}

export interface ProvenKeyHistory {
  /** The different steps of all proofs: between two states, most steps stay the same. */
  readonly steps: readonly Step[];
  /** For each state with a proof: the digest of the value, if there is one, and its proof as indices into `steps`. */
  readonly states: readonly { readonly value?: Uint8Array; readonly steps: readonly number[] }[];
}

/** `facts_differ`: the facts and changes do not lead to the states' roots. */
export type KeyHistoryFailure = Failure<"facts_differ">;

/** Proves a path present or absent in each state. */
export async function keyHistory(
  { path, facts, states }: KeyHistoryInput,
): Promise<Result<ProvenKeyHistory, KeyHistoryFailure>> {
  await initHash();
  const opened = openFacts(facts);
  if (!opened.ok) return fail("facts_differ", opened.error.message);
  const trie = opened.value;
  const table = new StepTable();
  const proven: { value?: Uint8Array; steps: number[] }[] = [];
  try {
    for (const { root, changes, proven: wanted } of states) {
      for (const change of changes) {
        const done = trie.change(change);
        if (!done.ok) return fail("facts_differ", done.error.message);
      }
      if (toHex(trie.root) !== root) {
        return fail("facts_differ", `The requests applied do not lead to the root ${root}.`);
      }
      if (!wanted) continue;
      const value = trie.get(path);
      const proof = value ? trie.prove(path) : trie.proveAbsent(path);
      if (!proof.ok) throw new Error(`the trie contradicts itself: ${proof.error.message}`);
      proven.push({ ...(value ? { value } : {}), steps: proof.value.map((step) => table.place(step)) });
    }
  } catch (error) {
    if (error instanceof MissingSubtrie) return fail("facts_differ", error.message);
    throw error;
  }
  return ok({ steps: table.steps, states: proven });
}

/** Different steps in the order in which they came. */
class StepTable {
  readonly steps: Step[] = [];
  readonly #places = new Map<string, number>();

  place(step: Step): number {
    const name = toHex(encodeProof([step]));
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    this.#places.set(name, this.steps.length);
    return this.steps.push(step) - 1;
  }
}
