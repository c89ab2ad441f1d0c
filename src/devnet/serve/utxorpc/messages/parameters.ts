/** Messages of protocol parameters: all of them, and those that an action changes. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import type { ProtocolParameters, Ratio } from "#src/cardano/parameters.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { ratioMessage, unitsMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import { changesOf } from "#src/ledger/governance/parameters.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

type ParametersMessage = Draft<cardano.PParams>;
type Write = (value: ParameterValue, form: Form) => ParametersMessage;

/** All parameters. */
export function parametersMessage(parameters: ProtocolParameters, form: Form): ParametersMessage {
  const { protocolVersion, ...others } = parameters;
  const names = Object.keys(others) as (keyof typeof others)[];
  return { ...changesMessage(changesOf(parameters, names), form), protocolVersion };
}

/** The parameters that an action changes. */
export function changesMessage(changes: ParameterChanges, form: Form): ParametersMessage {
  return Object.assign({}, ...[...changes].map(([number, value]) => WRITERS[number]?.(value, form) ?? {}));
}

/** By the number of the parameter in the grammar. */
const WRITERS: Readonly<Record<number, Write>> = {
  0: (value, { quantity }) => ({ minFeeCoefficient: quantity(int(value)) }),
  1: (value, { quantity }) => ({ minFeeConstant: quantity(int(value)) }),
  2: (value) => ({ maxBlockBodySize: int(value) }),
  3: (value) => ({ maxTxSize: int(value) }),
  4: (value) => ({ maxBlockHeaderSize: int(value) }),
  5: (value, { quantity }) => ({ stakeKeyDeposit: quantity(int(value)) }),
  6: (value, { quantity }) => ({ poolDeposit: quantity(int(value)) }),
  7: (value) => ({ poolRetirementEpochBound: int(value) }),
  8: (value) => ({ desiredNumberOfPools: int(value) }),
  9: (value) => ({ poolInfluence: ratio(value) }),
  10: (value) => ({ monetaryExpansion: ratio(value) }),
  11: (value) => ({ treasuryExpansion: ratio(value) }),
  16: (value, { quantity }) => ({ minPoolCost: quantity(int(value)) }),
  17: (value, { quantity }) => ({ coinsPerUtxoByte: quantity(int(value)) }),
  18: (value) => ({ costModels: costModels(value) }),
  19: (value) => {
    const [memory, steps] = list(value).map(ratio);
    return { prices: { ...(memory ? { memory } : {}), ...(steps ? { steps } : {}) } };
  },
  20: (value) => ({ maxExecutionUnitsPerTransaction: units(value) }),
  21: (value) => ({ maxExecutionUnitsPerBlock: units(value) }),
  22: (value) => ({ maxValueSize: int(value) }),
  23: (value) => ({ collateralPercentage: int(value) }),
  24: (value) => ({ maxCollateralInputs: int(value) }),
  25: (value) => ({ poolVotingThresholds: { thresholds: list(value).map(ratio) } }),
  26: (value) => ({ drepVotingThresholds: { thresholds: list(value).map(ratio) } }),
  27: (value) => ({ minCommitteeSize: Number(int(value)) }),
  28: (value) => ({ committeeTermLimit: int(value) }),
  29: (value) => ({ governanceActionValidityPeriod: int(value) }),
  30: (value, { quantity }) => ({ governanceActionDeposit: quantity(int(value)) }),
  31: (value, { quantity }) => ({ drepDeposit: quantity(int(value)) }),
  32: (value) => ({ drepInactivityPeriod: int(value) }),
  33: (value) => ({ minFeeScriptRefCostPerByte: ratio(value) }),
};

function int(value: ParameterValue | undefined): bigint {
  if (typeof value !== "bigint") throw new TypeError("a parameter is no integer");
  return value;
}

function list(value: ParameterValue): readonly ParameterValue[] {
  if (!isList(value)) throw new TypeError("a parameter is no list");
  return value;
}

function isList(value: ParameterValue): value is readonly ParameterValue[] {
  return Array.isArray(value);
}

function ratio(value: ParameterValue): Draft<cardano.RationalNumber> {
  if (!isRatio(value)) throw new TypeError("a parameter is no fraction");
  return ratioMessage(value);
}

function isRatio(value: ParameterValue): value is Ratio {
  return typeof value === "object" && "numerator" in value;
}

function units(value: ParameterValue): Draft<cardano.ExUnits> {
  const [memory, steps] = list(value);
  return unitsMessage({ memory: int(memory), steps: int(steps) });
}

function costModels(value: ParameterValue): Draft<cardano.CostModels> {
  if (!(value instanceof Map)) throw new TypeError("cost models are no map");
  return costModelsMessage(new Map([...value].map(([language, model]) => [Number(language), model])));
}

/** Cost models by language: 0 Plutus V1, 1 V2, 2 V3. */
export function costModelsMessage(
  models: ReadonlyMap<number, readonly bigint[]>,
): Draft<cardano.CostModels> {
  const names = ["plutusV1", "plutusV2", "plutusV3"] as const;
  const known = names.flatMap((name, language) => {
    const values = models.get(language);
    return values ? [[name, { values: [...values] }] as const] : [];
  });
  return Object.fromEntries(known);
}
