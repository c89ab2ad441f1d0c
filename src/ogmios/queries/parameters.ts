/** Protocol parameters in Ogmios' JSON. */
import { jsonInteger } from "#src/base/json.ts";
import type { Parameters, ProtocolParameters } from "#src/cardano/parameters.ts";
import type { JsonObject, OgmiosVersion } from "#src/ogmios/form.ts";
import {
  costModelsJson,
  drepThresholdsJson,
  poolThresholdsJson,
  referenceScriptsJson,
} from "#src/ogmios/parameters.ts";
import { adaJson, ratioText, sizeJson, unitsJson } from "#src/ogmios/values.ts";

/** Bytes of reference scripts that a transaction and a block may have: constants of the Conway ledger. */
const REFERENCE_SCRIPTS = { transaction: 204_800, block: 1_048_576 };

/** The parameters of a Conway ledger. */
export function protocolParametersJson(parameters: ProtocolParameters, version: OgmiosVersion): JsonObject {
  return {
    ...shelleyParametersJson(parameters),
    minFeeReferenceScripts: { ...referenceScriptsJson(parameters.refScriptCostPerByte) },
    minUtxoDepositCoefficient: jsonInteger(parameters.utxoCostPerByte),
    minUtxoDepositConstant: adaJson(0n),
    ...(version === 6 ? { maxReferenceScriptsSize: sizeJson(REFERENCE_SCRIPTS.transaction) } : {
      maxReferenceScriptsSizePerTransaction: sizeJson(REFERENCE_SCRIPTS.transaction),
      maxReferenceScriptsSizePerBlock: sizeJson(REFERENCE_SCRIPTS.block),
    }),
    ...scriptParametersJson(parameters),
    plutusCostModels: { ...costModelsJson(parameters.costModels) },
    ...governanceParametersJson(parameters),
  };
}

/** The parameters that came with Shelley, as far as Conway has them. */
export function shelleyParametersJson(parameters: Parameters): JsonObject {
  return {
    minFeeCoefficient: jsonInteger(parameters.feePerByte),
    minFeeConstant: adaJson(parameters.feeFixed),
    maxBlockBodySize: sizeJson(parameters.maxBlockBodySize),
    maxBlockHeaderSize: sizeJson(parameters.maxBlockHeaderSize),
    maxTransactionSize: sizeJson(parameters.maxTxSize),
    stakeCredentialDeposit: adaJson(parameters.keyDeposit),
    stakePoolDeposit: adaJson(parameters.poolDeposit),
    stakePoolRetirementEpochBound: parameters.poolRetirementBound,
    desiredNumberOfStakePools: parameters.desiredPools,
    stakePoolPledgeInfluence: ratioText(parameters.pledgeInfluence),
    monetaryExpansion: ratioText(parameters.monetaryExpansion),
    treasuryExpansion: ratioText(parameters.treasuryGrowth),
    minStakePoolCost: adaJson(parameters.minPoolCost),
    version: { major: parameters.protocolVersion.major, minor: parameters.protocolVersion.minor },
  };
}

/** The parameters of scripts, which came with Alonzo, without cost models. */
export function scriptParametersJson(parameters: Parameters): JsonObject {
  return {
    scriptExecutionPrices: {
      memory: ratioText(parameters.prices.memory),
      cpu: ratioText(parameters.prices.steps),
    },
    maxExecutionUnitsPerTransaction: unitsJson(parameters.maxTxUnits),
    maxExecutionUnitsPerBlock: unitsJson(parameters.maxBlockUnits),
    maxValueSize: sizeJson(parameters.maxValueSize),
    collateralPercentage: parameters.collateralPercentage,
    maxCollateralInputs: parameters.maxCollateralInputs,
  };
}

/** The parameters of governance, which came with Conway. */
export function governanceParametersJson(parameters: ProtocolParameters): JsonObject {
  return {
    stakePoolVotingThresholds: { ...poolThresholdsJson(parameters.poolThresholds) },
    delegateRepresentativeVotingThresholds: { ...drepThresholdsJson(parameters.drepThresholds) },
    constitutionalCommitteeMinSize: parameters.committeeMinSize,
    constitutionalCommitteeMaxTermLength: parameters.committeeMaxTerm,
    governanceActionLifetime: parameters.govActionLifetime,
    governanceActionDeposit: adaJson(parameters.govActionDeposit),
    delegateRepresentativeDeposit: adaJson(parameters.drepDeposit),
    delegateRepresentativeMaxIdleTime: parameters.drepActivity,
  };
}
