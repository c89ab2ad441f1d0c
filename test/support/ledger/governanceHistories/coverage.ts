/** What random histories have contained. */
import type { Ended } from "../plainGovernance/boundary.ts";
import { isExact, reaches, type Requirement, tally, type Verdict } from "../plainGovernance/elections.ts";
import {
  KINDS,
  type Operation,
  type PlainProposal,
  type PlainState,
  PURPOSES,
  whole,
} from "../plainGovernance/types.ts";

/** The thresholds that an action may meet or miss, by their names in `Requirement`. */
export const THRESHOLDS: readonly string[] = [
  "committee quorum",
  ...Array.from({ length: 5 }, (_, place) => `pool ${place}`),
  ...Array.from({ length: 10 }, (_, place) => `drep ${place}`),
];

/** What else a run has to contain. */
export const OTHERS: readonly string[] = [
  "unclaimed deposits",
  "dormant epochs",
  "expired representatives",
  "resigned members",
  "decided by a default of yes",
  "decided by a default of abstain",
  "decided by a default of no",
  "decided by a default on a hard fork",
  "elected for the longest term",
  "ended dormant epochs",
  "enacted parameter 25",
  "enacted parameter 26",
  "votes lost with another",
  "votes lost with version 10",
];

/** Failures that the faults of a run have to cause. */
export const FAILURES: readonly string[] = [
  "ConflictingCommitteeUpdate",
  "ConwayCommitteeHasPreviouslyResigned",
  "ConwayCommitteeIsUnknown",
  "ConwayDRepAlreadyRegistered",
  "ConwayDRepIncorrectDeposit",
  "ConwayDRepIncorrectRefund",
  "ConwayDRepNotRegistered",
  "ConwayMempoolFailure",
  "DelegateeDRepNotRegisteredDELEG",
  "DelegateeStakePoolNotRegisteredDELEG",
  "DepositIncorrectDELEG",
  "DisallowedProposalDuringBootstrap",
  "DisallowedVoters",
  "DisallowedVotesDuringBootstrap",
  "ExpirationEpochTooSmall",
  "GovActionsDoNotExist",
  "IncorrectDepositDELEG",
  "InvalidGuardrailsScriptHash",
  "InvalidPrevGovActionId",
  "MalformedProposal",
  "ProposalCantFollow",
  "ProposalDepositIncorrect",
  "ProposalProcedureNetworkIdMismatch",
  "ProposalReturnAccountDoesNotExist",
  "RefundIncorrectDELEG",
  "StakeKeyHasNonZeroAccountBalanceDELEG",
  "StakeKeyNotRegisteredDELEG",
  "StakeKeyRegisteredDELEG",
  "StakePoolNotRegisteredOnKeyPOOL",
  "StakePoolRetirementWrongEpochPOOL",
  "TreasuryWithdrawalReturnAccountsDoNotExist",
  "TreasuryWithdrawalsNetworkIdMismatch",
  "UnelectedCommitteeVoters",
  "VotersDoNotExist",
  "VotingOnExpiredGovAction",
  "ZeroTreasuryWithdrawals",
];

/** Everything that a run has to contain, by the names of `Coverage`. */
export const EVERYTHING: readonly string[] = [
  ...[9, 10, 11].map((major) => `epochs of version ${major}`),
  ...KINDS.filter((kind) => kind !== "info").map((kind) => `enacted ${kind}`),
  ...KINDS.map((kind) => `expired ${kind}`),
  ...PURPOSES.map((kind) => `dropped ${kind}`),
  ...THRESHOLDS.flatMap((name) => [`below ${name}`, `at ${name}`]),
  ...OTHERS,
  ...FAILURES.map((name) => `refused ${name}`),
];

export class Coverage {
  private readonly counts = new Map<string, number>();
  accepted = 0;
  epochs = 0;
  undone = 0;

  private add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /** What a run has to contain and this one has seen fewer times than asked. */
  missing(times = 1): string[] {
    return EVERYTHING.filter((what) => this.count(what) < times);
  }

  /** How often something was seen: `enacted treasury`, `below pool 3`, `at drep 9`, `refused VotersDoNotExist`. */
  count(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  refuse(failures: Iterable<string>): void {
    for (const name of failures) this.add(`refused ${name}`);
  }

  /** Counts what happened at a boundary, and what the poll decides that it has begun. */
  boundary(before: PlainState, after: PlainState, ended: Ended, verdicts: readonly Verdict[]): void {
    const { version: [major], epoch, dormant, dreps, hot } = after;
    this.epochs++;
    for (const { action } of ended.enacted) {
      if (action.kind === "parameters") {
        for (const number of action.changes.keys()) this.add(`enacted parameter ${number}`);
      }
      // it was elected at the boundary before
      const longest = epoch - 1 + Number(whole(after, "committeeMaxTerm"));
      if (action.kind === "committee" && [...action.added.values()].includes(longest)) {
        this.add("elected for the longest term");
      }
    }
    if (major === 10 && before.version[0] === 9) {
      const lost = [...before.accounts].filter(([key, { drep }]) => drep !== after.accounts.get(key)?.drep);
      this.add("votes lost with version 10", lost.length);
    }
    this.add(`epochs of version ${major}`);
    this.add("unclaimed deposits", ended.unclaimed);
    this.add("dormant epochs", dormant > 0 ? 1 : 0);
    this.add("expired representatives", [...dreps.values()].filter(({ expiry }) => expiry < epoch).length);
    this.add("resigned members", [...hot.values()].filter((hot) => hot === "resigned").length);
    for (const how of ["enacted", "expired", "dropped"] as const) {
      for (const { action } of ended[how]) this.add(`${how} ${action.kind}`);
    }
    for (const verdict of verdicts) this.verdict(verdict);
  }

  /** Counts thresholds that decided: the only one that was missed by one voter, or one that was met by one voter. */
  private verdict({ proposal, isReady, requirements }: Verdict): void {
    if (!isReady) return;
    const missed = requirements.filter(({ isMet }) => !isMet);
    const [only] = missed;
    if (missed.length === 1 && only && nearest(only)) this.add(`below ${only.name}`);
    const pools = requirements.find(({ role }) => role === "pool");
    if (pools && missed.every((one) => one === pools)) this.defaults(proposal, pools);
    if (missed.length > 0) return;
    for (const requirement of requirements) {
      const near = nearest(requirement);
      if (near) this.add(`at ${requirement.name}`);
      if (near === "exact") this.add(`exactly ${requirement.name}`);
    }
  }

  /** Counts where pools that did not vote have decided: if they had voted otherwise, the answer would be another one. */
  private defaults({ votes, action }: PlainProposal, { counted, threshold, isMet }: Requirement): void {
    for (const [vote, other] of [["yes", "no"], ["abstain", "no"], ["no", "abstain"]] as const) {
      const changed = counted.map((one) =>
        one.vote === vote && !votes.has(`pool ${one.voter}`) ? { ...one, vote: other } : one
      );
      if (reaches(changed, threshold) === isMet) continue;
      this.add(`decided by a default of ${vote}`);
      if (action.kind === "hard fork") this.add("decided by a default on a hard fork");
    }
  }

  /** Counts the ends of dormant epochs, and accounts that lose a vote with a representative that they had left. */
  operation({ certificates = [], proposals = [] }: Operation, { version, accounts, dreps, dormant }: PlainState): void {
    if (proposals.length > 0 && dormant > 0) this.add("ended dormant epochs");
    for (const one of certificates) {
      if (one.kind !== "unregister drep" || version[0] > 9) continue;
      const left = [...dreps.get(one.credential)?.delegators ?? []].map((account) => accounts.get(account)?.drep);
      this.add("votes lost with another", left.filter((drep) => drep !== undefined && drep !== one.credential).length);
    }
  }

  /** Kinds by how they ended, and thresholds by the side on which they decided. */
  text(): string {
    const row = (name: string, of: readonly string[]) => `${name}: ${of.map((what) => this.count(what)).join(" / ")}`;
    return [
      `${this.epochs} epochs (${
        [9, 10, 11].map((n) => `version ${n}: ${this.count(`epochs of version ${n}`)}`).join(", ")
      })`,
      `${this.accepted} transactions accepted, ${this.undone} steps undone`,
      ...OTHERS.map((what) => `${what}: ${this.count(what)}`),
      ...KINDS.map((kind) =>
        row(`${kind}, enacted / expired / dropped`, ["enacted", "expired", "dropped"].map((how) => `${how} ${kind}`))
      ),
      ...THRESHOLDS.map((name) =>
        row(`${name}, below / at / of these exactly`, ["below", "at", "exactly"].map((side) => `${side} ${name}`))
      ),
      ...FAILURES.map((name) => `${name}: ${this.count(`refused ${name}`)}`),
    ].join("\n");
  }
}

/** Whether one voter more or less would change the answer; `exact` where the share is the threshold itself. */
function nearest({ counted, threshold, isMet }: Requirement): "near" | "exact" | undefined {
  if (!threshold || threshold[0] === 0n) return undefined;
  if (isMet && isExact(counted, threshold)) return "exact";
  const { yes, all } = tally(counted);
  const [above, below] = threshold;
  const changing = counted.filter(({ vote }) => vote === (isMet ? "yes" : "no")).map(({ weight }) => weight);
  const most = changing.reduce((a, b) => a > b ? a : b, 0n);
  const changed = isMet ? yes - most : yes + most;
  return (changed * below >= above * all) === isMet ? undefined : "near";
}
