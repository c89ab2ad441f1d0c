/** The fee that a request offers to the token's owner for applying it. */
import { type FeeParameters, refScriptFee, unitsFee } from "#src/transaction/fee.ts";

/**
 * Size and execution units of a signed update with one request at 10,000 facts, rounded up. Measured: of sixty inserts,
 * updates and deletes, refunded to a base address, the most expensive had 1,384 bytes, 520 thousand memory and 190 million
 * steps. In a batch of 20, each request costs a fifth of that fee.
 */
const ALONE = { bytes: 1_420, units: { memory: 530_000n, steps: 195_000_000n } };

/**
 * Default lovelace that a request offers: the cost of applying it alone, so that an owner never pays for a request.
 * `script` is the contract's code; `travels` means that it is in the witnesses because there is no reference script.
 */
export function offeredFee(parameters: FeeParameters, script: Uint8Array, travels: boolean): bigint {
  const bytes = ALONE.bytes + (travels ? script.length : 0);
  return parameters.feeFixed + parameters.feePerByte * BigInt(bytes) + unitsFee(parameters, ALONE.units) +
    (travels ? 0n : refScriptFee(parameters.refScriptCostPerByte, script.length));
}
