/**
 * Protocol parameters of mainnet at epoch 616, as the data inlined in scalus 0.17.0 has them: protocol version 10 and the
 * parameters that a devnet takes unless it is told otherwise.
 */
import type { Parameters } from "#src/cardano/parameters.ts";
import { mainnetCostModels } from "#src/ledger/mainnetCostModels.ts";

/** Today's mainnet parameters (epoch 616, source above). */
export const mainnetParameters: Parameters = {
  protocolVersion: { major: 10, minor: 0 },
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
  costModels: new Map(mainnetCostModels.map((model, language) => [language, model.map(BigInt)])),
};
