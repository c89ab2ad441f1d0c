/** What the rewards of the next epoch boundary will be reckoned from, and come to, pool by pool. */
import type { Ratio } from "#src/cardano/parameters.ts";
import { blocksOf } from "#src/ledger/epoch/pass.ts";
import { share } from "#src/ledger/epoch/ratio.ts";
import { type EpochTerms, leaderReward, poolReward, rewardPot } from "#src/ledger/epoch/rewards.ts";
import { ownStake, poolStake, snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { LedgerState } from "#src/ledger/state.ts";

/** Rewards of a pool that made blocks. */
interface PoolProvenance {
  readonly pool: string;
  /** Its part of the lovelace in circulation. */
  readonly relativeStake: Ratio;
  readonly blocks: number;
  /** Lovelace that it earns, and that of it which goes to its leader. */
  readonly total: bigint;
  readonly leader: bigint;
  /** Lovelace of each account that delegated to it, by `credentialKey`. */
  readonly members: ReadonlyMap<string, bigint>;
}

/** Where rewards come from. Amounts are lovelace. */
export interface RewardsProvenance {
  readonly totalStake: bigint;
  readonly activeStake: bigint;
  readonly fees: bigint;
  /** Out of the reserves. */
  readonly incentives: bigint;
  readonly treasuryTax: bigint;
  readonly totalRewards: bigint;
  /** Blocks over those that were expected, at most 1. */
  readonly efficiency: Ratio;
  readonly pools: readonly PoolProvenance[];
}

/** The tables that it is reckoned from. */
export const PROVENANCE = ["snapshots", "blocks", "epoch", "pots", "parameters"] as const;

/** Rewards that are paid at the next boundary: those of the epoch before this one, with the reserves of now. */
export function rewardsProvenance(
  state: Pick<LedgerState, typeof PROVENANCE[number]>,
  terms: EpochTerms,
): RewardsProvenance {
  const { parameters, epoch, pots: { reserves } } = state;
  const stake = snapshotOf(state, epoch - 2);
  const { fees } = snapshotOf(state, epoch);
  const blocks = blocksOf(state, epoch - 1);
  const shared = rewardPot({ parameters, terms, reserves, stake, blocks, fees });
  return {
    totalStake: shared.circulation,
    activeStake: shared.active,
    fees,
    incentives: shared.expansion,
    treasuryTax: shared.treasury,
    totalRewards: shared.pot,
    efficiency: shared.performance,
    pools: [...stake.pools].flatMap(([pool, snapshot]) => {
      const count = blocks.get(pool);
      if (count === undefined) return [];
      const terms = poolTerms(snapshot.certificate);
      const lovelace = poolStake(snapshot);
      const total = poolReward(parameters, snapshot, shared, count);
      return [{
        pool,
        relativeStake: share(lovelace, shared.circulation),
        blocks: count,
        total,
        leader: leaderReward(total, terms, ownStake(snapshot, terms), lovelace),
        members: snapshot.members,
      }];
    }),
  };
}
