/**
 * Whether bytes are a Plutus program: the ledger's check of scripts that enter the chain (`MalformedScriptWitnesses`,
 * `MalformedReferenceScripts`). It checks neither that variables are bound nor that the version of Plutus Core is available;
 * the ledger does that in phase 2 (plutus-ledger-api, `mkTermToEvaluate`).
 */
import { CborError, decodeAt } from "#src/cardano/cbor.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import type { Language } from "#src/plutus/machine/version.ts";

/** Whether a script is a program of its language. `script` is the content of the witness set's byte string: flat inside CBOR. */
export function isWellFormed(script: Uint8Array, language: Language, protocolMajor: number): boolean {
  const flat = flatOf(script, language);
  if (!flat) return false;
  try {
    decodeProgram(flat, language, protocolMajor);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/**
 * The flat bytes in a script, which is one CBOR byte string of definite length; undefined for anything else. In Plutus V1
 * and V2 other bytes may follow it.
 */
export function flatOf(script: Uint8Array, language: Language): Uint8Array | undefined {
  if (script[0] === 0x5f) return undefined;
  try {
    const item = decodeAt(script, 0);
    return item.type === "bytes" && (language < 3 || item.end === script.length) ? item.value : undefined;
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}
