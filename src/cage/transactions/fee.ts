/** What a request offers to the owner of the token for applying it. */
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import { refScriptFee, unitsFee } from "#src/balance/fee.ts";

/** TODO */
const ALONE: { bytes: bigint; units: Units; script: number } = {
  bytes: 1500n,
  units: { memory: 500_000n, steps: 150_000_000n },
  script: 3000,
};

/** Lovelace */
export function offeredFee(parameters: Parameters): bigint {
  return parameters.feeFixed + parameters.feePerByte * ALONE.bytes + unitsFee(parameters, ALONE.units) +
    refScriptFee(parameters.refScriptCostPerByte, ALONE.script);
}
