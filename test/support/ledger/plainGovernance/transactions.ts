/** What a transaction changes in the plain model, and why it is refused (rules LEDGER, CERTS and GOV). */
import { activeUntil, certify, type Fail, isBootstrap } from "./certificates.ts";
import {
  type Action,
  type Ballot,
  type Operation,
  type PlainState,
  previousOf,
  type ProposalDraft,
  purposeOf,
  whole,
} from "./types.ts";

/**
 * Changes the state by an operation with the id given, in a block or, submitted, in the mempool. Gives names of failures; where
 * there are any, the state is spoilt.
 */
export function applyOperation(
  state: PlainState,
  id: string,
  operation: Operation,
  { fee, isSubmitted }: { readonly fee: bigint; readonly isSubmitted: boolean },
): Set<string> {
  const failures = new Set<string>();
  const { certificates = [], proposals = [], votes = [], withdrawals = [], stake = [], donation = 0n } = operation;
  const fail = (name: string, isTrue: boolean) => void (isTrue && failures.add(name));
  for (const credential of withdrawals) {
    const account = state.accounts.get(credential);
    fail("ConwayWdrlNotDelegatedToDRep", state.version[0] >= 10 && credential.startsWith("k") && !account?.drep);
    fail(state.version[0] < 11 ? "WithdrawalsNotInRewardsCERTS" : "ConwayWithdrawalsMissingAccounts", !account);
  }
  keepActive(state, proposals.length > 0, votes);
  for (const credential of withdrawals) state.accounts.get(credential)!.balance = 0n;
  const future = futureMembers(state);
  for (const certificate of certificates) certify(state, certificate, future, fail);
  // votes see the actions of their own transaction, and proposals not each other's failures
  for (const [index, proposal] of proposals.entries()) propose(state, `${id}#${index}`, proposal, fail);
  castVotes(state, votes, isSubmitted, fail);
  for (const certificate of certificates) {
    if (certificate.kind !== "unregister drep") continue;
    for (const { votes } of state.proposals) votes.delete(`drep ${certificate.credential}`);
  }
  for (const { credential, lovelace } of stake) {
    state.outputs.set(credential, (state.outputs.get(credential) ?? 0n) + lovelace);
  }
  state.donations += donation;
  state.fees += fee;
  return failures;
}

/** A proposal ends dormant epochs: representatives count as much longer, unless they would have expired all the same. */
function keepActive(state: PlainState, proposes: boolean, votes: readonly Ballot[]): void {
  if (proposes) {
    for (const drep of state.dreps.values()) {
      if (drep.expiry + state.dormant >= state.epoch) drep.expiry += state.dormant;
    }
    state.dormant = 0;
  }
  for (const { role, voter } of votes) {
    const drep = role === "drep" ? state.dreps.get(voter) : undefined;
    if (drep) drep.expiry = activeUntil(state);
  }
}

/** Cold credentials that some action would elect. */
function futureMembers({ proposals }: PlainState): Set<string> {
  return new Set(proposals.flatMap(({ action }) => action.kind === "committee" ? [...action.added.keys()] : []));
}

const ofBootstrap = ({ kind }: Action) => kind === "parameters" || kind === "hard fork" || kind === "info";

function propose(state: PlainState, id: string, proposal: ProposalDraft, fail: Fail): void {
  const { deposit, account, action } = proposal;
  const isLater = !isBootstrap(state);
  const isUnknown = (credential: string) => !state.accounts.has(credential);
  fail("DisallowedProposalDuringBootstrap", !isLater && !ofBootstrap(action));
  fail("ProposalDepositIncorrect", deposit !== whole(state, "actionDeposit"));
  fail("ProposalReturnAccountDoesNotExist", isLater && isUnknown(account.credential));
  fail("ProposalProcedureNetworkIdMismatch", account.network !== state.network);
  switch (action.kind) {
    case "parameters":
      fail("MalformedProposal", !isWellFormed(action.changes, state.version[0]));
      fail("InvalidGuardrailsScriptHash", action.policy !== state.constitution.script);
      break;
    case "treasury": {
      const { payments } = action;
      fail("TreasuryWithdrawalsNetworkIdMismatch", payments.some((one) => one.account.network !== state.network));
      fail("InvalidGuardrailsScriptHash", action.policy !== state.constitution.script);
      const missing = payments.some((one) => isUnknown(one.account.credential));
      fail("TreasuryWithdrawalReturnAccountsDoNotExist", isLater && missing);
      fail("ZeroTreasuryWithdrawals", isLater && payments.every(({ lovelace }) => lovelace === 0n));
      break;
    }
    case "committee":
      fail("ConflictingCommitteeUpdate", action.removed.some((cold) => action.added.has(cold)));
      fail("ExpirationEpochTooSmall", [...action.added.values()].some((until) => until <= state.epoch));
  }
  follow(state, action, fail);
  const expiresAfter = state.epoch + Number(whole(state, "lifetime"));
  state.proposals.push({ ...proposal, id, proposedIn: state.epoch, expiresAfter, votes: new Map() });
  state.deposits += deposit;
}

/** An action follows the last enacted one of its purpose, or one that is voted on; versions are left out by none. */
function follow(state: PlainState, action: Action, fail: Fail): void {
  const purpose = purposeOf(action);
  if (purpose === undefined) return;
  const previous = previousOf(action);
  const isFirst = previous === state.roots[purpose];
  const before = state.proposals.find(({ id }) => id === previous)?.action;
  fail("InvalidPrevGovActionId", !isFirst && (!before || purposeOf(before) !== purpose));
  if (action.kind !== "hard fork") return;
  const from = isFirst ? state.version : before?.kind === "hard fork" ? before.version : undefined;
  if (!from) return;
  const [major, minor] = action.version;
  const isNext = (major === from[0] && minor === from[1] + 1) || (major === from[0] + 1 && minor === 0);
  fail("ProposalCantFollow", !isNext);
}

/** A change of nothing, or of a size, a time or a deposit to zero, is no proposal. */
function isWellFormed(changes: ReadonlyMap<number, unknown>, major: number): boolean {
  const notZero = [2, 3, 4, 6, 22, 23, 28, 29, 30, 31];
  if (major >= 10) notZero.push(17);
  if (major >= 11) notZero.push(8);
  return changes.size > 0 && !notZero.some((number) => changes.get(number) === 0n);
}

function castVotes(state: PlainState, votes: readonly Ballot[], isSubmitted: boolean, fail: Fail): void {
  const hot = new Set(state.hot.values());
  const elected = new Set([...state.committee?.members.keys() ?? []].map((cold) => state.hot.get(cold)));
  for (const { role, voter, action: id, vote } of votes) {
    const isUnelected = role === "committee" && !elected.has(voter);
    fail("UnelectedCommitteeVoters", isUnelected && state.version[0] >= 11);
    fail("ConwayMempoolFailure", isUnelected && state.version[0] < 11 && isSubmitted);
    const isKnown = role === "committee"
      ? hot.has(voter)
      : role === "drep"
      ? state.dreps.has(voter)
      : state.pools.has(voter);
    if (!isKnown) {
      // nothing else is said about the votes of a stranger
      fail("VotersDoNotExist", true);
      continue;
    }
    const proposal = state.proposals.find((one) => one.id === id);
    if (!proposal) {
      fail("GovActionsDoNotExist", true);
      continue;
    }
    const { action, expiresAfter } = proposal;
    const isEarly = role === "drep" ? action.kind !== "info" : !ofBootstrap(action);
    fail("DisallowedVotesDuringBootstrap", isBootstrap(state) && isEarly);
    fail("VotingOnExpiredGovAction", expiresAfter < state.epoch);
    fail("DisallowedVoters", !mayVote(role, action));
    proposal.votes.set(`${role} ${voter}`, vote);
  }
}

/** Parameters that matter for security: those of size, of fees for size, and the deposit of actions (CIP-1694). */
const SECURITY = [0, 1, 2, 3, 4, 17, 21, 22, 30, 33];

/** Whether a change is one of security, on which pools vote. */
export const isOfSecurity = (changes: ReadonlyMap<number, unknown>): boolean =>
  SECURITY.some((number) => changes.has(number));

/** Who votes on what (CIP-1694, "Ratification"). */
export function mayVote(role: Ballot["role"], action: Action): boolean {
  switch (action.kind) {
    case "no confidence":
    case "committee":
      return role !== "committee";
    case "hard fork":
    case "info":
      return true;
    case "parameters":
      return role !== "pool" || isOfSecurity(action.changes);
    case "constitution":
    case "treasury":
      return role !== "pool";
  }
}
