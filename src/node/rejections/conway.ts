/**
 * Failures of the Conway era on the wire, by rule: LEDGER; below it UTXOW, CERTS and GOV; below those UTXO, UTXOS,
 * DELEG, POOL and GOVCERT.
 */
import { governanceFailures } from "#src/node/rejections/governance.ts";
import type { FailureCodec } from "#src/node/rejections/failureCodec.ts";
import { transactionFailures } from "#src/node/rejections/transaction.ts";

/**
 * Every failure of Conway. A leaf only encodes failures of its own name; the type does not say so, but `byName` selects
 * it by name.
 */
export const failureCodecs = [...transactionFailures, ...governanceFailures] as unknown as readonly FailureCodec[];
