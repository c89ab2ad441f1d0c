/**
 * Failures of the Conway era on the wire, by rule: LEDGER, then UTXOW, CERTS and GOV below it, UTXO, UTXOS, DELEG, POOL and GOVCERT
 * below those.
 */
import { governanceLeaves } from "#src/node/rejections/governance.ts";
import type { Leaf } from "#src/node/rejections/leaf.ts";
import { transactionLeaves } from "#src/node/rejections/transaction.ts";

/** Every failure of Conway. A leaf writes failures of its own name alone, which this type does not say: `byName` picks it so. */
export const leaves = [...transactionLeaves, ...governanceLeaves] as unknown as readonly Leaf[];
