/**
 * Rewards of an epoch (Shelley ledger specification, section "Rewards and the Epoch Boundary"; rule RUPD, `createRUpd`).
 *
 * All pools that made blocks share one pot: the fees and a part of the reserves, minus the treasury's share. The part that is
 * not earned returns to the reserves.
 */
import { each, type Steps } from "#src/base/steps.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { add, floor, multiply, one, share, smaller, subtract, whole, zero } from "#src/ledger/epoch/ratio.ts";
import { activeStake, ownStake, poolStake } from "#src/ledger/epoch/snapshot.ts";
import { type PoolTerms, poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, type PoolSnapshot, type StakeSnapshot } from "#src/ledger/state.ts";

/** Constants of the genesis that rewards depend on. */
export interface EpochTerms {
  /** Slots in an epoch. */
  readonly epochLength: number;
  /** Share of the slots that have a block (`activeSlotsCoeff`, f). */
  readonly activeSlots: Ratio;
  /** All lovelace there can be, the reserves included (`maxLovelaceSupply`). */
  readonly maxSupply: bigint;
}

/** What an account earned. */
export interface Reward {
  /** Key of the account (`credentialKey`). */
  readonly account: string;
  /** Id of the pool that it was earned with. */
  readonly pool: string;
  /** As the pool's leader or as one of its members. */
  readonly kind: "leader" | "member";
  /** In lovelace; more than nothing for members. */
  readonly amount: bigint;
}

/** What rewards are reckoned from. */
interface RewardSources {
  readonly parameters: Parameters;
  readonly terms: EpochTerms;
  readonly reserves: bigint;
  /** Who delegated what when the leaders of the rewarded epoch were drawn (go), and blocks made in that epoch, by pool. */
  readonly stake: StakeSnapshot;
  readonly blocks: ReadonlyMap<string, number>;
  /** Lovelace of fees to be shared out. */
  readonly fees: bigint;
}

/** Where lovelace goes at the end of an epoch. The three sums below and the fees add up to nothing. */
interface RewardUpdate {
  readonly rewards: readonly Reward[];
  /** Lovelace that the treasury gains, before rewards of accounts that are gone (`deltaT`). */
  readonly treasury: bigint;
  /** Lovelace that the reserves gain; negative when they lose (`deltaR`). */
  readonly reserves: bigint;
  /** Sum of the rewards. */
  readonly paid: bigint;
  /** Lovelace that all pools could have earned together (R). */
  readonly pot: bigint;
}

/** What all pools that made blocks share. */
interface RewardPot {
  /** Lovelace that comes out of the reserves (`deltaR1`). */
  readonly expansion: bigint;
  /** Lovelace that the treasury gets of it and the fees (`deltaT1`). */
  readonly treasury: bigint;
  /** Lovelace that is left (R). */
  readonly pot: bigint;
  /** Lovelace outside of the reserves. */
  readonly circulation: bigint;
  /** Lovelace delegated to pools. */
  readonly active: bigint;
  /** Blocks of all pools. */
  readonly made: number;
  /** Blocks over those that were expected, at most 1 (`eta`). */
  readonly performance: Ratio;
}

/** Reckons what pools share. */
export function rewardPot({ parameters, terms, reserves, stake, blocks, fees }: RewardSources): RewardPot {
  const made = [...blocks.values()].reduce((sum, count) => sum + count, 0);
  const expected = floor(multiply(terms.activeSlots, whole(BigInt(terms.epochLength))));
  const performance = smaller(one, share(BigInt(made), expected));
  const expansion = floor(multiply(performance, parameters.monetaryExpansion, whole(reserves)));
  const total = fees + expansion;
  const treasury = floor(multiply(parameters.treasuryGrowth, whole(total)));
  return {
    expansion,
    treasury,
    pot: total - treasury,
    circulation: terms.maxSupply - reserves,
    active: activeStake(stake),
    made,
    performance,
  };
}

/** Reckons the rewards of an epoch. */
export function* rewardUpdate(sources: RewardSources): Steps<RewardUpdate> {
  const { parameters, stake, blocks } = sources;
  const shared = rewardPot(sources);
  const { pot, treasury, expansion } = shared;
  const rewards: Reward[] = [];
  let paid = 0n;
  for (const [pool, snapshot] of stake.pools) {
    const count = blocks.get(pool);
    if (count === undefined) continue;
    yield* shareOut(snapshot, poolReward(parameters, snapshot, shared, count), (reward) => {
      rewards.push(reward);
      paid += reward.amount;
    });
  }
  return { rewards, treasury, reserves: pot - paid - expansion, paid, pot };
}

/**
 * The most that a pool can earn, in lovelace (specification: `maxPool`), of a pot, by its stake and its pledge relative to all
 * lovelace in circulation.
 */
export function maxPool(parameters: Parameters, pot: bigint, stake: Ratio, pledge: Ratio): bigint {
  const { desiredPools, pledgeInfluence: a0 } = parameters;
  const z0 = { numerator: 1n, denominator: BigInt(Math.max(1, desiredPools)) };
  const n = whole(z0.denominator);
  const s = smaller(stake, z0);
  const p = smaller(pledge, z0);
  const unsaturated = multiply(subtract(z0, s), n);
  const pledged = multiply(p, a0, subtract(s, multiply(p, unsaturated)), n);
  const { numerator, denominator } = add(one, a0);
  return floor(multiply(whole(pot), { numerator: denominator, denominator: numerator }, add(s, pledged)));
}

/** What a pool's leader gets of the pool's reward (specification: `r_operator`), with the owners' and all stake of the pool. */
export function leaderReward(reward: bigint, { cost, margin }: PoolTerms, own: bigint, stake: bigint): bigint {
  if (reward <= cost) return reward;
  const ofOwners = multiply(subtract(one, margin), share(own, stake));
  return cost + floor(multiply(whole(reward - cost), add(margin, ofOwners)));
}

/** What a member gets of the pool's reward (specification: `r_member`), with its and all stake of the pool. */
export function memberReward(reward: bigint, { cost, margin }: PoolTerms, member: bigint, stake: bigint): bigint {
  if (reward <= cost) return 0n;
  return floor(multiply(whole(reward - cost), subtract(one, margin), share(member, stake)));
}

/** The reward of a pool that made so many blocks, in lovelace: none when its owners do not keep their pledge. */
export function poolReward(
  parameters: Parameters,
  pool: PoolSnapshot,
  { pot, circulation, active, made }: RewardPot,
  blocks: number,
): bigint {
  const terms = poolTerms(pool.certificate);
  const stake = poolStake(pool);
  const most = terms.pledge <= ownStake(pool, terms)
    ? maxPool(parameters, pot, share(stake, circulation), share(terms.pledge, circulation))
    : 0n;
  // Apparent performance: the pool's share of the blocks over its share of the active stake.
  const apparent = stake === 0n
    ? zero
    : multiply(share(BigInt(blocks), BigInt(Math.max(1, made))), share(active, stake));
  return floor(multiply(apparent, whole(most)));
}

/** Shares a pool's reward out. Owners get theirs through the pool's account, not as members. */
function* shareOut(pool: PoolSnapshot, reward: bigint, add: (reward: Reward) => void): Steps<void> {
  const terms = poolTerms(pool.certificate);
  const stake = poolStake(pool);
  const owners = new Set(terms.owners.map((owner) => "k" + owner));
  add({
    account: credentialKey(terms.account.credential),
    pool: terms.pool,
    kind: "leader",
    amount: leaderReward(reward, terms, ownStake(pool, terms), stake),
  });
  yield;
  yield* each(pool.members, ([account, lovelace]) => {
    if (owners.has(account)) return;
    const amount = memberReward(reward, terms, lovelace, stake);
    if (amount > 0n) add({ account, pool: terms.pool, kind: "member", amount });
  });
}
