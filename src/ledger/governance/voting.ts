/** What counts for the actions that are voted on, as of the boundary between two epochs (ledger: `computeDRepDistr`). */
import { each, finish, type Steps } from "#src/base/steps.ts";
import { heldStake, poolStake } from "#src/ledger/epoch/snapshot.ts";
import { inOrder, proposalOf } from "#src/ledger/governance/actions.ts";
import type { Proposed } from "#src/ledger/governance/types.ts";
import {
  credentialKey,
  eachRow,
  type LedgerState,
  type StakeSnapshot,
  type View,
  type VotingSnapshot,
} from "#src/ledger/state.ts";

/** The tables as a boundary leaves them, and the stake of pools that was counted at it. */
interface Countable extends Pick<LedgerState, "utxo" | "accounts" | "dreps" | "proposals" | "votes"> {
  /** What `heldStake` gives for the outputs. */
  readonly held?: ReadonlyMap<string, bigint> | undefined;
  readonly snapshot: Pick<StakeSnapshot, "pools">;
}

/** Nothing was voted and no vote delegated. */
const NOTHING: VotingSnapshot = { votes: new Map(), dreps: new Map(), delegators: new Map(), poolDeposits: new Map() };

/** Counts what governance decides by: stake includes the deposits of proposals, for representatives and for pools. */
export function* countVoting(
  { utxo, held, accounts, dreps, proposals, votes, snapshot }: Countable,
): Steps<VotingSnapshot> {
  const outputs = held ?? (yield* heldStake(utxo));
  const deposits = yield* depositsOf(inOrder(proposals));
  const delegators = new Map<string, Map<string, bigint>>();
  const poolDeposits = new Map<string, bigint>();
  yield* eachRow(accounts, ([key, { balance, drep, pool }]) => {
    const deposit = deposits.get(key) ?? 0n;
    if (drep !== undefined && (drep === "abstain" || drep === "no confidence" || dreps.get(drep))) {
      let of = delegators.get(drep);
      if (!of) delegators.set(drep, of = new Map());
      of.set(key, balance + (outputs.get(key) ?? 0n) + deposit);
    }
    if (deposit > 0n && pool !== undefined && snapshot.pools.has(pool)) {
      poolDeposits.set(pool, (poolDeposits.get(pool) ?? 0n) + deposit);
    }
  });
  return { votes: yield* copyOf(votes), dreps: yield* copyOf(dreps), delegators, poolDeposits };
}

function* copyOf<V>(table: View<V>): Steps<Map<string, V>> {
  const copy = new Map<string, V>();
  yield* eachRow(table, ([key, value]) => copy.set(key, value));
  return copy;
}

function* depositsOf(proposed: readonly (readonly [string, Proposed])[]): Steps<ReadonlyMap<string, bigint>> {
  const deposits = new Map<string, bigint>();
  yield* each(proposed, ([, one]) => {
    const { deposit, account } = proposalOf(one);
    const key = credentialKey(account.credential);
    deposits.set(key, (deposits.get(key) ?? 0n) + deposit);
  });
  return deposits;
}

/** What counted when an epoch began; nothing where that is not known. */
export function votingOf({ voting = NOTHING }: StakeSnapshot): VotingSnapshot {
  return voting;
}

/** Lovelace that votes, as of a boundary. */
export interface VotingStake {
  /** By representative: the key of a credential, `abstain` or `no confidence`. */
  readonly dreps: ReadonlyMap<string, bigint>;
  /** By pool. */
  readonly pools: ReadonlyMap<string, bigint>;
}

/** The stake of representatives and pools that counted when an epoch began, with the deposits of proposals. */
export function votingStake(snapshot: StakeSnapshot): VotingStake {
  return finish(votingStakeInSteps(snapshot));
}

/** `votingStake` in steps. */
export function* votingStakeInSteps(snapshot: StakeSnapshot): Steps<VotingStake> {
  const { delegators, poolDeposits } = votingOf(snapshot);
  const dreps = new Map<string, bigint>();
  for (const [drep, of] of delegators) {
    let sum = 0n;
    yield* each(of.values(), (lovelace) => sum += lovelace);
    dreps.set(drep, sum);
    yield;
  }
  const pools = new Map<string, bigint>();
  for (const [pool, of] of snapshot.pools) {
    pools.set(pool, poolStake(of) + (poolDeposits.get(pool) ?? 0n));
    yield;
  }
  return { dreps, pools };
}
