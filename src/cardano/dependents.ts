/** Transactions that depend on outputs of each other. */
import type { ScannedTransaction } from "#src/cardano/block.ts";

/** A transaction, and the hashes of those whose outputs it needs. */
export interface Dependent {
  readonly hash: string;
  readonly parents: readonly string[];
}

/** The hashes of the transactions whose outputs a transaction needs, each once. */
export function parentsOf(
  { inputs, collateral, references }: Pick<ScannedTransaction, "inputs" | "collateral" | "references">,
): readonly string[] {
  return [...new Set([...inputs, ...collateral, ...references].map(({ txHash }) => txHash))];
}

/** The hashes in `lost`, and of all transactions that depend on one of them, directly or through others. */
export function withDependents(transactions: readonly Dependent[], lost: Iterable<string>): ReadonlySet<string> {
  const children = new Map<string, string[]>();
  for (const { hash, parents } of transactions) {
    for (const parent of parents) children.set(parent, [...children.get(parent) ?? [], hash]);
  }
  // a set's iteration includes what is added meanwhile
  const all = new Set(lost);
  for (const hash of all) for (const child of children.get(hash) ?? []) all.add(child);
  return all;
}
