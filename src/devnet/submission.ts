/** A transaction on its way into the mempool: what can be said of it without the ledger, and why nothing may be said. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError, decodeAll, entry } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";

/** Why nothing can be said of a submission now; trying again may serve. */
export type NotNow = Failure<"mempool_full" | "devnet_unavailable">;
export type Undecodable = Failure<"undecodable">;

/** Reads a transaction's bytes. */
export function scanSubmitted(cbor: Uint8Array): Result<ScannedTransaction, Undecodable> {
  try {
    return ok(scanTransaction(cbor));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `These bytes are no transaction: ${error.message}.`);
  }
}

/** Whether a transaction has redeemers. */
export function runsScripts({ witnesses }: ScannedTransaction): boolean {
  return entry(decodeAll(witnesses), 5) !== undefined;
}

/** It stands in the mempool, or in the ledger already. */
export const accepted = ok({ outcome: "accepted" } as const);

/** It could not be written down. */
export function unavailable(): { ok: false; error: NotNow } {
  return fail("devnet_unavailable", "The devnet could not write this down; try again.");
}
