/** A transaction on its way into the mempool: what can be said of it without the ledger, and why nothing may be said. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError, decodeAll, entry } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";

/** Why nothing can be said of a submission now; trying again may serve. */
export type NotNow = Failure<"mempool_full" | "devnet_unavailable">;
export type Undecodable = Failure<"undecodable">;

/** How many times longer than the rules allow a transaction may be to be read, and refused for its length. */
const TIMES = 8;

/** A transaction, and whether it has redeemers. */
export interface Submitted {
  readonly transaction: ScannedTransaction;
  readonly runsScripts: boolean;
}

/** Reads a transaction's bytes. `maxTxSize`: bytes that the rules allow; many times more are not read, for that takes long. */
export function readSubmitted(cbor: Uint8Array, maxTxSize: number): Result<Submitted, Undecodable> {
  if (cbor.length > TIMES * maxTxSize) {
    return fail("undecodable", `These are ${cbor.length} bytes; a transaction has ${maxTxSize} at the most.`);
  }
  try {
    const transaction = scanTransaction(cbor);
    return ok({ transaction, runsScripts: entry(decodeAll(transaction.witnesses), 5) !== undefined });
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `These bytes are no transaction: ${error.message}.`);
  }
}

/** It stands in the mempool, or in the ledger already. */
export const accepted = ok({ outcome: "accepted" } as const);

/** It could not be written down. */
export function unavailable(): { ok: false; error: NotNow } {
  return fail("devnet_unavailable", "The devnet could not write this down; try again.");
}
