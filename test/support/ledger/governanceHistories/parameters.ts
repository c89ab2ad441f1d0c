/** Parameters by their numbers in the grammar, and how the ledger names them; random changes of them. */
import type { ProtocolParameters, Ratio as LedgerRatio } from "#src/cardano/parameters.ts";
import type { Ratio, Value } from "../plainGovernance/types.ts";
import type { Dice } from "./dice.ts";

/** 1,000 ada: deposits and stake are multiples of it, so that shares of votes often meet a threshold exactly. */
export const UNIT = 1_000_000_000n;

/** Names of parameters that are whole numbers, and whether the ledger holds them as `bigint`. */
const WHOLE: readonly (readonly [number, keyof ProtocolParameters, "bigint" | "number"])[] = [
  [0, "feePerByte", "bigint"],
  [1, "feeFixed", "bigint"],
  [2, "maxBlockBodySize", "number"],
  [3, "maxTxSize", "number"],
  [4, "maxBlockHeaderSize", "number"],
  [5, "keyDeposit", "bigint"],
  [6, "poolDeposit", "bigint"],
  [7, "poolRetirementBound", "number"],
  [8, "desiredPools", "number"],
  [16, "minPoolCost", "bigint"],
  [17, "utxoCostPerByte", "bigint"],
  [22, "maxValueSize", "number"],
  [23, "collateralPercentage", "number"],
  [24, "maxCollateralInputs", "number"],
  [27, "committeeMinSize", "number"],
  [28, "committeeMaxTerm", "number"],
  [29, "govActionLifetime", "number"],
  [30, "govActionDeposit", "bigint"],
  [31, "drepDeposit", "bigint"],
  [32, "drepActivity", "number"],
];
const FRACTIONS: readonly (readonly [number, keyof ProtocolParameters])[] = [
  [9, "pledgeInfluence"],
  [10, "monetaryExpansion"],
  [11, "treasuryGrowth"],
  [33, "refScriptCostPerByte"],
];
const THRESHOLDS = [
  [25, "poolThresholds", ["noConfidence", "committee", "committeeNoConfidence", "hardFork", "securityParameters"]],
  [26, "drepThresholds", [
    "noConfidence",
    "committee",
    "committeeNoConfidence",
    "constitution",
    "hardFork",
    "networkParameters",
    "economicParameters",
    "technicalParameters",
    "governanceParameters",
    "treasuryWithdrawal",
  ]],
] as const;

/** The parameters of the ledger, by number. */
export function numbered(parameters: ProtocolParameters): Map<number, Value> {
  const read = (name: keyof ProtocolParameters) => parameters[name] as unknown;
  const pair = ({ numerator, denominator }: LedgerRatio): Ratio => [numerator, denominator];
  return new Map<number, Value>([
    ...WHOLE.map(([number, name]) => [number, BigInt(read(name) as number)] as const),
    ...FRACTIONS.map(([number, name]) => [number, pair(read(name) as LedgerRatio)] as const),
    ...THRESHOLDS.map(([number, name, fields]) => {
      const of = read(name) as Record<string, LedgerRatio>;
      return [number, fields.map((field) => pair(of[field]!))] as const;
    }),
  ]);
}

/** Parameters in the ledger's names. */
export function changesOfParameters(values: ReadonlyMap<number, Value>): Record<string, unknown> {
  const pair = ([numerator, denominator]: Ratio) => ({ numerator, denominator });
  const changes: Record<string, unknown> = {};
  for (const [number, name, type] of WHOLE) {
    changes[name] = type === "bigint" ? values.get(number) : Number(values.get(number));
  }
  for (const [number, name] of FRACTIONS) changes[name] = pair(values.get(number) as Ratio);
  for (const [number, name, fields] of THRESHOLDS) {
    const of = values.get(number) as readonly Ratio[];
    changes[name] = Object.fromEntries(fields.map((field, place) => [field, pair(of[place]!)]));
  }
  return changes;
}

/** Shares that a vote may need. */
const SHARES: readonly Ratio[] = [[1n, 2n], [51n, 100n], [3n, 5n], [2n, 3n], [67n, 100n], [3n, 4n], [2n, 5n], [1n, 3n]];
const shares = (count: number) => (dice: Dice): Value => Array.from({ length: count }, () => dice.pick(SHARES));
const between = (low: number, high: number, unit = 1n) => (dice: Dice): Value => BigInt(dice.between(low, high)) * unit;

/** A share of the committee that may have to agree. */
export const quorum = (dice: Dice): Ratio => dice.pick(SHARES);

/** Values that a proposal may give to a parameter, with which transactions here stay valid. */
const VALUES: readonly (readonly [number, (dice: Dice) => Value])[] = [
  [0, between(40, 60)],
  [1, between(150_000, 160_000)],
  [2, between(80_000, 90_112)],
  [3, between(16_384, 20_000)],
  [4, between(1_000, 1_200)],
  [5, between(1, 4, 1_000_000n)],
  [6, between(1, 3, UNIT)],
  [7, between(5, 20)],
  [8, between(100, 600)],
  [9, (dice) => [BigInt(dice.between(1, 5)), 11n]],
  [10, (dice) => [BigInt(dice.between(1, 9)), 1_009n]],
  [11, (dice) => [BigInt(dice.between(1, 9)), 23n]],
  [16, between(100, 400, 1_000_000n)],
  [17, between(4_000, 4_500)],
  [22, between(4_000, 6_000)],
  [23, between(100, 200)],
  [24, between(1, 5)],
  [25, shares(5)],
  [26, shares(10)],
  [27, (dice) => dice.pick([0n, 0n, 1n, 1n, 2n, 4n])],
  [28, between(8, 14)],
  [29, between(2, 4)],
  [30, between(1, 3, UNIT)],
  [31, between(1, 9, 1_000_000n)],
  [32, between(2, 6)],
  [33, (dice) => [BigInt(dice.between(10, 20)), 1n]],
];

/** Parameters at the beginning of a history. */
export function firstParameters(dice: Dice): Map<number, Value> {
  return new Map(VALUES.map(([number, value]) => [number, value(dice)]));
}

/** Numbers of parameters by group: network, economic, technical, governance, of these the thresholds, and security. */
const GROUPS: readonly (readonly number[])[] = [
  [24],
  [5, 6, 10, 11, 16],
  [7, 8, 9, 23],
  [25, 25, 26, 26, 27, 28, 29, 31, 32],
  [25, 26],
  [0, 1, 2, 3, 4, 17, 22, 30, 33],
];

/** New values for one to three parameters. */
export function randomChanges(dice: Dice): Map<number, Value> {
  const numbers = Array.from({ length: dice.pick([1, 1, 1, 2, 3]) }, () => dice.pick(dice.pick(GROUPS)));
  return new Map(VALUES.filter(([number]) => numbers.includes(number)).map(([number, value]) => [number, value(dice)]));
}
