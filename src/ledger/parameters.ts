/**
 * Protocol parameters of mainnet, the default of a devnet. Except for the protocol version and the cost models they are those
 * of epoch 616, from the data inlined in scalus 0.17.0.
 */
import type { Parameters } from "#src/cardano/parameters.ts";
import costModels from "./mainnetCostModels.json" with { type: "json" };

/** Major protocol versions of the Conway era. */
export const MAJORS = [9, 10, 11] as const;
export type Major = typeof MAJORS[number];

/** Entries of Plutus V3 before protocol version 10 came with builtins of its own. */
const V3_OF_CHANG = 251;

/**
 * Cost models of mainnet: by language (0 Plutus V1, 1 V2, 2 V3), in the order of the ledger's parameters. "plomin" are
 * those of epoch 616, as scalus 0.17.0 carries them; "vanRossem" those of version 11, enacted on 18 June 2026
 * (IntersectMBO/governance-actions, mainnet/2026-05-12-ppu-plutus), with a price of every builtin in every language.
 */
function costModelsAt(major: Major): readonly (readonly number[])[] {
  if (major === 11) return costModels.vanRossem;
  const { plomin } = costModels;
  return major === 10 ? plomin : plomin.map((model, language) => language === 2 ? model.slice(0, V3_OF_CHANG) : model);
}

/** Mainnet's parameters as of a protocol version. */
export function mainnetParametersAt(major: Major): Parameters {
  return {
    ...SINCE_CHANG,
    protocolVersion: { major, minor: 0 },
    costModels: new Map(costModelsAt(major).map((model, language) => [language, model.map(BigInt)])),
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
