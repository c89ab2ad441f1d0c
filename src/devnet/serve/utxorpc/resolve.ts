/** Finds the outputs that transactions spend or refer to. */
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readRecentOutputs } from "#src/devnet/blocks/rows.ts";
import { readTransactionBytes } from "#src/devnet/index/reads/transactions.ts";
import type { Queries } from "#src/store/store.ts";

/**
 * Outputs behind inputs, collateral and reference inputs: from the unspent and the lately spent ones, else from the
 * transactions that created them, which need the index of the chain. Outputs of the genesis that were spent long ago are missing.
 */
export async function resolveInputs(
  sql: Queries,
  transactions: readonly ScannedTransaction[],
  indexed: boolean,
): Promise<ReadonlyMap<string, Output>> {
  const wanted = new Map<string, OutRef>();
  for (const { inputs, collateral, references } of transactions) {
    for (const ref of [...inputs, ...collateral, ...references]) wanted.set(refKey(ref), ref);
  }
  const found = new Map<string, Output>();
  if (wanted.size === 0) return found;
  for (const { ref, output } of await readRecentOutputs(sql, [...wanted.values()])) found.set(refKey(ref), output);
  // outputs of one block may be spent in it
  for (const transaction of transactions) add(found, wanted, transaction);
  const missing = [...wanted.values()].filter((ref) => !found.has(refKey(ref)));
  if (missing.length === 0 || !indexed) return found;
  const creators = await readTransactionBytes(sql, [...new Set(missing.map(({ txHash }) => txHash))]);
  for (const bytes of creators.values()) add(found, wanted, scanTransaction(bytes));
  return found;
}

function add(
  found: Map<string, Output>,
  wanted: ReadonlyMap<string, OutRef>,
  transaction: ScannedTransaction,
): void {
  for (const { ref, output } of created(transaction)) {
    const key = refKey(ref);
    if (wanted.has(key)) found.set(key, output);
  }
}
