/** How actions were voted on: stake that votes, and how much of it agrees (CIP-1694). */
import { mustGet } from "#src/base/maps.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { poolStake, stakeOf } from "#src/ledger/epoch/snapshot.ts";
import { proposalOf, type Tally } from "#src/ledger/governance/actions.ts";
import { isActive, isBootstrap } from "#src/ledger/governance/thresholds.ts";
import type { Proposed } from "#src/ledger/governance/types.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import {
  type CommitteeMember,
  credentialKey,
  type LedgerState,
  type StakeSnapshot,
  type View,
} from "#src/ledger/state.ts";

/** Lovelace that votes, as of a boundary. */
export interface VotingStake {
  /** By representative: the key of a credential, `abstain` or `no confidence`. */
  readonly dreps: ReadonlyMap<string, bigint>;
  /** By pool. */
  readonly pools: ReadonlyMap<string, bigint>;
}

type Tables = Pick<LedgerState, "accounts" | "pools" | "dreps" | "committee" | "proposals" | "votes" | "governance">;

/** What an election sees. */
export interface Election extends Tables {
  readonly utxo: LedgerState["utxo"];
  /** The stake of pools, of this boundary. */
  readonly snapshot: StakeSnapshot;
  readonly parameters: Parameters;
  /** Lovelace in the treasury. */
  readonly treasury: bigint;
  /** The epoch that begins. */
  readonly epoch: number;
}

/** Those that agree, and all that count: members of the committee, or lovelace. */
export interface Counted {
  readonly yes: bigint;
  readonly all: bigint;
}

/** Members that agree, of those in office that do not abstain (ledger: `committeeAcceptedRatio`). */
export function committeeVotes(
  { committee: votes }: Tally,
  { committee }: { readonly committee: View<CommitteeMember> },
  { epoch }: Pick<Election, "epoch">,
): Counted {
  let yes = 0n;
  let all = 0n;
  for (const [, member] of committee.entries()) {
    if (!isActive(member, epoch)) continue;
    const vote = votes.get(member.hot);
    if (vote === "abstain") continue;
    all++;
    if (vote === "yes") yes++;
  }
  return { yes, all };
}

/** Stake of pools that agree, of those that do not abstain (ledger: `spoAcceptedRatio`). */
export function poolVotes(
  action: Action,
  { pool: votes }: Tally,
  { pools: stakes }: VotingStake,
  { pools, accounts, parameters }: Election,
): Counted {
  let yes = 0n;
  let all = 0n;
  for (const [pool, lovelace] of stakes) {
    const vote = votes.get(pool) ?? defaultVote(action, pool, { pools, accounts }, parameters);
    if (vote !== "abstain") all += lovelace;
    if (vote === "yes") yes += lovelace;
  }
  return { yes, all };
}

/** The vote of a pool that has not voted: its reward account's delegation decides (ledger: `defaultStakePoolVote`). */
function defaultVote(
  { kind }: Action,
  pool: string,
  { pools, accounts }: Pick<Election, "pools" | "accounts">,
  parameters: Parameters,
): "yes" | "no" | "abstain" {
  if (kind === "hard fork") return "no";
  if (isBootstrap(parameters)) return "abstain";
  const registered = pools.get(pool);
  const account = registered && accounts.get(credentialKey(poolTerms(registered.certificate).account.credential));
  if (account?.drep === "abstain") return "abstain";
  return account?.drep === "no confidence" && kind === "no confidence" ? "yes" : "no";
}

/** Stake of active representatives that agree, of those that do not abstain (ledger: `dRepAcceptedRatio`). */
export function drepVotes(
  { kind }: Action,
  { drep: votes }: Tally,
  { dreps: stakes }: VotingStake,
  { dreps, epoch }: Election,
): Counted {
  let yes = 0n;
  let all = 0n;
  for (const [drep, lovelace] of stakes) {
    if (drep === "abstain") continue;
    if (drep === "no confidence") {
      all += lovelace;
      if (kind === "no confidence") yes += lovelace;
      continue;
    }
    const vote = votes.get(drep);
    const registered = dreps.get(drep);
    if (!registered || epoch > (registered.expiry ?? Infinity) || vote === "abstain") continue;
    all += lovelace;
    if (vote === "yes") yes += lovelace;
  }
  return { yes, all };
}

/**
 * The stake of representatives and pools: outputs and rewards of those who delegate, with the deposits of their proposals
 * (ledger: `computeDRepDistr`).
 */
export function votingStake(
  { utxo, accounts, dreps, snapshot }: Election,
  proposed: readonly (readonly [string, Proposed])[],
): VotingStake {
  const deposits = new Map<string, bigint>();
  for (const [, one] of proposed) {
    const { deposit, account } = proposalOf(one);
    const key = credentialKey(account.credential);
    deposits.set(key, (deposits.get(key) ?? 0n) + deposit);
  }
  const pools = new Map([...snapshot.pools].map(([pool, of]) => [pool, poolStake(of)]));
  const delegated = new Map<string, string>();
  for (const [key, { drep, pool }] of accounts.entries()) {
    if (drep !== undefined && (drep === "abstain" || drep === "no confidence" || dreps.get(drep))) {
      delegated.set(key, drep);
    }
    const deposit = deposits.get(key);
    const stake = pool === undefined ? undefined : pools.get(pool);
    if (deposit !== undefined && pool !== undefined && stake !== undefined) pools.set(pool, stake + deposit);
  }
  const stakes = new Map<string, bigint>();
  for (const [key, lovelace] of stakeOf({ utxo, accounts }, delegated.keys())) {
    const drep = mustGet(delegated, key);
    stakes.set(drep, (stakes.get(drep) ?? 0n) + lovelace + (deposits.get(key) ?? 0n));
  }
  return { dreps: stakes, pools };
}
