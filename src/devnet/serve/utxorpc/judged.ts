/** Transactions as predicates look at them. */
import { certified, created, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { noAssets } from "#src/cardano/value.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import type { JudgedTransaction } from "#src/devnet/serve/utxorpc/patterns.ts";

/** The outputs that a transaction of the mempool spends, by reference. Those that it only refers to are not among them. */
export function pendingOutputs({ applied }: PendingTransaction): ReadonlyMap<string, Output> {
  return new Map(applied.spent.map(({ ref, output }) => [refKey(ref), output]));
}

/** What a transaction does: one that failed in phase 2 only takes and returns collateral. */
export function judged(transaction: ScannedTransaction, resolved: ReadonlyMap<string, Output>): JudgedTransaction {
  return {
    consumed: spent(transaction).flatMap((ref) => resolved.get(refKey(ref)) ?? []),
    produced: created(transaction).map(({ output }) => output),
    mint: transaction.valid ? transaction.mint : noAssets,
    certificates: certified(transaction),
  };
}
