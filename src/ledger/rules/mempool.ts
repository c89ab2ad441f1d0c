/** Rule MEMPOOL: what is checked of a transaction when it is submitted, and not when a block holds it. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Inputs } from "#src/ledger/inputs.ts";

const ALL_SPENT = "All inputs are spent. Transaction has probably already been included";

/**
 * Checks that one of the inputs is unspent. If none is, the transaction is in a block or in the mempool, or another one with
 * its inputs is; the ledger does not compare hashes, and checks no other rule.
 */
export function checkSubmission({ found }: Inputs): LedgerFailure[] {
  return found.length > 0 ? [] : [{ name: "ConwayMempoolFailure", message: ALL_SPENT }];
}
