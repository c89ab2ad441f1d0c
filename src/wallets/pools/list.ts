/** Ranking of pools for a stake. */
import { randomBytes } from "node:crypto";
import { utf8 } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { PoolBook } from "#src/wallets/pools/book.ts";
import type { ListedPool, PoolsUnknown } from "#src/wallets/pools/types.ts";

/** A pool with the figures that rank it. */
export interface RankedPool {
  readonly pool: ListedPool;
  /** Lovelace that it would pay the stake in an epoch. */
  readonly rewards: bigint;
  /** Percent of all lovelace in circulation. */
  readonly relativeStake: number;
  /** 1 is the stake beyond which rewards do not grow. */
  readonly saturation: number;
}

/** Ties are broken at random, the same way for the life of the process. */
const SEED = randomBytes(16).toString("hex");
const tieBreaker = (id: string, seed: string) => hash256(utf8(seed + id));

const fraction = (ratio: Ratio | undefined): number => {
  if (!ratio || ratio.denominator === 0n) return 0;
  // 15 digits of the quotient, whatever the size of the two
  return Number(ratio.numerator * 1_000_000_000_000_000n / ratio.denominator) / 1e15;
};

/** Assumed reward of a pool without ranking: the mean of the best rewards, as many as the desired number of pools. */
export function newcomersReward(ranking: ReadonlyMap<string, bigint>, desiredPools: number): bigint {
  const best = [...ranking.values()].sort((a, b) => a < b ? 1 : a > b ? -1 : 0).slice(0, Math.max(1, desiredPools));
  return best.length === 0 ? 0n : best.reduce((sum, one) => sum + one, 0n) / BigInt(best.length);
}

/** Ranks pools, the best first, without those that retire in the epoch or before. */
export function ranked(
  pools: Iterable<ListedPool>,
  ranking: ReadonlyMap<string, bigint>,
  { epoch, desiredPools, seed = SEED }: {
    readonly epoch: number;
    readonly desiredPools: number;
    readonly seed?: string;
  },
): RankedPool[] {
  const newcomers = newcomersReward(ranking, desiredPools);
  const tieBreakers = new Map<string, string>();
  const tieBreakerOf = (id: string) => {
    const known = tieBreakers.get(id) ?? tieBreaker(id, seed);
    tieBreakers.set(id, known);
    return known;
  };
  return [...pools].filter(({ retiring }) => retiring === undefined || retiring > epoch).map((pool): RankedPool => {
    const share = fraction(pool.share);
    return {
      pool,
      rewards: ranking.get(pool.pool) ?? newcomers,
      relativeStake: share * 100,
      saturation: share * desiredPools,
    };
  }).sort((a, b) => {
    if (a.rewards !== b.rewards) return a.rewards < b.rewards ? 1 : -1;
    return tieBreakerOf(a.pool.pool) < tieBreakerOf(b.pool.pool) ? -1 : 1;
  });
}

/** The pools of a cache, ranked for a stake in lovelace. */
export async function rankedPools(
  book: PoolBook,
  stake: bigint,
  setting: { readonly epoch: number; readonly desiredPools: number },
): Promise<Result<RankedPool[], PoolsUnknown>> {
  const [pools, ranking] = await Promise.all([book.all(), book.ranking(stake)]);
  if (!pools.ok) return pools;
  return ranking.ok ? ok(ranked(pools.value.values(), ranking.value, setting)) : ranking;
}
