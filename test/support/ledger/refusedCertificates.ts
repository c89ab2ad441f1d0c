/** A transaction for each failure of the rules of certificates, withdrawals and governance. */
import { fromHex } from "#src/base/bytes.ts";
import type { FailureName } from "#src/cardano/failure.ts";
import { ada, alice, bob, type Draft, type World } from "./draft.ts";
import {
  all,
  both,
  certify,
  committee,
  elsewhere,
  GOV_DEPOSIT,
  type NotGiven,
  of,
  pool,
  poolCertificate,
  propose,
  type RefusedDraft,
  registerPool,
  treasury,
  votes,
  withdraw,
} from "./refusedDrafts.ts";

/** The action that `votes` vote on. */
const voted = { txHash: "00".repeat(32), index: 0 };

/** A vote of alice as a registered representative. */
function voteAsDRep(world: World): Draft {
  world.state.dreps.set(alice.account, { deposit: 500n * ada });
  return { fields: { 19: votes([2, fromHex(alice.stakeHash)]) }, keys: both };
}

export const refusedCertificates = {
  WithdrawalsNotInRewardsCERTS: {
    names: ["WithdrawalsNotInRewardsCERTS"],
    major: 10,
    draft: (world) => withdraw(world, alice.reward, 4n * ada),
  },
  IncorrectDepositDELEG: {
    names: ["IncorrectDepositDELEG"],
    major: 10,
    draft: (world) => certify(world, [[7, of(alice), 3n * ada]], -2n * ada),
  },
  DepositIncorrectDELEG: {
    names: ["DepositIncorrectDELEG"],
    draft: (world) => certify(world, [[7, of(alice), 3n * ada]], -2n * ada),
  },
  RefundIncorrectDELEG: {
    names: ["RefundIncorrectDELEG"],
    draft: (world) => {
      world.register(alice);
      return certify(world, [[8, of(alice), 3n * ada]], 2n * ada);
    },
  },
  StakeKeyRegisteredDELEG: {
    names: ["StakeKeyRegisteredDELEG"],
    draft: (world) => {
      world.register(alice);
      return certify(world, [[0, of(alice)]], -2n * ada);
    },
  },
  StakeKeyNotRegisteredDELEG: {
    names: ["StakeKeyNotRegisteredDELEG"],
    draft: (world) => certify(world, [[1, of(alice)]]),
  },
  StakeKeyHasNonZeroAccountBalanceDELEG: {
    names: ["StakeKeyHasNonZeroAccountBalanceDELEG"],
    draft: (world) => {
      world.register(alice, { balance: 1n });
      return certify(world, [[1, of(alice)]], 2n * ada);
    },
  },
  DelegateeStakePoolNotRegisteredDELEG: {
    names: ["DelegateeStakePoolNotRegisteredDELEG"],
    draft: (world) => {
      world.register(alice);
      return certify(world, [[2, of(alice), fromHex(pool)]]);
    },
  },
  DelegateeDRepNotRegisteredDELEG: {
    names: ["DelegateeDRepNotRegisteredDELEG"],
    draft: (world) => {
      world.register(alice);
      return certify(world, [[9, of(alice), [0, fromHex(bob.hash)]]]);
    },
  },
  StakePoolNotRegisteredOnKeyPOOL: {
    names: ["StakePoolNotRegisteredOnKeyPOOL"],
    draft: (world) => certify(world, [[4, fromHex(bob.stakeHash), 11]]),
  },
  StakePoolRetirementWrongEpochPOOL: {
    names: ["StakePoolRetirementWrongEpochPOOL"],
    draft: (world) => {
      world.state.pools.set(bob.stakeHash, { certificate: new Uint8Array(), deposit: 500n * ada });
      return certify(world, [[4, fromHex(bob.stakeHash), 29]]);
    },
  },
  StakePoolCostTooLowPOOL: {
    names: ["StakePoolCostTooLowPOOL"],
    draft: (world) => registerPool(world, { 4: 170n * ada - 1n }),
  },
  WrongNetworkPOOL: { names: ["WrongNetworkPOOL"], draft: (world) => registerPool(world, { 6: elsewhere }) },
  PoolMedataHashTooBig: {
    names: ["PoolMedataHashTooBig"],
    draft: (world) => registerPool(world, { 9: ["a", new Uint8Array(33)] }),
  },
  VRFKeyHashAlreadyRegistered: {
    names: ["VRFKeyHashAlreadyRegistered"],
    draft: (world) => certify(world, [poolCertificate(alice), poolCertificate(bob)], -1_000n * ada),
  },
  ConwayDRepAlreadyRegistered: {
    names: ["ConwayDRepAlreadyRegistered"],
    draft: (world) => {
      world.state.dreps.set(alice.account, { deposit: 500n * ada });
      return certify(world, [[16, of(alice), 500n * ada, null]], -500n * ada);
    },
  },
  ConwayDRepNotRegistered: {
    names: ["ConwayDRepNotRegistered"],
    draft: (world) => certify(world, [[17, of(alice), 500n * ada]]),
  },
  ConwayDRepIncorrectDeposit: {
    names: ["ConwayDRepIncorrectDeposit"],
    draft: (world) => certify(world, [[16, of(alice), 400n * ada, null]], -500n * ada),
  },
  ConwayDRepIncorrectRefund: {
    names: ["ConwayDRepIncorrectRefund"],
    draft: (world) => {
      world.state.dreps.set(alice.account, { deposit: 500n * ada });
      return certify(world, [[17, of(alice), 1n]], 500n * ada);
    },
  },
  ConwayCommitteeHasPreviouslyResigned: {
    names: ["ConwayCommitteeHasPreviouslyResigned"],
    draft: (world) => {
      world.state.committee.set(alice.account, { resigned: true });
      return certify(world, [[14, of(alice), of(bob)]]);
    },
  },
  ConwayCommitteeIsUnknown: {
    names: ["ConwayCommitteeIsUnknown"],
    draft: (world) => certify(world, [[14, of(alice), of(bob)]]),
  },

  ProposalDepositIncorrect: { names: ["ProposalDepositIncorrect"], draft: (world) => propose(world, [6], 1n) },
  ProposalProcedureNetworkIdMismatch: {
    names: ["ProposalProcedureNetworkIdMismatch"],
    draft: (world) => propose(world, [6], GOV_DEPOSIT, elsewhere),
  },
  ProposalReturnAccountDoesNotExist: {
    names: ["ProposalReturnAccountDoesNotExist"],
    draft: (world) => propose(world, [6], GOV_DEPOSIT, bob.reward),
  },
  TreasuryWithdrawalsNetworkIdMismatch: {
    names: ["TreasuryWithdrawalsNetworkIdMismatch"],
    draft: (world) => propose(world, treasury(elsewhere, 5n)),
  },
  TreasuryWithdrawalReturnAccountsDoNotExist: {
    names: ["TreasuryWithdrawalReturnAccountsDoNotExist"],
    draft: (world) => propose(world, treasury(bob.reward, 5n)),
  },
  ZeroTreasuryWithdrawals: {
    names: ["ZeroTreasuryWithdrawals"],
    draft: (world) => propose(world, treasury(alice.reward, 0n)),
  },
  ConflictingCommitteeUpdate: {
    names: ["ConflictingCommitteeUpdate"],
    draft: (world) => propose(world, committee([of(bob)], [[of(bob), 12]])),
  },
  ExpirationEpochTooSmall: {
    names: ["ExpirationEpochTooSmall"],
    draft: (world) => propose(world, committee([], [[of(bob), 10]])),
  },
  MalformedProposal: {
    names: ["MalformedProposal"],
    draft: (world) => propose(world, [0, null, new Map([[3, 0]]), null]),
  },
  VotersDoNotExist: {
    names: ["VotersDoNotExist"],
    draft: (world) => {
      world.propose(voted);
      return { fields: { 19: votes([2, fromHex(alice.stakeHash)]) }, keys: both };
    },
  },
  GovActionsDoNotExist: { names: ["GovActionsDoNotExist"], draft: voteAsDRep },
  DisallowedVoters: {
    names: ["DisallowedVoters"],
    draft: (world) => {
      world.propose(voted, [3, null]);
      world.state.committee.set(bob.account, { hot: alice.account, elected: true });
      return { fields: { 19: votes([0, fromHex(alice.stakeHash)]) }, keys: all };
    },
  },
  VotingOnExpiredGovAction: {
    names: ["VotingOnExpiredGovAction"],
    draft: (world) => {
      world.propose(voted);
      world.state.epoch += 7;
      return voteAsDRep(world);
    },
  },
  DisallowedVotesDuringBootstrap: {
    names: ["DisallowedVotesDuringBootstrap"],
    major: 9,
    draft: (world) => {
      world.propose(voted, [3, null]);
      return voteAsDRep(world);
    },
  },
  InvalidPrevGovActionId: {
    names: ["InvalidPrevGovActionId"],
    draft: (world) => propose(world, [1, [new Uint8Array(32), 0], [12, 0]]),
  },
  DisallowedProposalDuringBootstrap: {
    names: ["DisallowedProposalDuringBootstrap"],
    major: 9,
    draft: (world) => propose(world, treasury(alice.reward, 5n)),
  },
  ProposalCantFollow: { names: ["ProposalCantFollow"], draft: (world) => propose(world, [1, null, [11, 5]]) },
  InvalidGuardrailsScriptHash: {
    names: ["InvalidGuardrailsScriptHash", "MissingScriptWitnessesUTXOW"],
    draft: (world) => propose(world, [2, new Map([[alice.reward, 5n]]), fromHex(pool)]),
  },
  UnelectedCommitteeVoters: {
    names: ["UnelectedCommitteeVoters"],
    draft: (world) => {
      world.propose(voted);
      world.state.committee.set(bob.account, { hot: alice.account });
      return { fields: { 19: votes([0, fromHex(alice.stakeHash)]) }, keys: all };
    },
  },
} satisfies Partial<Record<FailureName, RefusedDraft | NotGiven>>;
