/** Limits on the amounts of a request that its requester did not name. */

/**
 * Lovelace that a request with these keys and values may lock: a base amount, and for each byte more than the ledger
 * requires.
 *
 * @example
 * ```ts
 * import { mostLocked } from "./src/client/amountLimits.ts";
 *
 * console.log(mostLocked(new Uint8Array(100))); // 10500000n
 * ```
 */
export const mostLocked = (...values: readonly Uint8Array[]): bigint =>
  values.reduce((sum, { length }) => sum + 5_000n * BigInt(length), 10_000_000n);
