/** Failures of CERTS, DELEG, POOL and GOVCERT, and of GOV: certificates, withdrawals, proposals, votes. */
import { asInt, type Item } from "#src/cardano/cbor.ts";
import { amount, count, listOf, maybe, record } from "#src/node/queries/shape.ts";
import { credential, hex, reference } from "#src/node/queries/vocabulary.ts";
import { AT, cborHex, leaf, only, special } from "#src/node/rejections/leaf.ts";
import {
  accounts,
  cbor,
  integer,
  members,
  pair,
  terms,
  voter,
  votes,
  withdrawals,
} from "#src/node/rejections/shapes.ts";

const CERTS = [2];
const DELEG = [2, 1, 1];
const POOL = [2, 1, 2];
const GOVCERT = [2, 1, 3];
const GOV = [3];

const maybeHash = maybe(hex);
const lovelace = { supplied: amount, expected: amount };
const protocolVersion = record<{ readonly major: number; readonly minor: number }>({ major: count, minor: count });

/** Accounts of which each is a failure of its own on the wire. */
const oneAccount = {
  read: (item: Item) => ({ accounts: [hex.read(item, AT)] }),
  write: ([account]: readonly string[]) => (account === undefined ? undefined : hex.write(account, AT)),
};

/** Every failure of these rules. Numbers and the order of data are those of the ledger's encoders. */
export const governanceLeaves = [
  leaf([...CERTS, 0], "WithdrawalsNotInRewardsCERTS", { withdrawals }),

  special(
    [...DELEG, 1],
    "IncorrectDepositDELEG",
    1,
    (supplied) => ({ supplied: asInt(supplied) }),
    ({ supplied }) => [supplied],
  ),
  leaf([...DELEG, 2], "StakeKeyRegisteredDELEG", { credential }),
  leaf([...DELEG, 3], "StakeKeyNotRegisteredDELEG", { credential }),
  leaf([...DELEG, 4], "StakeKeyHasNonZeroAccountBalanceDELEG", { balance: amount }),
  leaf([...DELEG, 5], "DelegateeDRepNotRegisteredDELEG", { credential }),
  leaf([...DELEG, 6], "DelegateeStakePoolNotRegisteredDELEG", { pool: hex }),
  special(
    [...DELEG, 7],
    "DepositIncorrectDELEG",
    1,
    (item) => pair(amount).read(item, AT),
    (failure) => [pair(amount).write(failure, AT)],
  ),
  special(
    [...DELEG, 8],
    "RefundIncorrectDELEG",
    1,
    (item) => pair(amount).read(item, AT),
    (failure) => [pair(amount).write(failure, AT)],
  ),

  leaf([...POOL, 0], "StakePoolNotRegisteredOnKeyPOOL", { pool: hex }),
  leaf([...POOL, 1], "StakePoolRetirementWrongEpochPOOL", { after: count, supplied: amount, last: count }),
  leaf([...POOL, 3], "StakePoolCostTooLowPOOL", lovelace),
  leaf([...POOL, 4], "WrongNetworkPOOL", { expected: count, supplied: count, pool: hex }),
  leaf([...POOL, 5], "PoolMedataHashTooBig", { pool: hex, size: integer }),
  leaf([...POOL, 6], "VRFKeyHashAlreadyRegistered", { pool: hex, vrf: hex }),

  leaf([...GOVCERT, 0], "ConwayDRepAlreadyRegistered", { credential }),
  leaf([...GOVCERT, 1], "ConwayDRepNotRegistered", { credential }),
  leaf([...GOVCERT, 2], "ConwayDRepIncorrectDeposit", lovelace),
  leaf([...GOVCERT, 3], "ConwayCommitteeHasPreviouslyResigned", { credential }),
  leaf([...GOVCERT, 4], "ConwayDRepIncorrectRefund", lovelace),
  leaf([...GOVCERT, 5], "ConwayCommitteeIsUnknown", { credential }),

  leaf([...GOV, 0], "GovActionsDoNotExist", { actions: listOf(reference) }),
  special(
    [...GOV, 1],
    "MalformedProposal",
    1,
    (action) => ({ action: cborHex(action!) }),
    ({ action }) => only(action === undefined ? undefined : cbor.write(action, AT)),
  ),
  special(
    [...GOV, 2],
    "ProposalProcedureNetworkIdMismatch",
    2,
    (account, expected) => ({ ...oneAccount.read(account!), expected: count.read(expected, AT) }),
    ({ accounts, expected }) => {
      const account = oneAccount.write(accounts);
      return account === undefined ? undefined : [account, expected];
    },
  ),
  leaf([...GOV, 3], "TreasuryWithdrawalsNetworkIdMismatch", { accounts, expected: count }),
  leaf([...GOV, 4], "ProposalDepositIncorrect", lovelace),
  leaf([...GOV, 5], "DisallowedVoters", { votes }),
  leaf([...GOV, 6], "ConflictingCommitteeUpdate", { members }),
  leaf([...GOV, 7], "ExpirationEpochTooSmall", { members: terms }),
  leaf([...GOV, 8], "InvalidPrevGovActionId", { proposal: cbor }),
  leaf([...GOV, 9], "VotingOnExpiredGovAction", { votes }),
  leaf([...GOV, 10], "ProposalCantFollow", {
    previous: maybe(reference),
    supplied: protocolVersion,
    expected: protocolVersion,
  }),
  leaf([...GOV, 11], "InvalidGuardrailsScriptHash", { supplied: maybeHash, expected: maybeHash }),
  leaf([...GOV, 12], "DisallowedProposalDuringBootstrap", { proposal: cbor }),
  leaf([...GOV, 13], "DisallowedVotesDuringBootstrap", { votes }),
  leaf([...GOV, 14], "VotersDoNotExist", { voters: listOf(voter) }),
  special(
    [...GOV, 15],
    "ZeroTreasuryWithdrawals",
    1,
    (action) => ({ action: cborHex(action!) }),
    ({ action }) => only(action === undefined ? undefined : cbor.write(action, AT)),
  ),
  special(
    [...GOV, 16],
    "ProposalReturnAccountDoesNotExist",
    1,
    (account) => oneAccount.read(account!),
    ({ accounts }) => only(oneAccount.write(accounts)),
  ),
  leaf([...GOV, 17], "TreasuryWithdrawalReturnAccountsDoNotExist", { accounts: listOf(hex) }),
  leaf([...GOV, 18], "UnelectedCommitteeVoters", { members: listOf(credential) }),
];
