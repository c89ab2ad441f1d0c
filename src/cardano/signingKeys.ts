/** The keys that signed a transaction. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asSet, decodeAll, entry } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";

const KEY_WITNESSES = 0;

/**
 * Hashes of the keys whose signatures a transaction carries, each once; without Byron's. The signatures are not verified.
 *
 * @throws {CborError} where the witnesses are malformed.
 */
export function signingKeys({ witnesses }: Pick<ScannedTransaction, "witnesses">): readonly string[] {
  const signatures = entry(decodeAll(witnesses), KEY_WITNESSES);
  if (!signatures) return [];
  return [...new Set(asSet(signatures).map((one) => hash224(as(as(one, "array").value[0], "bytes").value)))];
}
