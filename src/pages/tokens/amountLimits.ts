/** Limits on the amounts of a transaction that the reader did not type. */

/** Lovelace that a request may lock: a base amount, and for each byte more than the ledger requires. */
export const mostLocked = (...values: readonly Uint8Array[]): bigint =>
  values.reduce((sum, { length }) => sum + 5_000n * BigInt(length), 10_000_000n);
