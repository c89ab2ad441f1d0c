/** Answers of the service as Blaze's values. */
import { Core } from "@blaze-cardano/sdk";
import type { ChainOutput, ChainParameters } from "#src/client/chain.ts";

/** `<hash>-<index>` of an input. */
export function refText(input: Core.TransactionInput): string {
  return `${input.transactionId()}-${input.index()}`;
}

/** An output by its reference (`<hash>-<index>`) and its CBOR. */
export function unspentOutput(
  { outputRef, cbor }: Pick<ChainOutput, "cbor" | "outputRef">,
): Core.TransactionUnspentOutput {
  const input = new Core.TransactionInput(Core.TransactionId(outputRef.slice(0, 64)), BigInt(outputRef.slice(65)));
  return new Core.TransactionUnspentOutput(input, Core.TransactionOutput.fromCbor(Core.HexBlob(cbor)));
}

const LANGUAGES = {
  PlutusV1: Core.PlutusLanguageVersion.V1,
  PlutusV2: Core.PlutusLanguageVersion.V2,
  PlutusV3: Core.PlutusLanguageVersion.V3,
} as const;

/** Growth of the price of reference scripts, and the bytes of a step: constants of the ledger. */
const REFERENCE_SCRIPTS = { multiplier: 1.2, range: 25_600 };

/**
 * Protocol parameters as Blaze has them. Its prices are floating-point numbers. A cost model with an integer past 2^53 is
 * left out: Blaze could not hash it.
 */
export function blazeParameters({ parameters }: ChainParameters): Core.ProtocolParameters {
  const models = parameters.costModels.flatMap(({ language, costs }) => {
    const exact = costs.filter((cost): cost is number => typeof cost === "number");
    return exact.length === costs.length ? [[LANGUAGES[language], exact] as const] : [];
  });
  return {
    coinsPerUtxoByte: Number(parameters.utxoCostPerByte),
    maxTxSize: parameters.maxTxSize,
    minFeeCoefficient: Number(parameters.feePerByte),
    minFeeConstant: Number(parameters.feeFixed),
    maxBlockBodySize: parameters.maxBlockBodySize,
    maxBlockHeaderSize: parameters.maxBlockHeaderSize,
    stakeKeyDeposit: Number(parameters.keyDeposit),
    poolDeposit: Number(parameters.poolDeposit),
    poolRetirementEpochBound: parameters.poolRetirementBound,
    desiredNumberOfPools: parameters.desiredPools,
    poolInfluence: String(quotient(parameters.pledgeInfluence)),
    monetaryExpansion: String(quotient(parameters.monetaryExpansion)),
    treasuryExpansion: String(quotient(parameters.treasuryGrowth)),
    minPoolCost: Number(parameters.minPoolCost),
    protocolVersion: parameters.protocolVersion,
    maxValueSize: parameters.maxValueSize,
    collateralPercentage: parameters.collateralPercentage,
    maxCollateralInputs: parameters.maxCollateralInputs,
    costModels: new Map(models),
    prices: { memory: quotient(parameters.prices.memory), steps: quotient(parameters.prices.steps) },
    maxExecutionUnitsPerTransaction: units(parameters.maxTxUnits),
    maxExecutionUnitsPerBlock: units(parameters.maxBlockUnits),
    minFeeReferenceScripts: { ...REFERENCE_SCRIPTS, base: quotient(parameters.refScriptCostPerByte) },
  };
}

type Integer = number | bigint;

const quotient = ({ numerator, denominator }: { readonly numerator: Integer; readonly denominator: Integer }) =>
  Number(numerator) / Number(denominator);

const units = ({ memory, steps }: { readonly memory: Integer; readonly steps: Integer }) => ({
  memory: Number(memory),
  steps: Number(steps),
});
