/** Collateral: inputs that are forfeited where a script fails on the chain although its evaluation succeeded. */
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { sumValues, type Value } from "#src/cardano/value.ts";
import { neededLovelace, valueSize } from "#src/transaction/output.ts";

/** Collateral of a transaction: `total` is at risk, the rest is returned. */
export interface Collateral {
  readonly inputs: readonly Utxo[];
  /** Lovelace. */
  readonly total: bigint;
  readonly return?: NewOutput;
}

type CollateralParameters = Pick<
  Parameters,
  "collateralPercentage" | "maxCollateralInputs" | "utxoCostPerByte" | "maxValueSize"
>;

/** Collateral that a fee needs, in lovelace. */
export function neededCollateral(
  { collateralPercentage }: Pick<Parameters, "collateralPercentage">,
  fee: bigint,
): bigint {
  return (fee * BigInt(collateralPercentage) + 99n) / 100n;
}

/**
 * Chooses collateral for a fee from outputs of payment keys, in the order in which they are preferred; the excess
 * returns to `address`. Uses one output where one suffices, without assets where possible. Gives the missing lovelace
 * where there is not enough.
 */
export function chooseCollateral(
  parameters: CollateralParameters,
  preferred: readonly Utxo[],
  address: string,
  fee: bigint,
): Collateral | { readonly missing: bigint } {
  const needed = neededCollateral(parameters, fee);
  const plain = preferred.filter(({ output }) => output.value.assets.size === 0);
  for (const candidates of [plain, preferred]) {
    for (const utxo of candidates) {
      if (utxo.output.value.lovelace < needed) continue;
      const alone = collateralOf(parameters, [utxo], address, needed);
      if (alone) return alone;
    }
    const largest = [...candidates].sort((a, b) => Number(b.output.value.lovelace - a.output.value.lovelace));
    for (let count = 2; count <= Math.min(parameters.maxCollateralInputs, largest.length); count++) {
      const several = collateralOf(parameters, largest.slice(0, count), address, needed);
      if (several) return several;
    }
  }
  const most = sumValues(
    [...preferred].sort((a, b) => Number(b.output.value.lovelace - a.output.value.lovelace))
      .slice(0, parameters.maxCollateralInputs).map(({ output }) => output.value),
  );
  const short = needed + (most.assets.size > 0 ? returned(parameters, address, most, 0n).least : 0n) - most.lovelace;
  return { missing: short > 0n ? short : 1n };
}

/**
 * Exactly these outputs as collateral for a fee, or undefined where they are none, too many or too little. An output that is
 * spent and is collateral needs no one to vouch for its value: the ledger checks it against the stated total.
 */
export function exactCollateral(
  parameters: CollateralParameters,
  inputs: readonly Utxo[],
  address: string,
  fee: bigint,
): Collateral | undefined {
  if (inputs.length === 0 || inputs.length > parameters.maxCollateralInputs) return undefined;
  return collateralOf(parameters, inputs, address, neededCollateral(parameters, fee));
}

/** The same collateral for a lower fee: more is returned, where there is a return output. */
export function lowered(
  parameters: Pick<Parameters, "collateralPercentage">,
  collateral: Collateral,
  fee: bigint,
): Collateral {
  if (!collateral.return) return collateral;
  const total = neededCollateral(parameters, fee);
  const { address, value } = collateral.return;
  const more = { ...value, lovelace: value.lovelace + collateral.total - total };
  return { inputs: collateral.inputs, total, return: { address, value: more } };
}

function returned(parameters: CollateralParameters, address: string, value: Value, total: bigint) {
  const output = { address, value: { ...value, lovelace: value.lovelace - total } };
  return { output, least: neededLovelace(parameters, output) };
}

function collateralOf(
  parameters: CollateralParameters,
  inputs: readonly Utxo[],
  address: string,
  needed: bigint,
): Collateral | undefined {
  const sum = sumValues(inputs.map(({ output }) => output.value));
  if (sum.lovelace < needed) return undefined;
  const { output, least } = returned(parameters, address, sum, needed);
  if (output.value.lovelace >= least && valueSize(output.value) <= parameters.maxValueSize) {
    return { inputs, total: needed, return: output };
  }
  // An excess that is too small for an output stays at risk; assets must not.
  return sum.assets.size === 0 ? { inputs, total: sum.lovelace } : undefined;
}
