/** Pools in the order in which somebody with so much stake would look at them. */
import { randomBytes } from "node:crypto";
import { utf8 } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { PoolBook } from "#src/wallet/pools/book.ts";
import type { ListedPool, PoolsUnknown } from "#src/wallet/pools/types.ts";

/** A pool with its place's reasons. */
export interface RankedPool {
  readonly pool: ListedPool;
  /** Lovelace that it would pay in an epoch. */
  readonly rewards: bigint;
  /** In percent of all lovelace in circulation. */
  readonly relativeStake: number;
  /** 1 is as much as counts. */
  readonly saturation: number;
}

/** Ties are broken at random, and alike as long as the process lives. */
const SEED = randomBytes(16).toString("hex");
const lot = (id: string, seed: string) => hash256(utf8(seed + id));

const fraction = (ratio: Ratio | undefined): number => {
  if (!ratio || ratio.denominator === 0n) return 0;
  // 15 digits of the quotient, however great the two are
  return Number(ratio.numerator * 1_000_000_000_000_000n / ratio.denominator) / 1e15;
};

/** The mean of the best rewards, as many as there should be pools: what a pool is taken to pay that has no ranking yet. */
export function newcomersReward(ranking: ReadonlyMap<string, bigint>, desiredPools: number): bigint {
  const best = [...ranking.values()].sort((a, b) => a < b ? 1 : a > b ? -1 : 0).slice(0, Math.max(1, desiredPools));
  return best.length === 0 ? 0n : best.reduce((sum, one) => sum + one, 0n) / BigInt(best.length);
}

/** Puts pools in order, the best first; those that retire in the epoch or did before are left out. */
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
  const lots = new Map<string, string>();
  const lotOf = (id: string) => {
    const known = lots.get(id) ?? lot(id, seed);
    lots.set(id, known);
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
    return lotOf(a.pool.pool) < lotOf(b.pool.pool) ? -1 : 1;
  });
}

/** The pools of a book in order, for somebody with so much stake. */
export async function rankedPools(
  book: PoolBook,
  stake: bigint,
  setting: { readonly epoch: number; readonly desiredPools: number },
): Promise<Result<RankedPool[], PoolsUnknown>> {
  const [pools, ranking] = await Promise.all([book.all(), book.ranking(stake)]);
  if (!pools.ok) return pools;
  return ranking.ok ? ok(ranked(pools.value.values(), ranking.value, setting)) : ranking;
}
