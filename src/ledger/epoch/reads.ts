/** What a node tells about stake: distributions and snapshots (ledger: `PoolDistr`, `API.Wallet`). */
import type { Ratio } from "#src/cardano/parameters.ts";
import { share } from "#src/ledger/epoch/ratio.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import { activeStake, poolStake, snapshotOf, takeSnapshot } from "#src/ledger/epoch/snapshot.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { LedgerState, StakeSnapshot } from "#src/ledger/state.ts";

/** A pool's part of the stake. */
interface PoolShare {
  /** Relative to what the distribution is about. */
  readonly share: Ratio;
  readonly lovelace: bigint;
  /** Hash of the pool's VRF key. */
  readonly vrf: string;
}

/** Parts of pools with any stake, by id, and the lovelace delegated to all of them. */
export interface PoolDistribution {
  readonly pools: ReadonlyMap<string, PoolShare>;
  readonly active: bigint;
}

/**
 * The distribution that leaders of this epoch are drawn by: parts of the active stake, as it was when the last epoch began
 * (ledger: `nesPd`, out of set).
 */
export function leaderDistribution(state: Pick<LedgerState, "snapshots" | "epoch">): PoolDistribution {
  const snapshot = snapshotOf(state, state.epoch - 1);
  return distribution(snapshot, activeStake(snapshot));
}

/**
 * Parts of all lovelace in circulation, as the state is now (query `GetStakeDistribution`; ledger: `poolsByTotalStakeFraction`).
 * Goes through all outputs.
 */
export function stakeDistribution(state: LedgerState, { maxSupply }: Pick<EpochTerms, "maxSupply">): PoolDistribution {
  return distribution(takeSnapshot(state), maxSupply - state.pots.reserves);
}

function distribution(snapshot: StakeSnapshot, whole: bigint): PoolDistribution {
  const pools = new Map<string, PoolShare>();
  for (const [id, pool] of snapshot.pools) {
    const lovelace = poolStake(pool);
    if (lovelace === 0n) continue;
    pools.set(id, { share: share(lovelace, whole), lovelace, vrf: poolTerms(pool.certificate).vrf });
  }
  return { pools, active: activeStake(snapshot) };
}

/** Lovelace at the beginning of this epoch (mark), of the last (set), and of the one before (go). */
interface StakeAmounts {
  readonly mark: bigint;
  readonly set: bigint;
  readonly go: bigint;
}

/** Stake of pools in the three snapshots, and of all pools together (query `GetStakeSnapshots`). */
export function stakeSnapshots(
  state: Pick<LedgerState, "snapshots" | "epoch">,
): { readonly pools: ReadonlyMap<string, StakeAmounts>; readonly total: StakeAmounts } {
  const before = (epochs: number) => snapshotOf(state, state.epoch - epochs);
  const [mark, set, go] = [before(0), before(1), before(2)];
  const of = (snapshot: StakeSnapshot, id: string) => {
    const pool = snapshot.pools.get(id);
    return pool ? poolStake(pool) : 0n;
  };
  const ids = new Set([...mark.pools.keys(), ...set.pools.keys(), ...go.pools.keys()]);
  return {
    pools: new Map([...ids].map((id) => [id, { mark: of(mark, id), set: of(set, id), go: of(go, id) }])),
    total: { mark: activeStake(mark), set: activeStake(set), go: activeStake(go) },
  };
}
