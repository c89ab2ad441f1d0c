/**
 * How pools are ranked, and what delegating to one would earn in the long run ("Design Specification for Delegation and
 * Incentives in Cardano", section 5.6; ledger: `PoolRank`).
 *
 * Numbers here are floating-point, as they are in the ledger: likelihoods of 32 bits, everything else of 64.
 */
import { elementAt } from "#src/base/present.ts";
import type { Steps } from "#src/base/steps.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import {
  add,
  divide,
  floor,
  greater,
  multiply,
  one,
  share,
  smaller,
  subtract,
  toNumber,
  whole,
} from "#src/ledger/epoch/ratio.ts";
import { type EpochTerms, maxPool } from "#src/ledger/epoch/rewards.ts";
import { ownStake, poolStake, takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { type PoolTerms, poolTerms } from "#src/ledger/poolTerms.ts";
import { type LedgerState, type PoolSnapshot, RANKING, type Ranking, type StakeSnapshot } from "#src/ledger/state.ts";

/** Middles of the hundredths of full performance. */
const SAMPLES = Array.from({ length: 100 }, (_, index) => (index + 0.5) / 100);

/** How much of what was seen before an epoch still counts after it. */
const DECAY = Math.fround(0.9);

/** The ranking of a state; an empty one where no epoch has ended. */
export function rankingOf({ ranking }: Pick<LedgerState, "ranking">): Ranking {
  return ranking.get(RANKING) ?? { rewardPot: 0n, likelihoods: new Map() };
}

/** The ranking after an epoch: what was seen of each pool of the snapshot, with what was known of it (ledger: `updateNonMyopic`). */
export function* rank(
  before: Ranking,
  { stake, blocks, terms, circulation, pot }: {
    readonly stake: StakeSnapshot;
    readonly blocks: ReadonlyMap<string, number>;
    readonly terms: EpochTerms;
    readonly circulation: bigint;
    readonly pot: bigint;
  },
): Steps<Ranking> {
  const likelihoods = new Map<string, readonly number[]>();
  for (const [pool, snapshot] of stake.pools) {
    const chance = leaderChance(terms.activeSlots, share(poolStake(snapshot), circulation));
    const seen = likelihood(blocks.get(pool) ?? 0, chance, terms.epochLength);
    const known = before.likelihoods.get(pool);
    likelihoods.set(
      pool,
      normalized(seen.map((value, index) => Math.fround(Math.fround((known?.[index] ?? 0) * DECAY) + value))),
    );
    yield;
  }
  return { rewardPot: pot, likelihoods };
}

/** How likely it is that a pool with a share of the stake may make a block in a slot (ledger: `leaderProbability`). */
function leaderChance(activeSlots: Ratio, stake: Ratio): number {
  return 1 - Math.pow(1 - toNumber(activeSlots), toNumber(stake));
}

/** Logarithms of how likely so many blocks are at each hundredth of full performance, up to a constant. */
function likelihood(blocks: number, chance: number, slots: number): number[] {
  return SAMPLES.map((x) => Math.fround(blocks * Math.log(x) + (slots - blocks) * Math.log(1 - chance * x)));
}

function normalized(values: readonly number[]): number[] {
  const least = Math.min(...values);
  return values.map((value) => Math.fround(value - least));
}

/** What share of its blocks a pool will make: the median of what was seen of it, before anything was seen that of Beta(40, 1). */
export function performanceOf(likelihood: readonly number[] | undefined): number {
  const prior = area(SAMPLES.map((x) => Math.fround(39 * Math.log(x))));
  const points = area(prior.map((value, index) => Math.fround(value + (likelihood?.[index] ?? 0))));
  // As in the ledger, the weights are summed without their width of a hundredth, so that the first sum above a half decides.
  let sum = 0;
  for (const [index, value] of points.entries()) {
    if (sum > 0.5) return elementAt(SAMPLES, index);
    sum += Math.exp(value);
  }
  return 1;
}

/** Logarithms shifted so that the area below is one (ledger: `normalize`). */
function area(values: readonly number[]): number[] {
  const most = Math.max(...values);
  const shifted = values.map((value) => Math.fround(value - most));
  const log = Math.fround(Math.log(shifted.reduce((sum, value) => sum + 0.01 * Math.exp(value), 0)));
  return shifted.map((value) => Math.fround(value - log));
}

/** What makes a pool worth delegating to, in lovelace an epoch, were it saturated (section 5.6.1). */
function desirability(
  { desiredPools, pledgeInfluence }: Parameters,
  pot: bigint,
  { pledge, cost, margin }: PoolTerms,
  performance: number,
  circulation: bigint,
): number {
  const z0 = share(1n, BigInt(Math.max(1, desiredPools)));
  const relative = share(pledge, circulation > 1n ? circulation : 1n);
  const most = toNumber(multiply(whole(pot), add(z0, multiply(smaller(relative, z0), pledgeInfluence))));
  const earned = performance * most / toNumber(add(one, pledgeInfluence));
  return earned <= Number(cost) ? 0 : (earned - Number(cost)) * (1 - toNumber(margin));
}

/** A possible delegator: a registered account, by its key, or an amount of lovelace. */
type Delegator = string | bigint;

/**
 * Lovelace that each pool would pay a delegator in an epoch once everybody had found the best pools (section 5.6.4; ledger:
 * `getNonMyopicMemberRewards`), by the state as it is now.
 */
export function nonMyopicMemberRewards(
  state: LedgerState,
  terms: EpochTerms,
  delegators: readonly Delegator[],
): Map<Delegator, Map<string, bigint>> {
  const { parameters } = state;
  const circulation = terms.maxSupply - state.pots.reserves;
  const { rewardPot, likelihoods } = rankingOf(state);
  const { pools } = takeSnapshot(state);
  const stakes = new Map([...pools.values()].flatMap(({ members }) => [...members]));
  const candidates = [...pools].sort(([a], [b]) => a < b ? -1 : 1).map(([id, pool]) => {
    const likelihood = likelihoods.get(id);
    return { id, pool, terms: poolTerms(pool.certificate), performance: performanceOf(likelihood), seen: !!likelihood };
  });
  // Only pools of which something was seen can be among the best; of equal ones the lower id comes first, as in the ledger.
  const best = new Set(
    candidates.filter(({ seen }) => seen)
      .map(({ id, terms, performance }) =>
        [id, desirability(parameters, rewardPot, terms, performance, circulation)] as const
      )
      .sort(([, a], [, b]) => b - a)
      .slice(0, parameters.desiredPools)
      .map(([id]) => id),
  );
  return new Map(delegators.map((delegator) => {
    const lovelace = typeof delegator === "string" ? stakes.get(delegator) ?? 0n : delegator;
    const member = share(lovelace, circulation);
    const rewards = candidates.map(({ id, pool, terms, performance }) =>
      [id, nonMyopicReward(parameters, rewardPot, pool, terms, performance, member, circulation, best.has(id))] as const
    );
    return [delegator, new Map(rewards)];
  }));
}

/** What a pool's rewards depend on (ledger: `RewardInfoPool`). */
interface RewardInfo {
  /** Lovelace delegated to it. */
  readonly stake: bigint;
  /** Lovelace that its owners promised to delegate, and that they delegate. */
  readonly ownerPledge: bigint;
  readonly ownerStake: bigint;
  readonly cost: bigint;
  readonly margin: Ratio;
  /** Share of its blocks that it will probably make. */
  readonly performance: number;
}

/** What rewards of pools depend on, by the state as it is now (query `GetRewardInfoPools`). Reads all outputs once. */
export function rewardInfo(state: LedgerState, { maxSupply }: EpochTerms) {
  const { desiredPools, pledgeInfluence } = state.parameters;
  const { rewardPot: pot, likelihoods } = rankingOf(state);
  const pools = new Map([...takeSnapshot(state).pools].map(([id, pool]): [string, RewardInfo] => {
    const terms = poolTerms(pool.certificate);
    return [id, {
      stake: poolStake(pool),
      ownerPledge: terms.pledge,
      ownerStake: ownStake(pool, terms),
      cost: terms.cost,
      margin: terms.margin,
      performance: performanceOf(likelihoods.get(id)),
    }];
  }));
  return { desiredPools, pledgeInfluence, pot, totalStake: maxSupply - state.pots.reserves, pools };
}

/** What one pool would pay: of the stake it would have, which is a full share for the best ones. */
function nonMyopicReward(
  parameters: Parameters,
  pot: bigint,
  pool: PoolSnapshot,
  terms: PoolTerms,
  performance: number,
  member: Ratio,
  circulation: bigint,
  isBest: boolean,
): bigint {
  if (terms.pledge > ownStake(pool, terms)) return 0n;
  const pledge = share(terms.pledge, circulation);
  const z0 = share(1n, BigInt(Math.max(1, parameters.desiredPools)));
  const stake = isBest ? greater(add(share(poolStake(pool), circulation), member), z0) : add(pledge, member);
  const reward = BigInt(Math.floor(performance * Number(maxPool(parameters, pot, stake, pledge))));
  if (reward <= terms.cost || stake.numerator === 0n) return 0n;
  return floor(multiply(whole(reward - terms.cost), subtract(one, terms.margin), divide(member, stake)));
}
