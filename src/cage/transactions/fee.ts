/** What a request offers to the owner of the token for applying it. */
import { type FeeParameters, refScriptFee, unitsFee } from "#src/transaction/fee.ts";

/**
 * What an update of a single request takes at 10,000 facts, signed, rounded up: of sixty inserts, updates and deletes, refunded to a base
 * address, the dearest had 1,384 bytes, 520 thousand memory and 190 million steps. In a batch of 20 each takes a fifth of that fee.
 */
const ALONE = { bytes: 1_420, units: { memory: 530_000n, steps: 195_000_000n } };

/**
 * Lovelace that a request offers unless told otherwise: what it costs to apply it alone, so that no owner pays for a request.
 * `script` is the contract's code, `travels` whether it is in each transaction for want of a reference script.
 */
export function offeredFee(parameters: FeeParameters, script: Uint8Array, travels: boolean): bigint {
  const bytes = ALONE.bytes + (travels ? script.length : 0);
  return parameters.feeFixed + parameters.feePerByte * BigInt(bytes) + unitsFee(parameters, ALONE.units) +
    (travels ? 0n : refScriptFee(parameters.refScriptCostPerByte, script.length));
}
