/** A transaction of a network's mempool, as far as wallets need it. */
import { CborError } from "#src/cardano/cbor.ts";
import { created, type ScannedTransaction, spent, withdrawn } from "#src/cardano/block.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";

/** A transaction that no block holds yet. */
export interface MempoolTransaction {
  readonly hash: string;
  /** What it spends: its inputs, or its collateral where its script fails. */
  readonly inputs: readonly OutRef[];
  /** What it creates. */
  readonly outputs: readonly { readonly ref: OutRef; readonly output: Pick<Output, "address" | "value"> }[];
  /** Lovelace by reward account (bytes in hexadecimal). */
  readonly withdrawals: ReadonlyMap<string, bigint>;
  /** First slot in which it is no longer valid. */
  readonly validTo: number | undefined;
}

/** The transaction of scanned bytes. @throws {CborError} for a member that cannot be decoded. */
export function mempoolTransaction(transaction: ScannedTransaction): MempoolTransaction {
  return {
    hash: transaction.hash,
    inputs: spent(transaction),
    outputs: created(transaction).map(({ ref, output: { address, value } }) => ({ ref, output: { address, value } })),
    withdrawals: withdrawn(transaction),
    validTo: transaction.validTo,
  };
}

/** The transaction of its CBOR; undefined where this release cannot read it. */
export function readMempoolTransaction(cbor: Uint8Array): MempoolTransaction | undefined {
  try {
    return mempoolTransaction(scanTransaction(cbor));
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}
