/**
 * Where the contract is published: a fixed address that no one can spend from and that is not the contract's own.
 *
 * Its payment part is the native script "any of nothing" (CDDL `script_any` with an empty list). No signature satisfies it, so
 * its outputs are permanent.
 */
import { concat, equalBytes } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import { type CageScript, cageScripts } from "#src/contract/script.ts";

const NATIVE = 0;
const PLUTUS_V3 = 3;
const ANY_OF = 2;

/** The address (bytes in hexadecimal) on a network. */
export function publicationAddress(network: 0 | 1): string {
  return scriptAddress(network, hash224(concat(Uint8Array.of(NATIVE), encode([ANY_OF, []])))).hex;
}

/** A version of the contract as the reference script of an output: CBOR of `[3, bytes]`, 3 for Plutus V3. */
export function referenceScript(script: CageScript): Uint8Array {
  return encode([PLUTUS_V3, script.compiledCode]);
}

/**
 * The output that carries a version of the contract: the smallest one, then the first by reference. Anyone may publish the
 * contract, also with assets and a datum, which make the script context larger.
 */
export function findPublished(utxos: readonly Utxo[], hash: string): Utxo | undefined {
  const script = cageScripts.find((one) => one.hash === hash);
  const wanted = script && referenceScript(script);
  return wanted &&
    utxos.filter(({ output }) => output.script && equalBytes(output.script, wanted))
      .sort((a, b) => a.output.raw.length - b.output.raw.length || compareRefs(a.ref, b.ref))[0];
}
