/** What a block says, in the form that projections read. Scanners for raw blocks give it (`scan.ts`). */
import type { Certificate } from "#src/cardano/certificates.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import type { Assets, Value } from "#src/cardano/value.ts";

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

/**
 * A transaction of a block, its ids in hexadecimal.
 *
 * Members are decoded on first use, so unused ones cost nothing. A member may therefore throw `CborError` (which no block
 * that a ledger accepted does). Copy it member by member: spreading or cloning omits the members.
 */
export interface ScannedTransaction {
  readonly hash: string;
  /** Place in its block, from 0. */
  readonly index: number;
  /** False when phase 2 failed: then it did nothing but what `spent` and `created` say. */
  readonly valid: boolean;
  /** In the order of the body, each once. */
  readonly inputs: readonly OutRef[];
  /** What is spent instead of the inputs when phase 2 fails. */
  readonly collateral: readonly OutRef[];
  /** Inputs that are looked at and not spent. */
  readonly references: readonly OutRef[];
  readonly outputs: readonly Output[];
  /** What is created instead of the outputs when phase 2 fails. */
  readonly collateralReturn?: Output | undefined;
  /** Lovelace that is paid when phase 2 fails, where the body states it. */
  readonly totalCollateral?: bigint | undefined;
  /** Lovelace, as the body states it; undefined in Byron, where it is what the inputs hold more than the outputs (`paidFee`). */
  readonly fee?: bigint | undefined;
  readonly mint: Assets;
  /** First slot in which it is valid. */
  readonly validFrom?: number | undefined;
  /** First slot in which it is no longer valid; at most 2^53 - 1. */
  readonly validTo?: number | undefined;
  /** In the order of the body; `certified` gives those that count. */
  readonly certificates: readonly Certificate[];
  /** Lovelace by reward account (bytes in hexadecimal); `withdrawn` gives those that count. */
  readonly withdrawals: ReadonlyMap<string, bigint>;
  /** Whether it proposes governance actions or votes on some; a reader of bodies says which. */
  readonly governs?: boolean;
  /** Deposits of the governance actions that it proposes, in lovelace; undefined: none. `proposed` gives those that count. */
  readonly proposals?: readonly bigint[];
  /** Lovelace that it gives to the treasury. */
  readonly donation?: bigint | undefined;
  /** Key hashes whose signatures scripts ask for. */
  readonly requiredSigners: readonly string[];
  /** Bytes of the body, of which `hash` is the hash. */
  readonly body: Uint8Array;
  /** Bytes of the witness set; in Byron of the list of witnesses. */
  readonly witnesses: Uint8Array;
  /** Bytes of the auxiliary data, which `readAuxiliaryData` takes apart. */
  readonly auxiliaryData?: Uint8Array | undefined;
}

/** A block, scanned. */
export interface ScannedBlock extends Tip {
  /** Hash of the block before, or undefined for the first one. Byron's first block has the hash of the genesis here. */
  readonly previous?: string;
  /** Era tag as in `[era, block]` on the node's socket: 0 is an epoch boundary block of Byron, 1 Byron, 2 Shelley … 7 Conway. */
  readonly era: number;
  /** Bytes of the whole block. */
  readonly size: number;
  /** Issuer's cold key, in hexadecimal; in Byron the genesis key that the block counts for; a boundary block has none. */
  readonly issuer?: string;
  /** Bytes of the header; none where a provider does not tell them. */
  readonly header: Uint8Array;
  readonly transactions: readonly ScannedTransaction[];
}

/** What a transaction creates: its outputs, or the collateral return (index after the last output) when phase 2 failed. */
export function created(transaction: ScannedTransaction): { ref: OutRef; output: Output }[] {
  const { hash, valid, outputs } = transaction;
  if (valid) return outputs.map((output, index) => ({ ref: { txHash: hash, index }, output }));
  const { collateralReturn } = transaction;
  return collateralReturn ? [{ ref: { txHash: hash, index: outputs.length }, output: collateralReturn }] : [];
}

/** What a transaction spends: its inputs, or its collateral when phase 2 failed. */
export function spent(transaction: ScannedTransaction): readonly OutRef[] {
  return transaction.valid ? transaction.inputs : transaction.collateral;
}

/** Certificates that take effect: none when phase 2 failed. */
export function certified(transaction: ScannedTransaction): readonly Certificate[] {
  return transaction.valid ? transaction.certificates : [];
}

/** Deposits of proposals that are made: none when phase 2 failed. */
export function proposed(transaction: ScannedTransaction): readonly bigint[] {
  return transaction.valid ? transaction.proposals ?? [] : [];
}

/** Withdrawals that take place: none when phase 2 failed. */
export function withdrawn(transaction: ScannedTransaction): ReadonlyMap<string, bigint> {
  return transaction.valid ? transaction.withdrawals : new Map();
}

/**
 * Lovelace that the transaction pays to the pots. In Byron, and when phase 2 failed without a stated total, that follows from what it
 * spends: `values` are those outputs' values, as far as they are known; undefined without them.
 */
export function paidFee(transaction: ScannedTransaction, values?: readonly Value[]): bigint | undefined {
  const { valid, fee } = transaction;
  const stated = valid ? fee : transaction.totalCollateral;
  if (stated !== undefined) return stated;
  if (values === undefined || values.length < spent(transaction).length) return undefined;
  const sum = (of: readonly Value[]) => of.reduce((total, { lovelace }) => total + lovelace, 0n);
  return sum(values) - sum(created(transaction).map(({ output }) => output.value));
}
