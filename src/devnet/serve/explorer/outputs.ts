/** Outputs that a transaction refers to, from wherever the devnet still has them. */
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { created } from "#src/cardano/block.ts";
import { readRecentOutputs } from "#src/devnet/blocks/rows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { readOutputs, readTransactionBytes } from "#src/devnet/index/reads/transactions.ts";
import type { Queries } from "#src/store/store.ts";

/** Outputs by `refKey`, and by which transaction each was spent. */
export interface KnownOutputs {
  readonly outputs: ReadonlyMap<string, Output>;
  readonly spentBy: ReadonlyMap<string, string>;
}

/**
 * Finds outputs: those of the mempool, those of the ledger's rows, and of earlier transactions through the index.
 * References to outputs that never were are missing in the answer.
 */
export async function findOutputs(sql: Queries, devnet: Devnet, refs: readonly OutRef[]): Promise<KnownOutputs> {
  const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
  const outputs = new Map<string, Output>();
  const spentBy = new Map<string, string>();
  const missing = () => [...wanted].filter(([key]) => !outputs.has(key)).map(([, ref]) => ref);
  for (const { ref, output } of genesisOutputs(devnet.genesis)) {
    if (wanted.has(refKey(ref))) outputs.set(refKey(ref), output);
  }
  if (missing().length > 0) {
    for (const { ref, output } of await readRecentOutputs(sql, missing())) outputs.set(refKey(ref), output);
  }
  const older = [...new Set(missing().map(({ txHash }) => txHash))];
  for (const cbor of (await readTransactionBytes(sql, older)).values()) {
    for (const { ref, output } of created(scanTransaction(cbor))) {
      if (wanted.has(refKey(ref))) outputs.set(refKey(ref), output);
    }
  }
  for (const { tx_hash: txHash, index, spent_tx: spender } of await readOutputs(sql, [...wanted.values()])) {
    if (spender !== null) spentBy.set(refKey({ txHash, index }), spender);
  }
  for (const { transaction: { hash }, applied } of devnet.mempool()) {
    for (const { ref, output } of applied.created) if (wanted.has(refKey(ref))) outputs.set(refKey(ref), output);
    for (const { ref } of applied.spent) if (wanted.has(refKey(ref))) spentBy.set(refKey(ref), hash);
  }
  return { outputs, spentBy };
}
