/** Failures of CERTS, DELEG, POOL, GOVCERT and GOV: certificates, withdrawals, proposals, votes. */
import { asInt } from "#src/cardano/cbor.ts";
import { amount, type CborShape, count, listOf, maybe, record } from "#src/node/queries/shape.ts";
import { credential, hex, reference } from "#src/node/queries/vocabulary.ts";
import { customCodec, fieldsCodec, itemCodec } from "#src/node/rejections/failureCodec.ts";
import {
  accounts,
  cbor,
  integer,
  knownCbor,
  members,
  pair,
  required,
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

/** A list of one account: the failures that list accounts here are one failure per account on the wire. */
const oneAccount: CborShape<readonly string[]> = {
  read: (item, at) => [hex.read(item, at)],
  write: ([account], at) => required<string | undefined>(hex).write(account, at),
};

/** The governance action of a failure. */
const action: CborShape<{ readonly action?: string }> = {
  read: (item, at) => ({ action: cbor.read(item, at) }),
  write: (failure, at) => knownCbor.write(failure.action, at),
};

/** Every failure of these rules. Numbers and order of data are those of the ledger's encoders. */
export const governanceFailures = [
  fieldsCodec([...CERTS, 0], "WithdrawalsNotInRewardsCERTS", { withdrawals }),

  customCodec(
    [...DELEG, 1],
    "IncorrectDepositDELEG",
    1,
    (supplied) => ({ supplied: asInt(supplied) }),
    ({ supplied }) => [supplied],
  ),
  fieldsCodec([...DELEG, 2], "StakeKeyRegisteredDELEG", { credential }),
  fieldsCodec([...DELEG, 3], "StakeKeyNotRegisteredDELEG", { credential }),
  fieldsCodec([...DELEG, 4], "StakeKeyHasNonZeroAccountBalanceDELEG", { balance: amount }),
  fieldsCodec([...DELEG, 5], "DelegateeDRepNotRegisteredDELEG", { credential }),
  fieldsCodec([...DELEG, 6], "DelegateeStakePoolNotRegisteredDELEG", { pool: hex }),
  itemCodec([...DELEG, 7], "DepositIncorrectDELEG", pair(amount)),
  itemCodec([...DELEG, 8], "RefundIncorrectDELEG", pair(amount)),

  fieldsCodec([...POOL, 0], "StakePoolNotRegisteredOnKeyPOOL", { pool: hex }),
  fieldsCodec([...POOL, 1], "StakePoolRetirementWrongEpochPOOL", { after: count, supplied: amount, last: count }),
  fieldsCodec([...POOL, 3], "StakePoolCostTooLowPOOL", lovelace),
  fieldsCodec([...POOL, 4], "WrongNetworkPOOL", { expected: count, supplied: count, pool: hex }),
  fieldsCodec([...POOL, 5], "PoolMedataHashTooBig", { pool: hex, size: integer }),
  fieldsCodec([...POOL, 6], "VRFKeyHashAlreadyRegistered", { pool: hex, vrf: hex }),

  fieldsCodec([...GOVCERT, 0], "ConwayDRepAlreadyRegistered", { credential }),
  fieldsCodec([...GOVCERT, 1], "ConwayDRepNotRegistered", { credential }),
  fieldsCodec([...GOVCERT, 2], "ConwayDRepIncorrectDeposit", lovelace),
  fieldsCodec([...GOVCERT, 3], "ConwayCommitteeHasPreviouslyResigned", { credential }),
  fieldsCodec([...GOVCERT, 4], "ConwayDRepIncorrectRefund", lovelace),
  fieldsCodec([...GOVCERT, 5], "ConwayCommitteeIsUnknown", { credential }),

  fieldsCodec([...GOV, 0], "GovActionsDoNotExist", { actions: listOf(reference) }),
  itemCodec([...GOV, 1], "MalformedProposal", action),
  fieldsCodec([...GOV, 2], "ProposalProcedureNetworkIdMismatch", { accounts: oneAccount, expected: count }),
  fieldsCodec([...GOV, 3], "TreasuryWithdrawalsNetworkIdMismatch", { accounts, expected: count }),
  fieldsCodec([...GOV, 4], "ProposalDepositIncorrect", lovelace),
  fieldsCodec([...GOV, 5], "DisallowedVoters", { votes }),
  fieldsCodec([...GOV, 6], "ConflictingCommitteeUpdate", { members }),
  fieldsCodec([...GOV, 7], "ExpirationEpochTooSmall", { members: terms }),
  fieldsCodec([...GOV, 8], "InvalidPrevGovActionId", { proposal: cbor }),
  fieldsCodec([...GOV, 9], "VotingOnExpiredGovAction", { votes }),
  fieldsCodec([...GOV, 10], "ProposalCantFollow", {
    previous: maybe(reference),
    supplied: protocolVersion,
    expected: protocolVersion,
  }),
  fieldsCodec([...GOV, 11], "InvalidGuardrailsScriptHash", { supplied: maybeHash, expected: maybeHash }),
  fieldsCodec([...GOV, 12], "DisallowedProposalDuringBootstrap", { proposal: cbor }),
  fieldsCodec([...GOV, 13], "DisallowedVotesDuringBootstrap", { votes }),
  fieldsCodec([...GOV, 14], "VotersDoNotExist", { voters: listOf(voter) }),
  itemCodec([...GOV, 15], "ZeroTreasuryWithdrawals", action),
  fieldsCodec([...GOV, 16], "ProposalReturnAccountDoesNotExist", { accounts: oneAccount }),
  fieldsCodec([...GOV, 17], "TreasuryWithdrawalReturnAccountsDoNotExist", { accounts: listOf(hex) }),
  fieldsCodec([...GOV, 18], "UnelectedCommitteeVoters", { members: listOf(credential) }),
];
