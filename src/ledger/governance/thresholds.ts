/** Who votes on which action, and how much of them has to agree (CIP-1694; ledger: `VotingThreshold`). */
import type { Action, Voter } from "#src/cardano/conway/governance.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { greater, zero } from "#src/ledger/epoch/ratio.ts";
import {
  changesSecurity,
  groupsOf,
  type ParameterGroup,
  protocolParameters,
} from "#src/ledger/governance/parameters.ts";
import type { Governance } from "#src/ledger/governance/types.ts";
import type { CommitteeMember, View } from "#src/ledger/state.ts";

/** `none`: these voters have no say, so that it passes without them; `never`: it cannot pass. */
export type Threshold = Ratio | "none" | "never";

/** What thresholds depend on. */
export interface ThresholdTerms {
  readonly parameters: Parameters;
  readonly governance: Governance;
  readonly committee: View<CommitteeMember>;
  readonly epoch: number;
}

/** Protocol version 9 is the bootstrap: representatives do not decide yet, and few actions are allowed. */
export function isBootstrap({ protocolVersion: { major } }: Parameters): boolean {
  return major === 9;
}

/** Actions that protocol version 9 allows. */
export const isOfBootstrap = ({ kind }: Action): boolean =>
  kind === "parameters" || kind === "hard fork" || kind === "info";

/** During the bootstrap representatives vote on information alone, the others on what is allowed. */
export function votesInBootstrap(role: Voter["role"], action: Action): boolean {
  return role === "drep" ? action.kind === "info" : isOfBootstrap(action);
}

/** Whether voters of a role have a say on an action (ledger: `DisallowedVoters`). */
export function hasSay(role: Voter["role"], action: Action, terms: ThresholdTerms): boolean {
  if (role === "committee") return action.kind !== "no confidence" && action.kind !== "committee";
  return role === "drep" || poolThreshold(action, terms) !== "none";
}

/** Whether an elected member's term runs, and it votes through a hot credential. */
export function isActive(
  member: CommitteeMember,
  epoch: number,
): member is CommitteeMember & { readonly hot: string } {
  const { elected, hot, resigned, until = Infinity } = member;
  return elected === true && !resigned && hot !== undefined && epoch <= until;
}

/** The share of the committee that has to agree. */
export function committeeThreshold(action: Action, terms: ThresholdTerms): Threshold {
  const { governance: { quorum }, committee, epoch, parameters } = terms;
  if (action.kind === "no confidence" || action.kind === "committee") return "none";
  if (action.kind === "info" || quorum === undefined) return "never";
  const active = [...committee.entries()].filter(([, member]) => isActive(member, epoch)).length;
  const { committeeMinSize } = protocolParameters(parameters);
  return isBootstrap(parameters) || active >= committeeMinSize ? quorum : "never";
}

/** The share of the stake of pools that has to agree. */
export function poolThreshold(action: Action, { parameters, governance: { quorum } }: ThresholdTerms): Threshold {
  const { poolThresholds } = protocolParameters(parameters);
  switch (action.kind) {
    case "no confidence":
      return poolThresholds.noConfidence;
    case "committee":
      return quorum === undefined ? poolThresholds.committeeNoConfidence : poolThresholds.committee;
    case "hard fork":
      return poolThresholds.hardFork;
    case "parameters":
      return changesSecurity(action.changes) ? poolThresholds.securityParameters : "none";
    case "info":
      return "never";
    default:
      return "none";
  }
}

const GROUPS = {
  network: "networkParameters",
  economic: "economicParameters",
  technical: "technicalParameters",
  governance: "governanceParameters",
} as const satisfies Record<ParameterGroup, string>;

/** The share of the stake of representatives that has to agree; during the bootstrap none has to. */
export function drepThreshold(action: Action, { parameters, governance: { quorum } }: ThresholdTerms): Threshold {
  if (action.kind === "info") return "never";
  if (isBootstrap(parameters)) return zero;
  const { drepThresholds } = protocolParameters(parameters);
  switch (action.kind) {
    case "no confidence":
      return drepThresholds.noConfidence;
    case "committee":
      return quorum === undefined ? drepThresholds.committeeNoConfidence : drepThresholds.committee;
    case "constitution":
      return drepThresholds.constitution;
    case "hard fork":
      return drepThresholds.hardFork;
    case "treasury":
      return drepThresholds.treasuryWithdrawal;
    case "parameters":
      return [...groupsOf(action.changes)].map((group) => drepThresholds[GROUPS[group]]).reduce(greater, zero);
  }
}
