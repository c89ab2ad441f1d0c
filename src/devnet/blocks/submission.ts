/** Checks of a submission that need no ledger, and its failures. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError, decodeAll, entry } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";

/** Why a submission has no verdict now; a later attempt may succeed. */
export type SubmissionUnavailable = Failure<"mempool_full" | "devnet_unavailable">;
export type UndecodableSubmission = Failure<"undecodable">;

/**
 * Transactions longer than this many times the maximum are not decoded; shorter ones are, and refused for their length.
 */
export const MAX_SIZE_FACTOR = 8;

/** A transaction, and whether it has redeemers. */
interface DecodedSubmission {
  readonly transaction: ScannedTransaction;
  readonly runsScripts: boolean;
}

/**
 * Decodes a transaction. `maxTxSize`: bytes that the rules allow. Much longer ones are refused undecoded: decoding them
 * takes long.
 */
export function decodeSubmission(
  cbor: Uint8Array,
  maxTxSize: number,
): Result<DecodedSubmission, UndecodableSubmission> {
  if (cbor.length > MAX_SIZE_FACTOR * maxTxSize) {
    return fail("undecodable", `The transaction has ${cbor.length} bytes; the maximum size is ${maxTxSize}.`);
  }
  try {
    const transaction = scanTransaction(cbor);
    return ok({ transaction, runsScripts: entry(decodeAll(transaction.witnesses), 5) !== undefined });
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `The bytes are not a transaction: ${error.message}.`);
  }
}

/** The transaction is in the mempool now. */
export const accepted = ok({ outcome: "accepted" } as const);

/** The transaction could not be stored. */
export function unavailable(): { ok: false; error: SubmissionUnavailable } {
  return fail("devnet_unavailable", "The devnet could not store the data; try again.");
}
