/** What a block says, in the form that projections read. Scanners for raw blocks give it (`scan.ts`). */
import type { Item } from "#src/cardano/cbor.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import type { Assets } from "#src/cardano/value.ts";

/** A place on a chain: a block, by its slot and its hash. */
export interface Point {
  readonly slot: number;
  /** Block hash, 64 hexadecimal digits. */
  readonly hash: string;
}

/** Before the first block. */
export const origin: Point = { slot: -1, hash: "" };

/** The newest block of a chain. */
export interface Tip extends Point {
  readonly height: number;
}

/** Whether two points are the same block. */
export function samePoint(a: Point, b: Point): boolean {
  return a.slot === b.slot && a.hash === b.hash;
}

/** A transaction of a block, its ids in hexadecimal. */
export interface ScannedTransaction {
  readonly hash: string;
  /** Place in its block, from 0. */
  readonly index: number;
  /** False when phase 2 failed: then its collateral was spent and its `collateralReturn` created, nothing else. */
  readonly valid: boolean;
  /** In the order of the body. */
  readonly inputs: readonly OutRef[];
  readonly collateral: readonly OutRef[];
  readonly references: readonly OutRef[];
  readonly outputs: readonly Output[];
  readonly collateralReturn?: Output;
  /** Lovelace. */
  readonly fee: bigint;
  readonly mint: Assets;
  /** First slot in which it is valid. */
  readonly validFrom?: number;
  /** First slot in which it is no longer valid. */
  readonly validTo?: number;
  /** `certificate` items of the body, undecoded. */
  readonly certificates: readonly Item[];
  /** Lovelace by reward account (bytes in hexadecimal). */
  readonly withdrawals: ReadonlyMap<string, bigint>;
  /** Bytes of the body, of which `hash` is the hash. */
  readonly body: Uint8Array;
  readonly witnesses: Uint8Array;
  readonly auxiliaryData?: Uint8Array;
}

/** A block, scanned. */
export interface ScannedBlock extends Tip {
  /** Hash of the block before, or undefined for the first one. */
  readonly previous?: string;
  /** Era tag as in `[era, block]` on the node's socket: 7 is Conway. */
  readonly era: number;
  /** Bytes of the whole block. */
  readonly size: number;
  /** Issuer's cold key, in hexadecimal. */
  readonly issuer?: string;
  readonly transactions: readonly ScannedTransaction[];
}

/** What a transaction creates: its outputs, or the collateral return (index after the last output) when phase 2 failed. */
export function created(transaction: ScannedTransaction): { ref: OutRef; output: Output }[] {
  const { hash, valid, outputs, collateralReturn } = transaction;
  if (valid) return outputs.map((output, index) => ({ ref: { txHash: hash, index }, output }));
  return collateralReturn ? [{ ref: { txHash: hash, index: outputs.length }, output: collateralReturn }] : [];
}

/** What a transaction spends: its inputs, or its collateral when phase 2 failed. */
export function spent(transaction: ScannedTransaction): readonly OutRef[] {
  return transaction.valid ? transaction.inputs : transaction.collateral;
}
