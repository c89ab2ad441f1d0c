/**
 * Rule RATIFY: which actions take force at the next boundary, and which end there.
 *
 * The ledger counts votes, stake and representatives as of one boundary and applies the outcome at the next one. What is
 * decided depends on nothing in between, so it is decided at once, and the outcome waits (`Governance.decided`).
 */
import type { Steps } from "#src/base/steps.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import { NEWEST_MAJOR } from "#src/ledger/epoch/hardFork.ts";
import { less, share } from "#src/ledger/epoch/ratio.ts";
import {
  governanceOf,
  inOrder,
  previousOf,
  proposalOf,
  purposeOf,
  talliesInSteps,
  type Tally,
} from "#src/ledger/governance/actions.ts";
import { committeeVotes, type Counted, drepVotes, type Election, poolVotes } from "#src/ledger/governance/count.ts";
import { enact, type EnactState } from "#src/ledger/governance/enact.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import {
  committeeThreshold,
  drepThreshold,
  poolThreshold,
  type Threshold,
  type ThresholdTerms,
} from "#src/ledger/governance/thresholds.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import { type VotingStake, votingStakeInSteps } from "#src/ledger/governance/voting.ts";

/** Actions are tried in this order, then in that in which they were proposed (ledger: `actionPriority`). */
const PRIORITIES: readonly Action["kind"][] = [
  "no confidence",
  "committee",
  "constitution",
  "hard fork",
  "parameters",
  "treasury",
  "info",
];
/** After one of these, nothing else takes force at the same boundary (ledger: `delayingAction`). */
export const DELAYING: ReadonlySet<Action["kind"]> = new Set([
  "no confidence",
  "hard fork",
  "committee",
  "constitution",
]);

/** Decides about all actions that are voted on. */
export function* ratify(election: Election): Steps<Governance["decided"]> {
  const proposed = inOrder(election.proposals);
  if (proposed.length === 0) return { enacted: [], expired: [] };
  const { epoch, committee, parameters } = election;
  const stake = yield* votingStakeInSteps(election.snapshot);
  const tally = yield* talliesInSteps(election.votes);
  const enacted: string[] = [];
  const expired: string[] = [];
  let state: EnactState = {
    governance: governanceOf(election),
    parameters,
    committee: new Map([...committee.entries()]),
    treasury: election.treasury,
    payments: [],
  };
  let delayed = false;
  const rank = ([, one]: readonly [string, Proposed]) => PRIORITIES.indexOf(proposalOf(one).action.kind);
  for (const [key, one] of proposed.toSorted((a, b) => rank(a) - rank(b))) {
    yield;
    const { action } = proposalOf(one);
    if (!delayed && canFollow(action, state, election) && isAccepted(action, tally(key), state, stake, election)) {
      state = enact(state, key, action);
      delayed = DELAYING.has(action.kind);
      enacted.push(key);
    } else if (one.expiresAfter < epoch) expired.push(key);
  }
  return { enacted, expired };
}

/** Whether an action follows what is in force, and can be carried out. */
function canFollow(action: Action, { governance, parameters, treasury }: EnactState, election: Election): boolean {
  const purpose = purposeOf(action);
  if (purpose !== undefined && previousOf(action) !== governance.enacted[purpose]) return false;
  switch (action.kind) {
    case "committee": {
      const last = BigInt(election.epoch + protocolParameters(parameters).committeeMaxTerm);
      return action.added.every(({ until }) => until <= last);
    }
    case "treasury":
      return action.payments.reduce((sum, [, lovelace]) => sum + lovelace, 0n) <= treasury;
    case "hard fork":
      // there are no rules here beyond it
      return action.version.major <= BigInt(NEWEST_MAJOR);
    default:
      return true;
  }
}

/** Whether enough of each role agree with an action, each as much as its threshold asks for. */
function isAccepted(action: Action, tally: Tally, state: EnactState, stake: VotingStake, election: Election): boolean {
  const { governance, parameters, committee } = state;
  const terms: ThresholdTerms = { governance, parameters, committee, epoch: election.epoch };
  return reaches(committeeThreshold(action, terms), () => committeeVotes(tally, state, election)) &&
    reaches(poolThreshold(action, terms), () => poolVotes(action, tally, stake, election)) &&
    reaches(drepThreshold(action, terms), () => drepVotes(action, tally, stake, election));
}

/** Whether votes reach a threshold. */
export function reaches(threshold: Threshold, votes: () => Counted): boolean {
  if (threshold === "never") return false;
  if (threshold === "none" || threshold.numerator === 0n) return true;
  const { yes, all } = votes();
  return !less(share(yes, all), threshold);
}
