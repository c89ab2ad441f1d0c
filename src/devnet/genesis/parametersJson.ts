/**
 * Protocol parameters as JSON, as the devnet stores and shows them. Amounts are JSON numbers, cost models go by name.
 */
import type { Json } from "#src/base/json.ts";
import type { Parameters, Ratio, Units } from "#src/cardano/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";

type RewardParameters = Pick<
  Parameters,
  "desiredPools" | "pledgeInfluence" | "monetaryExpansion" | "treasuryGrowth"
>;

/** A type as read from JSON: a small `bigint` has become a `number`. */
type InJson<T> = T extends bigint ? number | bigint : T extends object ? { readonly [K in keyof T]: InJson<T[K]> } : T;

/** Names of Plutus languages, by their numbers in cost models. */
export const LANGUAGES = ["PlutusV1", "PlutusV2", "PlutusV3"];

/** The JSON of parameters, to be written with `toJson`. */
export function parametersToJson(parameters: Parameters): Json {
  const models = [...parameters.costModels].map(([language, costs]) => [LANGUAGES[language]!, [...costs]] as const);
  return { ...parameters, costModels: Object.fromEntries(models) } as unknown as Json;
}

/** Parameters of rewards. JSON from before there were rewards lacks them; mainnet's apply. */
function rewardParameters(of: Partial<InJson<Omit<Parameters, "costModels">>>): RewardParameters {
  const ratio = (value: InJson<Ratio> | undefined, otherwise: Ratio): Ratio =>
    value ? { numerator: BigInt(value.numerator), denominator: BigInt(value.denominator) } : otherwise;
  return {
    desiredPools: of.desiredPools ?? mainnetParameters.desiredPools,
    pledgeInfluence: ratio(of.pledgeInfluence, mainnetParameters.pledgeInfluence),
    monetaryExpansion: ratio(of.monetaryExpansion, mainnetParameters.monetaryExpansion),
    treasuryGrowth: ratio(of.treasuryGrowth, mainnetParameters.treasuryGrowth),
  };
}

/** Decodes the JSON of `parametersToJson`. */
export function parametersFromJson(json: Json): Parameters {
  const of = json as unknown as InJson<Omit<Parameters, "costModels">> & {
    readonly costModels: { readonly [language: string]: readonly (number | bigint)[] };
  };
  const big = (value: number | bigint) => BigInt(value);
  const ratio = (value: InJson<Ratio>): Ratio => ({
    numerator: big(value.numerator),
    denominator: big(value.denominator),
  });
  const units = (value: InJson<Units>): Units => ({ memory: big(value.memory), steps: big(value.steps) });
  return {
    protocolVersion: of.protocolVersion,
    feePerByte: big(of.feePerByte),
    feeFixed: big(of.feeFixed),
    maxTxSize: of.maxTxSize,
    maxBlockBodySize: of.maxBlockBodySize,
    maxBlockHeaderSize: of.maxBlockHeaderSize,
    maxValueSize: of.maxValueSize,
    utxoCostPerByte: big(of.utxoCostPerByte),
    keyDeposit: big(of.keyDeposit),
    poolDeposit: big(of.poolDeposit),
    drepDeposit: big(of.drepDeposit),
    govActionDeposit: big(of.govActionDeposit),
    minPoolCost: big(of.minPoolCost),
    poolRetirementBound: of.poolRetirementBound,
    ...rewardParameters(of),
    collateralPercentage: of.collateralPercentage,
    maxCollateralInputs: of.maxCollateralInputs,
    prices: { memory: ratio(of.prices.memory), steps: ratio(of.prices.steps) },
    maxTxUnits: units(of.maxTxUnits),
    maxBlockUnits: units(of.maxBlockUnits),
    refScriptCostPerByte: ratio(of.refScriptCostPerByte),
    costModels: new Map(
      Object.entries(of.costModels).map(([name, costs]) => [LANGUAGES.indexOf(name), costs.map(big)]),
    ),
  };
}
