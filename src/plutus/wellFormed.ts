/**
 * Whether bytes are a Plutus program: the check that the ledger makes of scripts before they may enter the chain (`MalformedScriptWitnesses`,
 * `MalformedReferenceScripts`). Whether variables are bound is no part of it: the ledger checks that in phase 2.
 */
import { CborError, decodeAt } from "#src/cardano/cbor.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import { hasCoreVersion, type Language } from "#src/plutus/machine/version.ts";

/** `script` is what a witness set's byte string holds: flat inside CBOR. */
export function isWellFormed(script: Uint8Array, language: Language, protocolMajor: number): boolean {
  const flat = flatOf(script, language);
  if (!flat) return false;
  try {
    return hasCoreVersion(decodeProgram(flat, language, protocolMajor).version, language, protocolMajor);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/**
 * The flat bytes out of the one byte string that a script is in CBOR; undefined where it is none. Plutus V1 and V2 may have bytes after it, and
 * it is never one in pieces.
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
