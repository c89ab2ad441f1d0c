/** The least lovelace of an output (ledger: `babbageMinUTxOValue`). */
import type { Parameters } from "#src/cardano/parameters.ts";

/** Bytes that the ledger counts for an entry of the UTxO set beside the output. */
const ENTRY_BYTES = 160n;

/**
 * Least lovelace of an output whose CBOR, lovelace included, has so many bytes. A larger amount may need more bytes:
 * `leastLovelace` takes that into account.
 */
export function minUtxo(parameters: Pick<Parameters, "utxoCostPerByte">, outputCborLength: number): bigint {
  return parameters.utxoCostPerByte * (ENTRY_BYTES + BigInt(outputCborLength));
}
