/** The least lovelace an output holds (ledger: `babbageMinUTxOValue`). */
import type { Parameters } from "#src/cardano/parameters.ts";

/** Bytes that an entry of the UTxO set is taken to need beside the output itself. */
const ENTRY_BYTES = 160n;

/**
 * Least lovelace of an output whose CBOR, the lovelace included, takes so many bytes. Mind that a larger amount may need
 * more bytes: measure the output again with what this gives.
 */
export function minUtxo(parameters: Pick<Parameters, "utxoCostPerByte">, outputCborLength: number): bigint {
  return parameters.utxoCostPerByte * (ENTRY_BYTES + BigInt(outputCborLength));
}
