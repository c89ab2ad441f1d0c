/** Failures of CERTS, DELEG, POOL, GOVCERT and GOV: certificates, withdrawals, proposals, votes. */
import { asInt, type Item } from "#src/cardano/cbor.ts";
import { amount, count, listOf, maybe, record } from "#src/node/queries/shape.ts";
import { credential, hex, reference } from "#src/node/queries/vocabulary.ts";
import { cborHex, customCodec, fieldsCodec, SHAPE_CONTEXT, singleField } from "#src/node/rejections/failureCodec.ts";
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

/** Failures that list accounts and have one failure per account on the wire. */
const oneAccount = {
  read: (item: Item) => ({ accounts: [hex.read(item, SHAPE_CONTEXT)] }),
  write: ([account]: readonly string[]) => (account === undefined ? undefined : hex.write(account, SHAPE_CONTEXT)),
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
  customCodec(
    [...DELEG, 7],
    "DepositIncorrectDELEG",
    1,
    (item) => pair(amount).read(item, SHAPE_CONTEXT),
    (failure) => [pair(amount).write(failure, SHAPE_CONTEXT)],
  ),
  customCodec(
    [...DELEG, 8],
    "RefundIncorrectDELEG",
    1,
    (item) => pair(amount).read(item, SHAPE_CONTEXT),
    (failure) => [pair(amount).write(failure, SHAPE_CONTEXT)],
  ),

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
  customCodec(
    [...GOV, 1],
    "MalformedProposal",
    1,
    (action) => ({ action: cborHex(action!) }),
    ({ action }) => singleField(action === undefined ? undefined : cbor.write(action, SHAPE_CONTEXT)),
  ),
  customCodec(
    [...GOV, 2],
    "ProposalProcedureNetworkIdMismatch",
    2,
    (account, expected) => ({ ...oneAccount.read(account!), expected: count.read(expected, SHAPE_CONTEXT) }),
    ({ accounts, expected }) => {
      const account = oneAccount.write(accounts);
      return account === undefined ? undefined : [account, expected];
    },
  ),
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
  customCodec(
    [...GOV, 15],
    "ZeroTreasuryWithdrawals",
    1,
    (action) => ({ action: cborHex(action!) }),
    ({ action }) => singleField(action === undefined ? undefined : cbor.write(action, SHAPE_CONTEXT)),
  ),
  customCodec(
    [...GOV, 16],
    "ProposalReturnAccountDoesNotExist",
    1,
    (account) => oneAccount.read(account!),
    ({ accounts }) => singleField(oneAccount.write(accounts)),
  ),
  fieldsCodec([...GOV, 17], "TreasuryWithdrawalReturnAccountsDoNotExist", { accounts: listOf(hex) }),
  fieldsCodec([...GOV, 18], "UnelectedCommitteeVoters", { members: listOf(credential) }),
];
