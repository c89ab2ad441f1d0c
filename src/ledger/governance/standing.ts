/** How the actions that are voted on stand, and what the next boundary brings, by the votes and the stake of now. */
import type { Action, Voter } from "#src/cardano/conway/governance.ts";
import { applyEpoch, type BoundaryTerms, passEpoch } from "#src/ledger/epoch/pass.ts";
import { snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import { governanceOf, inOrder, proposalOf, tallies } from "#src/ledger/governance/actions.ts";
import { committeeVotes, type Counted, drepVotes, type Election, poolVotes } from "#src/ledger/governance/count.ts";
import { reaches } from "#src/ledger/governance/ratify.ts";
import { committeeThreshold, drepThreshold, poolThreshold, type Threshold } from "#src/ledger/governance/thresholds.ts";
import { votingStake } from "#src/ledger/governance/voting.ts";
import { type LedgerState, overlay } from "#src/ledger/state.ts";

/** The votes of a role on an action: those that agree, all that count, and what is needed. */
export interface RoleStanding extends Counted {
  readonly threshold: Threshold;
  /** Whether the threshold is reached. */
  readonly reached: boolean;
}

/**
 * What the next boundary does to an action: `enacted` and `dropped` carry out what the last one decided; `ratified` and
 * `expired` are decided there, if nothing changes before; `open` waits.
 */
export type NextStep = "enacted" | "dropped" | "ratified" | "expired" | "open";

/** How an action stands. */
export interface Standing {
  readonly action: Action;
  readonly roles: Readonly<Record<Voter["role"], RoleStanding>>;
  readonly next: NextStep;
}

/**
 * How every action stands that is voted on, by its key, as if the epoch ended now. Ends the epoch on a copy of the state,
 * which takes as long as a boundary.
 */
export function standings(state: LedgerState, terms: BoundaryTerms): Map<string, Standing> {
  if (inOrder(state.proposals).length === 0) return new Map();
  const delta = passEpoch(state, terms);
  const after = overlay(state);
  applyEpoch(after, delta);
  const governance = governanceOf(after);
  const { committee, parameters, pots: { treasury }, epoch } = after;
  const election: Election = { ...after, snapshot: snapshotOf(after, epoch), treasury, epoch };
  const stake = votingStake(election.snapshot);
  const tally = tallies(state.votes);
  const voteTerms = { governance, parameters, committee, epoch };
  const next = nextSteps(state, after);
  return new Map(
    inOrder(state.proposals).map(([key, one]) => {
      const { action } = proposalOf(one);
      const votes = tally(key);
      const standing = (threshold: Threshold, counted: Counted): RoleStanding => ({
        ...counted,
        threshold,
        reached: reaches(threshold, () => counted),
      });
      const roles = {
        committee: standing(committeeThreshold(action, voteTerms), committeeVotes(votes, election, election)),
        drep: standing(drepThreshold(action, voteTerms), drepVotes(action, votes, stake, election)),
        pool: standing(poolThreshold(action, voteTerms), poolVotes(action, votes, stake, election)),
      };
      return [key, { action, roles, next: next(key) }];
    }),
  );
}

function nextSteps(before: LedgerState, after: LedgerState): (key: string) => NextStep {
  const [now, then] = [governanceOf(before).decided, governanceOf(after).decided];
  return (key) => {
    if (now.enacted.includes(key)) return "enacted";
    if (!after.proposals.get(key)) return "dropped";
    if (then.enacted.includes(key)) return "ratified";
    return then.expired.includes(key) ? "expired" : "open";
  };
}
