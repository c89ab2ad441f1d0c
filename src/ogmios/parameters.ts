/** Changes of protocol parameters in Ogmios' JSON: what an action of governance or an update before Conway proposes. */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import { elementAt } from "#src/base/present.ts";
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import {
  DREP_THRESHOLDS,
  type DrepThresholds,
  POOL_THRESHOLDS,
  type PoolThresholds,
  type Ratio,
} from "#src/cardano/parameters.ts";
import { major, type Walk } from "#src/cardano/walk.ts";
import {
  amountOf,
  hexOf,
  integerOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
} from "#src/ogmios/form.ts";
import { adaJson, ratioText, readAda, readRatio, readUnits, unitsJson } from "#src/ogmios/values.ts";

/** How the value of a parameter is written and read. */
interface Form {
  readonly json: (value: ParameterValue) => Json;
  readonly read: (json: Json) => ParameterValue;
}

const integer: Form = {
  json: (value) => jsonInteger(value as bigint),
  read: (json) => amountOf(json, "a parameter"),
};
const ada: Form = { json: (value) => adaJson(value as bigint), read: readAda };
const bytes: Form = {
  json: (value) => ({ bytes: jsonInteger(value as bigint) }),
  read: (json) => amountOf(objectOf(json, "a size").bytes, "bytes"),
};
const ratio: Form = { json: (value) => ratioText(value as Ratio), read: readRatio };
const units: Form = {
  json: (value) => {
    const [memory = 0n, steps = 0n] = value as readonly bigint[];
    return unitsJson({ memory, steps });
  },
  read: (json) => {
    const { memory, steps } = readUnits(json);
    return [memory, steps];
  },
};
const prices: Form = {
  json: (value) => {
    const [memory, steps] = value as readonly [Ratio, Ratio];
    return { memory: ratioText(memory), cpu: ratioText(steps) };
  },
  read: (json) => {
    const { memory, cpu } = objectOf(json, "the prices");
    return [readRatio(memory), readRatio(cpu)];
  },
};
const costModels: Form = {
  json: (value) =>
    costModelsJson(
      [...value as ReadonlyMap<bigint, readonly bigint[]>].map(([language, costs]) => [Number(language), costs]),
    ),
  read: (json) => new Map(readCostModels(json).map(([language, costs]) => [BigInt(language), costs])),
};
const nonce: Form = {
  json: (value) => value === 0n ? "neutral" : (value as bigint).toString(16).padStart(64, "0"),
  read: (json) => json === "neutral" ? 0n : BigInt(`0x${hexOf(json, "the nonce", 32)}`),
};
const version: Form = {
  json: (value) => {
    const [major = 0n, minor = 0n] = value as readonly bigint[];
    return { major: jsonInteger(major), minor: jsonInteger(minor) };
  },
  read: (json) => {
    const { major, minor } = objectOf(json, "the version");
    return [amountOf(major, "major"), amountOf(minor, "minor")];
  },
};

const named = <K extends string>(names: readonly K[], values: ParameterValue) =>
  Object.fromEntries(names.map((name, index) => [name, elementAt(values as readonly Ratio[], index)])) as Record<
    K,
    Ratio
  >;

/** Name and form of each parameter, by its number in the grammar. */
const PARAMETERS: ReadonlyMap<number, readonly [name: string, form: Form]> = new Map([
  [0, ["minFeeCoefficient", integer]],
  [1, ["minFeeConstant", ada]],
  [2, ["maxBlockBodySize", bytes]],
  [3, ["maxTransactionSize", bytes]],
  [4, ["maxBlockHeaderSize", bytes]],
  [5, ["stakeCredentialDeposit", ada]],
  [6, ["stakePoolDeposit", ada]],
  [7, ["stakePoolRetirementEpochBound", integer]],
  [8, ["desiredNumberOfStakePools", integer]],
  [9, ["stakePoolPledgeInfluence", ratio]],
  [10, ["monetaryExpansion", ratio]],
  [11, ["treasuryExpansion", ratio]],
  [12, ["federatedBlockProductionRatio", ratio]],
  [13, ["extraEntropy", nonce]],
  [14, ["version", version]],
  [15, ["minUtxoDepositConstant", ada]],
  [16, ["minStakePoolCost", ada]],
  [17, ["minUtxoDepositCoefficient", integer]],
  [18, ["plutusCostModels", costModels]],
  [19, ["scriptExecutionPrices", prices]],
  [20, ["maxExecutionUnitsPerTransaction", units]],
  [21, ["maxExecutionUnitsPerBlock", units]],
  [22, ["maxValueSize", bytes]],
  [23, ["collateralPercentage", integer]],
  [24, ["maxCollateralInputs", integer]],
  [25, ["stakePoolVotingThresholds", {
    json: (value) => poolThresholdsJson(named(POOL_THRESHOLDS, value)),
    read: (json) => Object.values(inOrder(POOL_THRESHOLDS, readPoolThresholds(json))),
  }]],
  [26, ["delegateRepresentativeVotingThresholds", {
    json: (value) => drepThresholdsJson(named(DREP_THRESHOLDS, value)),
    read: (json) => Object.values(inOrder(DREP_THRESHOLDS, readDrepThresholds(json))),
  }]],
  [27, ["constitutionalCommitteeMinSize", integer]],
  [28, ["constitutionalCommitteeMaxTermLength", integer]],
  [29, ["governanceActionLifetime", integer]],
  [30, ["governanceActionDeposit", ada]],
  [31, ["delegateRepresentativeDeposit", ada]],
  [32, ["delegateRepresentativeMaxIdleTime", integer]],
  [33, ["minFeeReferenceScripts", {
    json: (value) => referenceScriptsJson(value as Ratio),
    read: readReferenceScripts,
  }]],
]);

const inOrder = <K extends string>(names: readonly K[], of: Readonly<Record<K, Ratio>>) =>
  Object.fromEntries(names.map((name) => [name, of[name]]));

/** Changes of parameters. */
export function parameterChangesJson(changes: ParameterChanges): JsonObject {
  const json: { [name: string]: Json } = {};
  for (const [number, value] of changes) {
    const parameter = PARAMETERS.get(number);
    if (parameter) json[parameter[0]] = parameter[1].json(value);
  }
  return json;
}

/** The inverse of `parameterChangesJson`. @throws OgmiosFormError */
export function readParameterChangesJson(json: Json | undefined): ParameterChanges {
  const changes = objectOf(json, "the parameters");
  const found = new Map<number, ParameterValue>();
  for (const [number, [name, { read }]] of PARAMETERS) {
    const value = changes[name];
    if (isGiven(value)) found.set(number, read(value));
  }
  return found;
}

/** Cost models by the number of their language: 0 for Plutus V1. */
export function costModelsJson(models: Iterable<readonly [language: number, costs: readonly bigint[]]>): JsonObject {
  return Object.fromEntries(
    [...models].map(([language, costs]) => [`plutus:v${language + 1}`, costs.map(jsonInteger)]),
  );
}

/** The inverse of `costModelsJson`. @throws OgmiosFormError */
export function readCostModels(json: Json | undefined): [language: number, costs: readonly bigint[]][] {
  return Object.entries(objectOf(json, "the cost models")).map(([name, costs]) => {
    const [, language] = /^plutus:v([1-9])$/.exec(name) ?? [];
    if (language === undefined) throw new OgmiosFormError(`${name.slice(0, 40)} is no language of scripts`);
    return [Number(language) - 1, listOf(costs, "costs").map((cost) => integerOf(cost, "a cost"))];
  });
}

/** Shares of the stake of pools that actions need. */
export function poolThresholdsJson(of: PoolThresholds): JsonObject {
  return {
    noConfidence: ratioText(of.noConfidence),
    constitutionalCommittee: {
      default: ratioText(of.committee),
      stateOfNoConfidence: ratioText(of.committeeNoConfidence),
    },
    hardForkInitiation: ratioText(of.hardFork),
    protocolParametersUpdate: { security: ratioText(of.securityParameters) },
  };
}

/** The inverse of `poolThresholdsJson`. @throws OgmiosFormError */
function readPoolThresholds(json: Json | undefined): PoolThresholds {
  const { noConfidence, constitutionalCommittee, hardForkInitiation, protocolParametersUpdate } = objectOf(
    json,
    "the thresholds",
  );
  const committee = objectOf(constitutionalCommittee, "constitutionalCommittee");
  return {
    noConfidence: readRatio(noConfidence),
    committee: readRatio(committee.default),
    committeeNoConfidence: readRatio(committee.stateOfNoConfidence),
    hardFork: readRatio(hardForkInitiation),
    securityParameters: readRatio(objectOf(protocolParametersUpdate, "protocolParametersUpdate").security),
  };
}

/** Shares of the stake of representatives that actions need. */
export function drepThresholdsJson(of: DrepThresholds): JsonObject {
  return {
    noConfidence: ratioText(of.noConfidence),
    constitution: ratioText(of.constitution),
    constitutionalCommittee: {
      default: ratioText(of.committee),
      stateOfNoConfidence: ratioText(of.committeeNoConfidence),
    },
    hardForkInitiation: ratioText(of.hardFork),
    protocolParametersUpdate: {
      network: ratioText(of.networkParameters),
      economic: ratioText(of.economicParameters),
      technical: ratioText(of.technicalParameters),
      governance: ratioText(of.governanceParameters),
    },
    treasuryWithdrawals: ratioText(of.treasuryWithdrawal),
  };
}

/** The inverse of `drepThresholdsJson`. @throws OgmiosFormError */
function readDrepThresholds(json: Json | undefined): DrepThresholds {
  const of = objectOf(json, "the thresholds");
  const committee = objectOf(of.constitutionalCommittee, "constitutionalCommittee");
  const update = objectOf(of.protocolParametersUpdate, "protocolParametersUpdate");
  return {
    noConfidence: readRatio(of.noConfidence),
    committee: readRatio(committee.default),
    committeeNoConfidence: readRatio(committee.stateOfNoConfidence),
    constitution: readRatio(of.constitution),
    hardFork: readRatio(of.hardForkInitiation),
    networkParameters: readRatio(update.network),
    economicParameters: readRatio(update.economic),
    technicalParameters: readRatio(update.technical),
    governanceParameters: readRatio(update.governance),
    treasuryWithdrawal: readRatio(of.treasuryWithdrawals),
  };
}

/** Price of a byte of reference scripts; range and multiplier are constants of the ledger. */
export function referenceScriptsJson({ numerator, denominator }: Ratio): JsonObject {
  return { range: 25_600, base: Number(numerator) / Number(denominator), multiplier: 1.2 };
}

/** The inverse of `referenceScriptsJson`, as exactly as the decimal says. @throws OgmiosFormError */
export function readReferenceScripts(json: Json | undefined): Ratio {
  const { base } = objectOf(json, "minFeeReferenceScripts");
  const [, whole, fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/.exec(String(base)) ?? [];
  if (whole === undefined || typeof base === "string") throw new OgmiosFormError("base is not a number");
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift < 0
    ? { numerator: digits, denominator: 10n ** BigInt(-shift) }
    : { numerator: digits * 10n ** BigInt(shift), denominator: 1n };
}

/**
 * Reads changes of parameters in the form of any era; `readParameterChanges` of Conway's reader takes those of Conway alone. The nonce of
 * extra entropy is its hash as a number, 0 for the neutral one.
 *
 * @throws CborError
 */
export function walkParameterChanges(walk: Walk): ParameterChanges {
  const changes = new Map<number, ParameterValue>();
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    const number = walk.uint();
    changes.set(number, number === 13 ? walkNonce(walk) : walkValue(walk));
  }
  return changes;
}

function walkNonce(walk: Walk): bigint {
  return walk.within("nonce", 1, 2, (length) => {
    walk.skip();
    return length === 1 ? 0n : BigInt(`0x${toHex(walk.bytes())}`);
  });
}

function walkValue(walk: Walk): ParameterValue {
  switch (walk.major) {
    case major.array:
      return walk.each(walk.array(), walkValue);
    case major.map:
      return new Map(walk.each(walk.map(), () => [walk.int(), walk.each(walk.array(), () => walk.int())]));
    case major.tag:
      walk.tag();
      return walk.within("fraction", 2, 2, () => ({ numerator: walk.int(), denominator: walk.int() }));
    default:
      return walk.int();
  }
}
