/** Rule GOV, as far as a proposal can be judged by itself: deposit, accounts, networks, terms. Votes and enactment are not kept. */
import type { Credential } from "#src/cardano/address.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { Action, Proposal } from "#src/cardano/conway/governance.ts";
import type { ParameterChanges } from "#src/cardano/conway/parameterChanges.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** Checks proposals and voters against the tables as the certificates left them; members proposed may answer for their seat from now on. */
export function checkGovernance(
  { proposals, voters }: Body,
  registry: Registry,
  terms: Pick<LedgerState, "parameters" | "network" | "epoch">,
): LedgerFailure[] {
  const failures = checkElected(voters, registry, terms);
  failures.push(...proposals.flatMap((proposal) => checkProposal(proposal, registry, terms)));
  for (const { action } of proposals) {
    for (const { member } of action.kind === "committee" ? action.added : []) {
      const key = credentialKey(member);
      if (!registry.committee.get(key)) registry.committee.set(key, {});
    }
  }
  const strangers = voters.filter(({ role, credential }) => {
    if (role === "pool") return !registry.pools.get(credential.hash);
    const key = credentialKey(credential);
    if (role === "drep") return !registry.dreps.get(key);
    return ![...registry.committee.entries()].some(([, { hot }]) => hot === key);
  });
  if (strangers.length > 0) {
    failures.push({
      name: "VotersDoNotExist",
      voters: strangers.map(({ role, credential }) => ({ ...credential, role })),
    });
  }
  return failures;
}

/** Only members of the enacted committee vote as such, from protocol version 11 on (ledger: `unelectedCommitteeVoters`). */
function checkElected(
  voters: Body["voters"],
  { committee }: Registry,
  { parameters }: Pick<LedgerState, "parameters">,
): LedgerFailure[] {
  if (parameters.protocolVersion.major < 11) return [];
  const elected = new Set([...committee.entries()].flatMap(([, { hot, elected }]) => elected && hot ? [hot] : []));
  const members = voters
    .filter(({ role, credential }) => role === "committee" && !elected.has(credentialKey(credential)))
    .map(({ credential }) => credential);
  return members.length === 0 ? [] : [{ name: "UnelectedCommitteeVoters", members }];
}

function checkProposal(
  { deposit, account, action }: Proposal,
  { accounts }: Registry,
  { parameters, network, epoch }: Pick<LedgerState, "parameters" | "network" | "epoch">,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const unknown = ({ credential }: RewardAccount) => !accounts.get(credentialKey(credential));
  const elsewhere = (of: RewardAccount) => of.network !== network;
  const expected = parameters.govActionDeposit;
  const { major } = parameters.protocolVersion;
  const afterBootstrap = major > 9;
  if (action.kind === "parameters" && !isWellFormed(action.changes, major)) {
    failures.push({ name: "MalformedProposal" });
  }
  if (afterBootstrap && unknown(account)) {
    failures.push({ name: "ProposalReturnAccountDoesNotExist", accounts: [account.hex] });
  }
  if (deposit !== expected) failures.push({ name: "ProposalDepositIncorrect", supplied: deposit, expected });
  if (elsewhere(account)) {
    failures.push({ name: "ProposalProcedureNetworkIdMismatch", expected: network, accounts: [account.hex] });
  }
  if (action.kind === "treasury") {
    const { payments } = action;
    const paid = payments.map(([of]) => of);
    const strange = paid.filter(elsewhere);
    if (strange.length > 0) {
      const hexes = strange.map(({ hex }) => hex);
      failures.push({ name: "TreasuryWithdrawalsNetworkIdMismatch", expected: network, accounts: hexes });
    }
    const missing = afterBootstrap ? paid.filter(unknown) : [];
    if (missing.length > 0) {
      failures.push({ name: "TreasuryWithdrawalReturnAccountsDoNotExist", accounts: missing.map(({ hex }) => hex) });
    }
    if (afterBootstrap && payments.every(([, amount]) => amount === 0n)) {
      failures.push({ name: "ZeroTreasuryWithdrawals" });
    }
  }
  if (action.kind === "committee") failures.push(...checkCommittee(action, epoch));
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
