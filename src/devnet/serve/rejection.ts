/** A refused submission as a node tells it, for every interface that speaks as one. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { decodeRejection, encodeRejection } from "#src/node/rejections/rejections.ts";

/** The rejection of a transaction (CBOR, as in local-tx-submission), with the spent outputs that the chain has. */
export async function rejectionOf(
  devnet: Pick<Devnet, "query">,
  failures: readonly LedgerFailure[],
  transaction: Uint8Array,
): Promise<Uint8Array> {
  return await devnet.query(({ utxo }) => encodeRejection(failures, { transaction, spends: (ref) => utxo.get(ref) })) ??
    encodeRejection(failures, { transaction });
}

/** The failures as a client of a node reads them: sets in the ledger's order, parts of the transaction in full. */
export async function failuresAtNode(
  devnet: Pick<Devnet, "query">,
  failures: readonly LedgerFailure[],
  transaction: Uint8Array,
): Promise<readonly LedgerFailure[]> {
  return decodeRejection(await rejectionOf(devnet, failures, transaction), transaction);
}
