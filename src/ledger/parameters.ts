/**
 * Protocol parameters of mainnet, the default of a devnet. Except for the protocol version and the cost models they are those
 * of epoch 616, from the data inlined in scalus 0.17.0.
 */
import type { Parameters } from "#src/cardano/parameters.ts";
import { mainnetCostModels } from "#src/ledger/mainnetCostModels.ts";

/** Major protocol versions of the Conway era. */
export type Major = keyof typeof mainnetCostModels;

/** Mainnet's parameters as of a protocol version. */
export function mainnetParametersAt(major: Major): Parameters {
  return {
    ...SINCE_CHANG,
    protocolVersion: { major, minor: 0 },
    costModels: new Map(mainnetCostModels[major].map((model, language) => [language, model.map(BigInt)])),
  };
}

const SINCE_CHANG: Omit<Parameters, "protocolVersion" | "costModels"> = {
  feePerByte: 44n,
  feeFixed: 155_381n,
  maxTxSize: 16_384,
  maxBlockBodySize: 90_112,
  maxBlockHeaderSize: 1_100,
  maxValueSize: 5_000,
  utxoCostPerByte: 4_310n,
  keyDeposit: 2_000_000n,
  poolDeposit: 500_000_000n,
  drepDeposit: 500_000_000n,
  govActionDeposit: 100_000_000_000n,
  minPoolCost: 170_000_000n,
  poolRetirementBound: 18,
  desiredPools: 500,
  pledgeInfluence: { numerator: 3n, denominator: 10n },
  monetaryExpansion: { numerator: 3n, denominator: 1_000n },
  treasuryGrowth: { numerator: 2n, denominator: 10n },
  collateralPercentage: 150,
  maxCollateralInputs: 3,
  prices: {
    memory: { numerator: 577n, denominator: 10_000n },
    steps: { numerator: 721n, denominator: 10_000_000n },
  },
  maxTxUnits: { memory: 16_500_000n, steps: 10_000_000_000n },
  maxBlockUnits: { memory: 72_000_000n, steps: 20_000_000_000n },
  refScriptCostPerByte: { numerator: 15n, denominator: 1n },
};

/** Today's: mainnet has protocol version 11 since 18 July 2026. */
export const mainnetParameters: Parameters = mainnetParametersAt(11);
