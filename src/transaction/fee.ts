/** The least fee of a transaction (ledger: `getConwayMinFeeTx`). */
import type { Parameters, Ratio, Units } from "#src/cardano/parameters.ts";

/** Parameters that decide on fees. */
export type FeeParameters = Pick<Parameters, "feePerByte" | "feeFixed" | "prices" | "refScriptCostPerByte">;

/** The figures that a fee depends on. */
interface FeeBasis {
  /**
   * Bytes of the transaction as the ledger counts them: without the validity flag, one byte less than what is submitted
   * (see `ledgerSize`).
   */
  readonly size: number;
  /** Sum of the units in the redeemers. */
  readonly units?: Units | undefined;
  /** Bytes of the reference scripts of inputs and reference inputs; a script counts for each input. */
  readonly refScriptBytes?: number | undefined;
}

/** Bytes of reference scripts at one price; each further tier costs 1.2 times as much per byte. */
const TIER_BYTES = 25_600n;

/** Size of a transaction as the ledger counts it: without the validity flag, which is one byte. */
export function ledgerSize(transactionBytes: number): number {
  return transactionBytes - 1;
}

/** Least fee, in lovelace. */
export function minFee(parameters: FeeParameters, basis: FeeBasis): bigint {
  return parameters.feePerByte * BigInt(basis.size) + parameters.feeFixed +
    (basis.units ? unitsFee(parameters, basis.units) : 0n) +
    refScriptFee(parameters.refScriptCostPerByte, basis.refScriptBytes ?? 0);
}

/** Price of execution units, rounded up once, in lovelace. */
export function unitsFee({ prices }: Pick<Parameters, "prices">, units: Units): bigint {
  const { memory, steps } = prices;
  const denominator = memory.denominator * steps.denominator;
  const numerator = units.memory * memory.numerator * steps.denominator +
    units.steps * steps.numerator * memory.denominator;
  return (numerator + denominator - 1n) / denominator;
}

/** Price of reference scripts, rounded down once, in lovelace (ledger: `tierRefScriptFee`). */
export function refScriptFee(costPerByte: Ratio, bytes: number): bigint {
  let left = BigInt(bytes);
  let price = costPerByte.numerator;
  let scale = costPerByte.denominator;
  let total = 0n; // in units of 1/scale
  while (left >= TIER_BYTES) {
    total = (total + TIER_BYTES * price) * 5n;
    price *= 6n;
    scale *= 5n;
    left -= TIER_BYTES;
  }
  return (total + left * price) / scale;
}
