/** Auxiliary data: its hash is stated and true, its metadata in pieces of at most 64 bytes (rule UTXOW, `validateMetadata`). */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Auxiliary } from "#src/cardano/conway/auxiliary.ts";
import { isWellFormed } from "#src/plutus/wellFormed.ts";

/** Checks auxiliary data against the hash that the body states. */
export function checkMetadata(
  stated: string | undefined,
  auxiliary: Auxiliary | undefined,
  major: number,
): LedgerFailure[] {
  if (!auxiliary) return stated === undefined ? [] : [{ name: "MissingTxMetadata", hash: stated }];
  const { hash, short, plutus } = auxiliary;
  if (stated === undefined) return [{ name: "MissingTxBodyMetadataHash", hash }];
  const failures: LedgerFailure[] = [];
  if (stated !== hash) failures.push({ name: "ConflictingMetadataHash", supplied: stated, expected: hash });
  if (!short || !plutus.every(({ bytes, language }) => isWellFormed(bytes, language, major))) {
    failures.push({ name: "InvalidMetadata" });
  }
  return failures;
}
