/** Parameters as governance sees them: its own, groups of them, and their change by an enacted action. */
import { mustGet } from "#src/base/maps.ts";
import {
  DREP_THRESHOLDS,
  type Parameters,
  POOL_THRESHOLDS,
  type ProtocolParameters,
  type Ratio,
} from "#src/cardano/parameters.ts";
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";

/** The parameters that only governance uses. */
type GovernanceParameters = Omit<ProtocolParameters, keyof Parameters>;

const percent = (numerator: bigint): Ratio => {
  const common = [50n, 25n, 20n, 10n, 5n, 4n, 2n].find((each) => numerator % each === 0n && 100n % each === 0n) ?? 1n;
  return { numerator: numerator / common, denominator: 100n / common };
};
const [HALF, LOW, HIGH, MOST] = [percent(51n), percent(60n), percent(67n), percent(75n)];

/** Epochs without a vote after which a representative no longer counts. */
export const DREP_ACTIVITY = 20;

/** Mainnet's thresholds and terms, but for the size of the committee: a devnet begins with an empty one. */
const AT_GENESIS: GovernanceParameters = {
  poolThresholds: {
    noConfidence: HALF,
    committee: HALF,
    committeeNoConfidence: HALF,
    hardFork: HALF,
    securityParameters: HALF,
  },
  drepThresholds: {
    noConfidence: HIGH,
    committee: HIGH,
    committeeNoConfidence: LOW,
    constitution: MOST,
    hardFork: LOW,
    networkParameters: HIGH,
    economicParameters: HIGH,
    technicalParameters: HIGH,
    governanceParameters: MOST,
    treasuryWithdrawal: HIGH,
  },
  committeeMinSize: 0,
  committeeMaxTerm: 146,
  govActionLifetime: 6,
  drepActivity: DREP_ACTIVITY,
};

/** All parameters: those of governance are a genesis's until an action changes them. */
export function protocolParameters(parameters: Parameters): ProtocolParameters {
  return { ...AT_GENESIS, ...parameters };
}

/** A group of parameters, by which representatives vote (CIP-1694); pools vote on those that matter for security. */
export type ParameterGroup = "network" | "economic" | "technical" | "governance";

/** How a parameter changes, and who decides: by its number in the grammar (`protocol_param_update`). */
interface ParameterRule {
  readonly group: ParameterGroup;
  readonly security?: boolean;
  readonly change: (parameters: ProtocolParameters, value: ParameterValue) => Partial<ProtocolParameters>;
}

const int = (value: ParameterValue) => {
  if (typeof value === "bigint") return value;
  throw new TypeError("a parameter is no number");
};
const number = (value: ParameterValue) => Number(int(value));
const parts = (value: ParameterValue): readonly ParameterValue[] => {
  if (Array.isArray(value)) return value;
  throw new TypeError("a parameter is no list");
};
const ratio = (value: ParameterValue | undefined): Ratio => {
  if (typeof value === "object" && "numerator" in value) return value;
  throw new TypeError("a parameter is no fraction");
};
const units = (value: ParameterValue) => {
  const [memory = 0n, steps = 0n] = parts(value).map(int);
  return { memory, steps };
};

/** Adds a language's cost model, or replaces it; those of other languages stay. */
function costModels({ costModels: before }: Parameters, value: ParameterValue): Pick<Parameters, "costModels"> {
  if (!(value instanceof Map)) throw new TypeError("a parameter is no map");
  const changed = [...value as ReadonlyMap<bigint, readonly bigint[]>].map(([id, model]) =>
    [Number(id), model] as const
  );
  return { costModels: new Map([...before, ...changed]) };
}

/** The thresholds of a list, by their names in its order. */
function thresholds<Name extends string>(names: readonly Name[], value: ParameterValue): Record<Name, Ratio> {
  const each = parts(value);
  return Object.fromEntries(names.map((name, place) => [name, ratio(each[place])])) as Record<Name, Ratio>;
}

type Change = ParameterRule["change"];
const network = (change: Change, security = false): ParameterRule => ({ group: "network", security, change });
const economic = (change: Change, security = false): ParameterRule => ({ group: "economic", security, change });
const technical = (change: Change): ParameterRule => ({ group: "technical", change });
const governance = (change: Change, security = false): ParameterRule => ({ group: "governance", security, change });

const RULES: ReadonlyMap<number, ParameterRule> = new Map([
  [0, economic((_, value) => ({ feePerByte: int(value) }), true)],
  [1, economic((_, value) => ({ feeFixed: int(value) }), true)],
  [2, network((_, value) => ({ maxBlockBodySize: number(value) }), true)],
  [3, network((_, value) => ({ maxTxSize: number(value) }), true)],
  [4, network((_, value) => ({ maxBlockHeaderSize: number(value) }), true)],
  [5, economic((_, value) => ({ keyDeposit: int(value) }))],
  [6, economic((_, value) => ({ poolDeposit: int(value) }))],
  [7, technical((_, value) => ({ poolRetirementBound: number(value) }))],
  [8, technical((_, value) => ({ desiredPools: number(value) }))],
  [9, technical((_, value) => ({ pledgeInfluence: ratio(value) }))],
  [10, economic((_, value) => ({ monetaryExpansion: ratio(value) }))],
  [11, economic((_, value) => ({ treasuryGrowth: ratio(value) }))],
  [16, economic((_, value) => ({ minPoolCost: int(value) }))],
  [17, economic((_, value) => ({ utxoCostPerByte: int(value) }), true)],
  [18, technical(costModels)],
  [19, economic((_, value) => ({ prices: { memory: ratio(parts(value)[0]), steps: ratio(parts(value)[1]) } }))],
  [20, network((_, value) => ({ maxTxUnits: units(value) }))],
  [21, network((_, value) => ({ maxBlockUnits: units(value) }), true)],
  [22, network((_, value) => ({ maxValueSize: number(value) }), true)],
  [23, technical((_, value) => ({ collateralPercentage: number(value) }))],
  [24, network((_, value) => ({ maxCollateralInputs: number(value) }))],
  [25, governance((_, value) => ({ poolThresholds: thresholds(POOL_THRESHOLDS, value) }))],
  [26, governance((_, value) => ({ drepThresholds: thresholds(DREP_THRESHOLDS, value) }))],
  [27, governance((_, value) => ({ committeeMinSize: number(value) }))],
  [28, governance((_, value) => ({ committeeMaxTerm: number(value) }))],
  [29, governance((_, value) => ({ govActionLifetime: number(value) }))],
  [30, governance((_, value) => ({ govActionDeposit: int(value) }), true)],
  [31, governance((_, value) => ({ drepDeposit: int(value) }))],
  [32, governance((_, value) => ({ drepActivity: number(value) }))],
  [33, economic((_, value) => ({ refScriptCostPerByte: ratio(value) }), true)],
]);

/** The number of each parameter in the grammar (`protocol_param_update`), by its name here. */
const NUMBERS: ReadonlyMap<keyof ProtocolParameters, number> = new Map([
  ["feePerByte", 0],
  ["feeFixed", 1],
  ["maxBlockBodySize", 2],
  ["maxTxSize", 3],
  ["maxBlockHeaderSize", 4],
  ["keyDeposit", 5],
  ["poolDeposit", 6],
  ["poolRetirementBound", 7],
  ["desiredPools", 8],
  ["pledgeInfluence", 9],
  ["monetaryExpansion", 10],
  ["treasuryGrowth", 11],
  ["minPoolCost", 16],
  ["utxoCostPerByte", 17],
  ["costModels", 18],
  ["prices", 19],
  ["maxTxUnits", 20],
  ["maxBlockUnits", 21],
  ["maxValueSize", 22],
  ["collateralPercentage", 23],
  ["maxCollateralInputs", 24],
  ["poolThresholds", 25],
  ["drepThresholds", 26],
  ["committeeMinSize", 27],
  ["committeeMaxTerm", 28],
  ["govActionLifetime", 29],
  ["govActionDeposit", 30],
  ["drepDeposit", 31],
  ["drepActivity", 32],
  ["refScriptCostPerByte", 33],
]);

/** Members of parameters that are lists in the grammar, in its order. */
const LISTS: readonly (readonly string[])[] = [
  Object.keys(AT_GENESIS.poolThresholds),
  Object.keys(AT_GENESIS.drepThresholds),
  ["memory", "steps"],
];

/** Changes of parameters, as an action proposes them: those of the names. A hard fork changes the protocol version. */
export function changesOf(
  parameters: ProtocolParameters,
  names: Iterable<Exclude<keyof ProtocolParameters, "protocolVersion">>,
): ParameterChanges {
  return new Map(
    [...names].map((name) => [mustGet(NUMBERS, name), inGrammar(parameters[name])] as const).sort(([a], [b]) => a - b),
  );
}

function inGrammar(value: unknown): ParameterValue {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return BigInt(value);
  if (value instanceof Map) return new Map([...value].map(([language, model]) => [BigInt(language), model]));
  if (typeof value !== "object" || value === null) throw new TypeError("a parameter is no number and no object");
  if ("numerator" in value && "denominator" in value) {
    return value as Ratio;
  }
  const names = LISTS.find((list) => list.every((name) => name in value));
  if (!names) throw new TypeError("a parameter has unknown members");
  return names.map((name) => inGrammar(Reflect.get(value, name)));
}

/** Parameters after an enacted action. */
export function changeParameters(parameters: Parameters, changes: ParameterChanges): ProtocolParameters {
  return [...changes].reduce(
    (changed, [number, value]) => ({ ...changed, ...mustGet(RULES, number).change(changed, value) }),
    protocolParameters(parameters),
  );
}

/** The groups of what an action changes. */
export function groupsOf(changes: ParameterChanges): ReadonlySet<ParameterGroup> {
  return new Set([...changes.keys()].map((number) => mustGet(RULES, number).group));
}

/** Whether an action changes what matters for security, so that pools vote on it. */
export function changesSecurity(changes: ParameterChanges): boolean {
  return [...changes.keys()].some((number) => mustGet(RULES, number).security);
}
