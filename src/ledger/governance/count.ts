/** How actions were voted on: how much of the stake that votes agrees (CIP-1694). */
import type { Action } from "#src/cardano/conway/governance.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Tally } from "#src/ledger/governance/actions.ts";
import { isActive, isBootstrap } from "#src/ledger/governance/thresholds.ts";
import type { VotingStake } from "#src/ledger/governance/voting.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import {
  type CommitteeMember,
  credentialKey,
  type LedgerState,
  type Pool,
  type StakeSnapshot,
  type View,
} from "#src/ledger/state.ts";

type Tables = Pick<LedgerState, "accounts" | "pools" | "dreps" | "committee" | "proposals" | "votes" | "governance">;

/** What an election sees. */
export interface Election extends Tables {
  /** The stake of this boundary. */
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
  const vote = standingVote(pools.get(pool), accounts);
  return vote === "no confidence" ? kind === "no confidence" ? "yes" : "no" : vote;
}

/** How the delegation of a pool's reward account votes in its place; "no confidence" is a yes to motions of that alone. */
export function standingVote(
  pool: Pool | undefined,
  accounts: LedgerState["accounts"],
): "no" | "abstain" | "no confidence" {
  const account = pool && accounts.get(credentialKey(poolTerms(pool.certificate).account.credential));
  return account?.drep === "abstain" || account?.drep === "no confidence" ? account.drep : "no";
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
