/** Stake pools, their stake and their rewards in Ogmios' JSON. */
import type { Json } from "#src/base/json.ts";
import type { PoolParameters } from "#src/cardano/certificates.ts";
import { poolId } from "#src/cardano/poolId.ts";
import type { RewardsProvenance } from "#src/ledger/epoch/provenance.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import type { StakeDistribution, StakeOrCredential } from "#src/node/queries/pools.ts";
import type { AnswerOf } from "#src/node/queries/table.ts";
import { poolParametersJson } from "#src/ogmios/certificates.ts";
import { isGiven, type JsonObject, listOf, OgmiosFormError } from "#src/ogmios/form.ts";
import { stakeCredentialsOf } from "#src/ogmios/queries/credentials.ts";
import { adaJson, credentialJson, ratioText, readAda, readPool } from "#src/ogmios/values.ts";

/** Members by the id of a pool. */
function byPool<T extends { readonly pool: string }>(rows: Iterable<T>, json: (row: T) => Json): JsonObject {
  return Object.fromEntries(Array.from(rows, (row) => [poolId(row.pool), json(row)]));
}

/** Which pools a request names, and whether the stake that they vote with is wanted. */
interface PoolsRequest {
  /** Ids in hexadecimal; undefined: all. */
  readonly pools: readonly string[] | undefined;
  readonly includeStake: boolean;
}

/** The parameters of `stakePools`. @throws OgmiosFormError */
export function readPoolsRequest({ stakePools, includeStake }: JsonObject): PoolsRequest {
  if (isGiven(includeStake) && typeof includeStake !== "boolean") {
    throw new OgmiosFormError("field 'includeStake' is not a boolean");
  }
  return {
    pools: isGiven(stakePools) ? listOf(stakePools, "field 'stakePools'").map(readPool) : undefined,
    includeStake: includeStake === true,
  };
}

/** Registered pools; with the stake that they vote with, where that is given. */
export function stakePoolsJson(
  pools: readonly PoolParameters[],
  voting: AnswerOf<"poolStake"> | undefined,
): JsonObject {
  const stakes = new Map(voting?.map(({ pool, lovelace }) => [pool, lovelace]));
  return byPool(pools, (pool) => ({
    ...poolParametersJson(pool),
    ...(voting ? { stake: adaJson(stakes.get(pool.pool) ?? 0n) } : {}),
  }));
}

/** Shares of pools of all lovelace in circulation. */
export function stakeDistributionJson({ pools }: StakeDistribution): JsonObject {
  return byPool(pools, ({ share, vrf }) => ({ stake: ratioText(share), vrf }));
}

/** What a request wants to know the rewards of: amounts and accounts. @throws OgmiosFormError */
export function readStakes(params: JsonObject): readonly StakeOrCredential[] {
  const amounts = isGiven(params.stake) ? listOf(params.stake, "field 'stake'").map(readAda) : [];
  return [...amounts, ...stakeCredentialsOf(params)];
}

/** What pools would pay for amounts and accounts. */
export function projectedRewardsJson(rewards: AnswerOf<"nonMyopicRewards">): JsonObject {
  return Object.fromEntries(rewards.map(({ stake, pools }) => [
    typeof stake === "bigint" ? String(stake) : stake.hash,
    byPool(pools, ({ lovelace }) => adaJson(lovelace)) as Json,
  ]));
}

/** What rewards of pools depend on. */
export function poolsPerformancesJson(info: AnswerOf<"rewardInfo">): JsonObject {
  return {
    desiredNumberOfStakePools: info.desiredPools,
    stakePoolPledgeInfluence: ratioText(info.pledgeInfluence),
    totalRewardsInEpoch: adaJson(info.pot),
    activeStakeInEpoch: adaJson(info.pools.reduce((sum, { stake }) => sum + stake, 0n)),
    totalStakeInEpoch: adaJson(info.totalStake),
    stakePools: byPool(info.pools, (pool) => ({
      id: poolId(pool.pool),
      stake: adaJson(pool.stake),
      ownerStake: adaJson(pool.ownerStake),
      approximatePerformance: pool.performance,
      parameters: { cost: adaJson(pool.cost), margin: ratioText(pool.margin), pledge: adaJson(pool.ownerPledge) },
    })) as Json,
  };
}

/** Rewards of the next epoch boundary, and where they come from. */
export function rewardsProvenanceJson(provenance: RewardsProvenance): JsonObject {
  return {
    totalStake: adaJson(provenance.totalStake),
    activeStake: adaJson(provenance.activeStake),
    fees: adaJson(provenance.fees),
    incentives: adaJson(provenance.incentives),
    treasuryTax: adaJson(provenance.treasuryTax),
    totalRewards: adaJson(provenance.totalRewards),
    efficiency: ratioText(provenance.efficiency),
    stakePools: byPool(provenance.pools, (pool) => ({
      relativeStake: ratioText(pool.relativeStake),
      blocksMade: pool.blocks,
      totalRewards: adaJson(pool.total),
      leaderReward: adaJson(pool.leader),
      delegators: [...pool.members].map(([key, lovelace]) => ({
        ...credentialJson(parseCredentialKey(key)),
        stake: adaJson(lovelace),
      })),
    })) as Json,
  };
}
