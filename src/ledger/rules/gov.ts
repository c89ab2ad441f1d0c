/** Rule GOV: proposals, then votes, on the tables as the certificates left them. */
import { toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { as, decodeAll, raw } from "#src/cardano/cbor.ts";
import type { LedgerFailure, Votes } from "#src/cardano/failure.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { Action, ActionId, Proposal } from "#src/cardano/conway/governance.ts";
import type { ParameterChanges } from "#src/cardano/conway/parameterChanges.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import {
  actionKey,
  GOVERNANCE,
  governanceOf,
  previousOf,
  proposalOf,
  purposeOf,
  voteKey,
  voterKey,
} from "#src/ledger/governance/actions.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { hasSay, isBootstrap, isOfBootstrap, votesInBootstrap } from "#src/ledger/governance/thresholds.ts";
import type { Proposed } from "#src/ledger/governance/types.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** What governance is judged by, besides the tables. */
type Terms = Pick<LedgerState, "parameters" | "network" | "epoch">;

/** Applies the proposals and the votes of a transaction, whose id it needs, to the tables; gives their failures. */
export function applyGovernance(txHash: string, body: Body, registry: Registry, terms: Terms): LedgerFailure[] {
  const failures = body.proposals.flatMap((proposal, index) => [
    ...checkProposal(proposal, registry, terms),
    ...propose(actionKey({ txHash, index }), proposal, registry, terms),
  ]);
  const isKnown = knownVoters(registry);
  failures.push(
    ...checkElected(body.voters, registry, terms),
    ...checkVoters(body.voters.filter((voter) => !isKnown(voter))),
    // the ledger says nothing else about the votes of a stranger
    ...checkVotes(body.voters.filter(isKnown), registry, terms),
  );
  for (const voter of body.voters) {
    for (const { action, vote } of voter.votes) registry.votes.set(voteKey(actionKey(action), voterKey(voter)), vote);
  }
  dropVotes(body, registry);
  return failures;
}

/** Adds an action to those that are voted on. Members that it proposes may answer for their seat from now on. */
function propose(key: string, proposal: Proposal, registry: Registry, { parameters, epoch }: Terms): LedgerFailure[] {
  const { action } = proposal;
  const failures = checkChain(proposal, registry, parameters.protocolVersion);
  const governance = governanceOf(registry);
  const expiresAfter = epoch + protocolParameters(parameters).govActionLifetime;
  registry.proposals.set(key, { cbor: proposal.cbor.slice(), order: governance.next, proposedIn: epoch, expiresAfter });
  registry.governance.set(GOVERNANCE, { ...governance, next: governance.next + 1 });
  for (const { member } of action.kind === "committee" ? action.added : []) {
    const cold = credentialKey(member);
    if (!registry.committee.get(cold)) registry.committee.set(cold, {});
  }
  return failures;
}

/** An action follows the last enacted one of its purpose, or one that is voted on; a hard fork by one version. */
function checkChain(
  { action, cbor }: Proposal,
  registry: Registry,
  current: { readonly major: number; readonly minor: number },
): LedgerFailure[] {
  const purpose = purposeOf(action);
  const previous = previousOf(action);
  if (purpose === undefined) return [];
  const last = governanceOf(registry).enacted[purpose];
  const before = previous === undefined ? undefined : actionIn(registry.proposals.get(previous));
  if (previous !== last && (before === undefined || purposeOf(before) !== purpose)) {
    return [{ name: "InvalidPrevGovActionId", proposal: toHex(cbor) }];
  }
  if (action.kind !== "hard fork") return [];
  const versionOf = ({ major, minor }: Extract<Action, { kind: "hard fork" }>["version"]) => ({
    major: Number(major),
    minor: Number(minor),
  });
  const expected = previous !== last && before?.kind === "hard fork" ? versionOf(before.version) : current;
  const supplied = versionOf(action.version);
  const follows = supplied.major === expected.major
    ? supplied.minor === expected.minor + 1
    : supplied.major === expected.major + 1 && supplied.minor === 0;
  return follows ? [] : [{ name: "ProposalCantFollow", previous: action.previous, supplied, expected }];
}

const actionIn = (proposed: Proposed | undefined) => proposed && proposalOf(proposed).action;

/** Tells whether a voter is registered, a committee member by a hot credential. */
function knownVoters({ committee, dreps, pools }: Registry): (voter: Body["voters"][number]) => boolean {
  const hot = new Set([...committee.entries()].map(([, member]) => member.hot));
  return ({ role, credential }) => {
    if (role === "pool") return pools.get(credential.hash) !== undefined;
    return role === "drep" ? dreps.get(credentialKey(credential)) !== undefined : hot.has(credentialKey(credential));
  };
}

function checkVoters(strangers: Body["voters"]): LedgerFailure[] {
  if (strangers.length === 0) return [];
  return [{ name: "VotersDoNotExist", voters: strangers.map(({ role, credential }) => ({ ...credential, role })) }];
}

/** Votes have to be on actions that are voted on, whose time is not over, and on which these voters have a say. */
function checkVotes(voters: Body["voters"], registry: Registry, { parameters, epoch }: Terms): LedgerFailure[] {
  const unknown: ActionId[] = [];
  const early: VoteList = [];
  const late: VoteList = [];
  const disallowed: VoteList = [];
  const governance = governanceOf(registry);
  const terms = { parameters, governance, committee: registry.committee, epoch };
  for (const { role, credential, votes } of voters) {
    for (const { action: id } of votes) {
      const proposed = registry.proposals.get(actionKey(id));
      if (!proposed) {
        unknown.push(id);
        continue;
      }
      const { action } = proposalOf(proposed);
      const vote = { voter: { ...credential, role }, action: id };
      if (isBootstrap(parameters) && !votesInBootstrap(role, action)) early.push(vote);
      if (proposed.expiresAfter < epoch) late.push(vote);
      if (!hasSay(role, action, terms)) disallowed.push(vote);
    }
  }
  return [
    ...(unknown.length > 0 ? [{ name: "GovActionsDoNotExist", actions: unknown } as const] : []),
    ...(early.length > 0 ? [{ name: "DisallowedVotesDuringBootstrap", votes: early } as const] : []),
    ...(late.length > 0 ? [{ name: "VotingOnExpiredGovAction", votes: late } as const] : []),
    ...(disallowed.length > 0 ? [{ name: "DisallowedVoters", votes: disallowed } as const] : []),
  ];
}

type VoteList = Votes["votes"][number][];

/** The votes of a representative end with its registration. */
function dropVotes({ certificates }: Body, { votes }: Registry): void {
  const gone = new Set(
    certificates.flatMap((certificate) =>
      certificate.kind === "unregister drep" ? [voterKey({ role: "drep", credential: certificate.credential })] : []
    ),
  );
  if (gone.size === 0) return;
  for (const [key] of [...votes.entries()]) if (gone.has(key.slice(key.indexOf(" ") + 1))) votes.delete(key);
}

/** Only members of the enacted committee vote as such, from protocol version 11 on (ledger: `unelectedCommitteeVoters`). */
function checkElected(
  voters: Body["voters"],
  { committee }: Registry,
  { parameters }: Pick<LedgerState, "parameters">,
): LedgerFailure[] {
  if (parameters.protocolVersion.major < 11) return [];
  const members = unelectedVoters(voters, committee);
  return members.length === 0 ? [] : [{ name: "UnelectedCommitteeVoters", members }];
}

/** Hot credentials of voters that vote for no member of the enacted committee, in the ledger's order. */
export function unelectedVoters(voters: Body["voters"], committee: LedgerState["committee"]): Credential[] {
  const elected = new Set([...committee.entries()].flatMap(([, { hot, elected }]) => elected && hot ? [hot] : []));
  return voters
    .filter(({ role, credential }) => role === "committee" && !elected.has(credentialKey(credential)))
    .map(({ credential }) => credential);
}

function checkProposal(
  { deposit, account, action, cbor }: Proposal,
  registry: Registry,
  { parameters, network, epoch }: Terms,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const { accounts } = registry;
  const unknown = ({ credential }: RewardAccount) => !accounts.get(credentialKey(credential));
  const elsewhere = (of: RewardAccount) => of.network !== network;
  const expected = parameters.govActionDeposit;
  const afterBootstrap = !isBootstrap(parameters);
  if (!afterBootstrap && !isOfBootstrap(action)) {
    failures.push({ name: "DisallowedProposalDuringBootstrap", proposal: toHex(cbor) });
  }
  if (action.kind === "parameters" && !isWellFormed(action.changes, parameters.protocolVersion.major)) {
    failures.push({ name: "MalformedProposal", ...refusedAction(cbor) });
  }
  if (afterBootstrap && unknown(account)) {
    failures.push({ name: "ProposalReturnAccountDoesNotExist", accounts: [account.hex] });
  }
  if (deposit !== expected) failures.push({ name: "ProposalDepositIncorrect", supplied: deposit, expected });
  if (elsewhere(account)) {
    failures.push({ name: "ProposalProcedureNetworkIdMismatch", expected: network, accounts: [account.hex] });
  }
  if (action.kind === "treasury" || action.kind === "parameters") {
    const { constitution: { script } } = governanceOf(registry);
    if (action.policy !== script) {
      failures.push({ name: "InvalidGuardrailsScriptHash", supplied: action.policy, expected: script });
    }
  }
  if (action.kind === "treasury") {
    failures.push(...checkPayments(action, { cbor, elsewhere, unknown, network, afterBootstrap }));
  }
  if (action.kind === "committee") failures.push(...checkCommittee(action, epoch));
  return failures;
}

/** The action of a proposal, both as CBOR. */
function refusedAction(proposal: Uint8Array): { readonly action?: string } {
  const [, , action] = as(decodeAll(proposal), "array").value;
  return action ? { action: toHex(raw(action)) } : {};
}

function checkPayments(
  { payments }: Extract<Action, { kind: "treasury" }>,
  { cbor, elsewhere, unknown, network, afterBootstrap }: {
    readonly cbor: Uint8Array;
    readonly elsewhere: (of: RewardAccount) => boolean;
    readonly unknown: (of: RewardAccount) => boolean;
    readonly network: number;
    readonly afterBootstrap: boolean;
  },
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const paid = payments.map(([of]) => of);
  const strange = paid.filter(elsewhere).map(({ hex }) => hex);
  const missing = afterBootstrap ? paid.filter(unknown).map(({ hex }) => hex) : [];
  if (strange.length > 0) {
    failures.push({ name: "TreasuryWithdrawalsNetworkIdMismatch", expected: network, accounts: strange });
  }
  if (missing.length > 0) failures.push({ name: "TreasuryWithdrawalReturnAccountsDoNotExist", accounts: missing });
  if (afterBootstrap && payments.every(([, amount]) => amount === 0n)) {
    failures.push({ name: "ZeroTreasuryWithdrawals", ...refusedAction(cbor) });
  }
  return failures;
}

/** Numbers of parameters in the grammar, which no proposal may set to 0; two of them from a protocol version on. */
const NOT_ZERO = [2, 3, 4, 6, 22, 23, 28, 29, 30, 31];
const COINS_PER_BYTE = 17;
const DESIRED_POOLS = 8;

/** Whether parameters may be proposed (ledger: `ppuWellFormed`). */
function isWellFormed(changes: ParameterChanges, major: number): boolean {
  const positive = [...NOT_ZERO, ...(major > 9 ? [COINS_PER_BYTE] : []), ...(major > 10 ? [DESIRED_POOLS] : [])];
  return changes.size > 0 && positive.every((number) => changes.get(number) !== 0n);
}

function checkCommittee({ removed, added }: Extract<Action, { kind: "committee" }>, epoch: number): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const gone = new Set(removed.map(credentialKey));
  const both = added.map(({ member }) => member).filter((member: Credential) => gone.has(credentialKey(member)));
  if (both.length > 0) failures.push({ name: "ConflictingCommitteeUpdate", members: both });
  const over = added.filter(({ until }) => until <= BigInt(epoch))
    .map(({ member, until }) => ({ ...member, epoch: until }));
  if (over.length > 0) failures.push({ name: "ExpirationEpochTooSmall", members: over });
  return failures;
}
