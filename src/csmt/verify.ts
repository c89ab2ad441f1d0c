/**
 * Verifies what an instance says of the set of unspent outputs, against a root that the caller trusts. Keys and digests are
 * computed from what is shown, never taken from a proof. Safe in a browser.
 */
import { compareBytes, equalBytes } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { type Output, type OutRef, refKey, walkOutput } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import { spreadBits } from "#src/csmt/bits.ts";
import { foldCompleteness, foldExclusion, foldInclusion } from "#src/csmt/fold.ts";
import { addressPrefix, keyBelow, outputKey } from "#src/csmt/key.ts";
import {
  decodeCompleteness,
  decodeExclusion,
  decodeInclusion,
  type ExclusionProof,
  type MalformedProof,
} from "#src/csmt/proof.ts";
import type { Element } from "#src/csmt/tree.ts";

/** The root of a set of outputs; null: the set is empty. */
export type UtxoRoot = Uint8Array | null;

/** An output as an instance shows it: its reference, and CBOR in the ledger's own encoding. */
export interface ShownOutput {
  readonly ref: OutRef;
  readonly cbor: Uint8Array;
}

export type ProofFailure = MalformedProof | Failure<"malformed_output" | "wrong_entry" | "wrong_root">;

/** Verifies that an output is in the set of a root; gives the output. */
export function verifyOutput(root: UtxoRoot, shown: ShownOutput, proof: Uint8Array): Result<Output, ProofFailure> {
  const decoded = decodeInclusion(proof);
  if (!decoded.ok) return decoded;
  const output = readShown(shown);
  if (!output.ok) return output;
  const key = outputKey(output.value.address, shown.ref);
  if (!isKey(decoded.value.key, key) || !equalBytes(decoded.value.value, blake2b256(shown.cbor))) {
    return fail("wrong_entry", `The proof is of another output than ${refKey(shown.ref)} as it is shown.`);
  }
  return isRoot(root, foldInclusion(decoded.value)) ? output : wrongRoot();
}

/** Verifies that the set of a root has no output of a reference at an address (bytes in hexadecimal). */
export function verifyNoOutput(
  root: UtxoRoot,
  { address, ref }: { readonly address: string; readonly ref: OutRef },
  proof: Uint8Array,
): Result<void, ProofFailure> {
  const decoded = decodeExclusion(proof);
  return decoded.ok ? checkExclusion(root, outputKey(address, ref), decoded.value) : decoded;
}

/**
 * Verifies that the outputs of an address (bytes in hexadecimal) in the set of a root are these, in any order; gives them
 * in the order given.
 */
export function verifyAddress(
  root: UtxoRoot,
  { address, outputs }: { readonly address: string; readonly outputs: readonly ShownOutput[] },
  proof: Uint8Array,
): Result<readonly Output[], ProofFailure> {
  const decoded = decodeCompleteness(proof);
  if (!decoded.ok) return decoded;
  const prefix = addressPrefix(address);
  const read: Output[] = [];
  const elements: Element[] = [];
  for (const shown of outputs) {
    const output = readShown(shown);
    if (!output.ok) return output;
    if (output.value.address !== address) {
      return fail("wrong_entry", `The output ${refKey(shown.ref)} is at another address.`);
    }
    read.push(output.value);
    elements.push({ key: keyBelow(prefix, shown.ref), value: blake2b256(shown.cbor) });
  }
  if (!("empty" in decoded.value)) {
    elements.sort((a, b) => compareBytes(a.key, b.key));
    return isRoot(root, foldCompleteness(prefix, elements, decoded.value)) ? ok(read) : wrongRoot();
  }
  if (outputs.length > 0) {
    return fail("wrong_entry", "The proof says that the address has no output, and outputs are shown.");
  }
  const checked = checkExclusion(root, prefix, decoded.value.empty);
  return checked.ok ? ok(read) : checked;
}

function checkExclusion(root: UtxoRoot, target: Uint8Array, proof: ExclusionProof): Result<void, ProofFailure> {
  // that the tree is empty says nothing of a root that a tree has
  if (!proof) return root === null ? ok(undefined) : wrongRoot();
  if (!isKey(proof.target, target)) return fail("wrong_entry", "The proof is of the absence of another key.");
  return isRoot(root, foldExclusion(proof)) ? ok(undefined) : wrongRoot();
}

function isKey(bits: Uint8Array, key: Uint8Array): boolean {
  return equalBytes(bits, spreadBits(key, 0, key.length * 8));
}

function isRoot(root: UtxoRoot, folded: Uint8Array | undefined): boolean {
  return root !== null && folded !== undefined && equalBytes(root, folded);
}

function wrongRoot() {
  return fail("wrong_root", "The proof does not lead to the trusted root.");
}

function readShown({ ref, cbor }: ShownOutput): Result<Output, ProofFailure> {
  try {
    const walk = new Walk(cbor);
    const output = walkOutput(walk);
    walk.end();
    return ok(output);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("malformed_output", `The output ${refKey(ref)} cannot be read: ${error.message}.`);
  }
}
