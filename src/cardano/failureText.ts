/** Failures of the ledger in sentences for a person. */
import type { Credential } from "#src/cardano/address.ts";
import type {
  CollectError,
  FailureName,
  FailureOf,
  OutputAt,
  ProtocolVersion,
  RedeemerTarget,
  Voter,
  Votes,
  Withdrawals,
} from "#src/cardano/failure.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { Value } from "#src/cardano/value.ts";

/** A failure of one of several names, in a form by which the compiler finds the sentence for it. */
type Named<Name extends FailureName> = { [N in Name]: FailureOf<N> }[Name];

/** A sentence for a person. */
export function describeFailure<Name extends FailureName>(failure: Named<Name>): string {
  const sentence: (failure: Named<Name>) => string = sentences[failure.name];
  return sentence(failure);
}

const list = (items: readonly string[]) => items.join(", ");
const refs = (inputs: readonly OutRef[]) => list(inputs.map(refKey));
const pointers = (redeemers: readonly RedeemerTarget[]) =>
  list(redeemers.map((r) => `${r.purpose} ${r.index ?? r.item ?? ""}`.trim()));
/** "0", or where only the output itself is known, "(CBOR)". */
const place = ({ index, output }: OutputAt) => (index === undefined ? `(${output ?? "unknown"})` : String(index));
const voters = (voters: readonly Voter[]) => list(voters.map((v) => (v.role ? `${v.role} ${who(v)}` : who(v))));
const votes = (all: Votes["votes"]) => list(all.map(({ voter, action }) => `${voters([voter])} on ${refKey(action)}`));
const version = ({ major, minor }: ProtocolVersion) => `${major}.${minor}`;
const who = ({ kind, hash }: Credential) => `${kind} ${hash}`;
const members = (credentials: readonly Credential[]) => list(credentials.map(who));
const network = (id: number) => (id === 1 ? "mainnet" : "a test network");
const units = ({ memory, steps }: Units) => `${memory} memory and ${steps} steps`;
const holding = ({ lovelace, assets }: Value) =>
  list([`${lovelace} lovelace`, ...[...assets].map(([asset, quantity]) => `${quantity} of ${asset}`)]);

/** A node does not report an account's balance; a missing value here says nothing about the account. */
const wrongWithdrawals = ({ withdrawals }: Withdrawals, otherwise: string) =>
  list(
    withdrawals.map(({ account, supplied, expected }) =>
      expected === undefined
        ? `The account ${account} ${otherwise.replace("#", String(supplied))}`
        : `The account ${account} holds ${expected} lovelace, not ${supplied}`
    ),
  ) + ".";

function collectError(error: CollectError): string {
  switch (error.kind) {
    case "NoCostModel":
      return `There is no cost model for Plutus V${error.language}`;
    case "BadTranslation":
      return `${
        error.language ? `Plutus V${error.language}` : "A Plutus script"
      } cannot run in this transaction (${error.reason})`;
    case "NoRedeemer":
      return `A redeemer is missing: ${pointers([error])}`;
    case "NoWitness":
      return `A script is missing: ${error.script}`;
  }
}

const sentences: { readonly [Name in FailureName]: (failure: FailureOf<Name>) => string } = {
  DeserialiseFailure: ({ message }) => message,
  EraMismatch: ({ transaction, ledger }) =>
    `The transaction is for the era ${transaction}, and the ledger is in the era ${ledger}.`,
  EarlierEraFailure: ({ era, failure }) => `The ledger of the era ${era} rejects the transaction: ${failure}.`,
  UnknownFailure: ({ rule, cbor }) =>
    `The node rejects the transaction for a reason unknown to this program (${rule}: ${cbor}).`,
  ConwayTreasuryValueMismatch: ({ supplied, expected }) =>
    `The transaction says that the treasury holds ${supplied} lovelace, but it holds ${expected}.`,
  ConwayTxRefScriptsSizeTooBig: ({ supplied, expected }) =>
    `The reference scripts have ${supplied} bytes together, more than the ${expected} that a transaction may refer to.`,
  ConwayWdrlNotDelegatedToDRep: ({ keys }) =>
    `Rewards can be withdrawn only after the vote was delegated; these stake keys have not done so: ${list(keys)}.`,
  ConwayWithdrawalsMissingAccounts: (failure) => wrongWithdrawals(failure, "is not registered"),
  ConwayIncompleteWithdrawals: (failure) => wrongWithdrawals(failure, "does not hold exactly # lovelace"),
  ConwayMempoolFailure: ({ message }) => `The node's mempool rejects the transaction: ${message.replace(/\.?$/, ".")}`,
  InvalidWitnessesUTXOW: ({ keys }) => `These keys have not signed this transaction, though it says so: ${list(keys)}.`,
  MissingVKeyWitnessesUTXOW: ({ keys }) => `Signatures are missing of the keys with these hashes: ${list(keys)}.`,
  MissingScriptWitnessesUTXOW: ({ scripts }) => `Scripts are missing: ${list(scripts)}.`,
  ExtraneousScriptWitnessesUTXOW: ({ scripts }) => `Scripts are given that nothing needs: ${list(scripts)}.`,
  ScriptWitnessNotValidatingUTXOW: ({ scripts }) => `Native scripts do not agree: ${list(scripts)}.`,
  MalformedScriptWitnesses: ({ scripts }) => `Scripts are no Plutus programs: ${list(scripts)}.`,
  MalformedReferenceScripts: ({ scripts }) => `Scripts in outputs are no Plutus programs: ${list(scripts)}.`,
  MissingTxBodyMetadataHash: ({ hash }) => `There is auxiliary data (${hash}), but the body does not state its hash.`,
  MissingTxMetadata: ({ hash }) => `The body states the hash of auxiliary data (${hash}), but there is none.`,
  ConflictingMetadataHash: ({ supplied, expected }) =>
    `The body states ${supplied} as the hash of the auxiliary data, which is ${expected}.`,
  InvalidMetadata: () => "Metadata holds a text or bytes of more than 64 bytes, or a malformed script.",
  MissingRedeemers: ({ redeemers }) => `Redeemers are missing: ${pointers(redeemers)}.`,
  ExtraRedeemers: ({ redeemers }) => `Redeemers are given that nothing needs: ${pointers(redeemers)}.`,
  MissingRequiredDatums: ({ missing }) => `Datums of inputs are missing: ${list(missing)}.`,
  NotAllowedSupplementalDatums: ({ unallowed }) => `Datums are given that nothing refers to: ${list(unallowed)}.`,
  UnspendableUTxONoDatumHash: ({ inputs }) =>
    `Outputs at Plutus scripts without a datum cannot be spent: ${refs(inputs)}.`,
  PPViewHashesDontMatch: ({ supplied, expected }) =>
    `The script data hash is ${supplied ?? "not given"}, but should be ${expected ?? "left out"}.`,
  ScriptIntegrityHashMismatch: ({ supplied, expected }) =>
    `The script data hash is ${supplied ?? "not given"}, but should be ${
      expected ?? "left out"
    }. It covers redeemers, datums and the cost models in ` +
    "force: a transaction that was built before these changed must be built again.",
  InputSetEmptyUTxO: () => "The transaction spends nothing.",
  BadInputsUTxO: ({ inputs }) => `Inputs are not there, or already spent: ${refs(inputs)}.`,
  BabbageNonDisjointRefInputs: ({ inputs }) => `Inputs are spent and referred to at once: ${refs(inputs)}.`,
  OutsideValidityIntervalUTxO: ({ from, to, slot }) =>
    `The transaction is valid ${from === undefined ? "" : `from slot ${from} `}${
      to === undefined ? "" : `before slot ${to}`
    }, and this is slot ${slot}.`.replace(" ,", ","),
  MaxTxSizeUTxO: ({ supplied, expected }) => `The transaction has ${supplied} bytes, at most ${expected} are allowed.`,
  FeeTooSmallUTxO: ({ supplied, expected }) =>
    `The fee is ${supplied} lovelace, at least ${expected} lovelace are needed.`,
  ValueNotConservedUTxO: ({ consumed, produced }) =>
    `The transaction takes in ${holding(consumed)}, but gives out ${holding(produced)}.`,
  WrongNetwork: ({ expected, addresses }) => `Addresses are not of ${network(expected)}: ${list(addresses)}.`,
  WrongNetworkWithdrawal: ({ expected, accounts }) =>
    `Reward accounts are not of ${network(expected)}: ${list(accounts)}.`,
  WrongNetworkInTxBody: ({ supplied, expected }) =>
    `The transaction is for ${network(supplied)}, and this is ${network(expected)}.`,
  BabbageOutputTooSmallUTxO: ({ outputs }) =>
    list(outputs.map((o) => `Output ${place(o)} holds ${o.supplied} lovelace, it needs ${o.expected} lovelace`)) + ".",
  OutputTooBigUTxO: ({ outputs }) =>
    list(
      outputs.map((o) => `The value of output ${place(o)} has ${o.supplied} bytes, at most ${o.expected} are allowed`),
    ) +
    ".",
  OutputBootAddrAttrsTooBig: ({ outputs }) =>
    `Byron addresses have attributes of over 64 bytes in the outputs ${list(outputs.map(place))}.`,
  OutputTooSmallUTxO: ({ outputs }) => `Outputs hold too little lovelace: ${list(outputs.map(place))}.`,
  OutsideForecast: ({ slot }) => `Slot ${slot} is further ahead than the ledger can tell the time of.`,
  ExUnitsTooBigUTxO: ({ supplied, expected }) =>
    `The redeemers state ${units(supplied)}, at most ${units(expected)} are allowed.`,
  NoCollateralInputs: () => "A transaction that runs scripts needs collateral, and has none.",
  TooManyCollateralInputs: ({ supplied, expected }) =>
    `There are ${supplied} collateral inputs, at most ${expected} are allowed.`,
  ScriptsNotPaidUTxO: ({ inputs }) => `Collateral is locked by scripts: ${refs(inputs)}.`,
  CollateralContainsNonADA: ({ value }) => `The collateral would lose tokens: ${holding(value)}.`,
  InsufficientCollateral: ({ supplied, expected }) =>
    `The collateral is ${supplied} lovelace, at least ${expected} lovelace are needed.`,
  IncorrectTotalCollateralField: ({ supplied, expected }) =>
    `The body states a total collateral of ${supplied} lovelace, it is ${expected} lovelace.`,
  ValidationTagMismatch: (failure) =>
    failure.kind === "PassedUnexpectedly"
      ? "The transaction says that a script fails, but all agree."
      : `A script fails: ${[failure.message, ...failure.logs].join("; ")}.`,
  CollectErrors: ({ errors }) => list(errors.map(collectError)) + ".",
  WithdrawalsNotInRewardsCERTS: (failure) =>
    wrongWithdrawals(failure, "is not registered, or does not hold exactly # lovelace"),
  IncorrectDepositDELEG: ({ supplied, expected }) =>
    `The certificate states a deposit of ${supplied} lovelace, ${
      expected === undefined ? "which is wrong" : `it is ${expected} lovelace`
    }.`,
  DepositIncorrectDELEG: ({ supplied, expected }) =>
    `The certificate states a deposit of ${supplied} lovelace, it is ${expected} lovelace.`,
  RefundIncorrectDELEG: ({ supplied, expected }) =>
    `The certificate states a refund of ${supplied} lovelace, it is ${expected} lovelace.`,
  StakeKeyRegisteredDELEG: ({ credential }) => `The stake ${who(credential)} is registered already.`,
  StakeKeyNotRegisteredDELEG: ({ credential }) => `The stake ${who(credential)} is not registered.`,
  StakeKeyHasNonZeroAccountBalanceDELEG: ({ balance }) =>
    `The account still holds ${balance} lovelace of rewards, which must be withdrawn first.`,
  DelegateeStakePoolNotRegisteredDELEG: ({ pool }) => `There is no stake pool ${pool}.`,
  DelegateeDRepNotRegisteredDELEG: ({ credential }) => `There is no DRep ${who(credential)}.`,
  StakePoolNotRegisteredOnKeyPOOL: ({ pool }) => `There is no stake pool ${pool}.`,
  StakePoolRetirementWrongEpochPOOL: ({ supplied, after, last }) =>
    `A pool cannot retire in epoch ${supplied}: it must be after ${after} and not after ${last}.`,
  StakePoolCostTooLowPOOL: ({ supplied, expected }) =>
    `The pool's cost is ${supplied} lovelace, at least ${expected} lovelace are needed.`,
  WrongNetworkPOOL: ({ expected, pool }) => `The reward account of pool ${pool} is not of ${network(expected)}.`,
  PoolMedataHashTooBig: ({ pool, size }) =>
    `The metadata hash of pool ${pool} has ${size} bytes, at most 32 are allowed.`,
  VRFKeyHashAlreadyRegistered: ({ vrf }) => `Another pool has the VRF key with the hash ${vrf}.`,
  ConwayDRepAlreadyRegistered: ({ credential }) => `The DRep ${who(credential)} is registered already.`,
  ConwayDRepNotRegistered: ({ credential }) => `There is no DRep ${who(credential)}.`,
  ConwayDRepIncorrectDeposit: ({ supplied, expected }) =>
    `The deposit of a DRep is ${expected} lovelace, the certificate states ${supplied}.`,
  ConwayDRepIncorrectRefund: ({ supplied, expected }) =>
    `The DRep's deposit was ${expected} lovelace, the certificate asks for ${supplied}.`,
  ConwayCommitteeHasPreviouslyResigned: ({ credential }) => `The committee member ${who(credential)} has resigned.`,
  ConwayCommitteeIsUnknown: ({ credential }) => `There is no committee member ${who(credential)}.`,
  ProposalDepositIncorrect: ({ supplied, expected }) =>
    `The deposit of a proposal is ${expected} lovelace, the transaction states ${supplied}.`,
  ProposalProcedureNetworkIdMismatch: ({ expected, accounts }) =>
    `Return accounts of proposals are not of ${network(expected)}: ${list(accounts)}.`,
  ProposalReturnAccountDoesNotExist: ({ accounts }) =>
    `Return accounts of proposals are not registered: ${list(accounts)}.`,
  TreasuryWithdrawalsNetworkIdMismatch: ({ expected, accounts }) =>
    `Accounts that the treasury should pay are not of ${network(expected)}: ${list(accounts)}.`,
  TreasuryWithdrawalReturnAccountsDoNotExist: ({ accounts }) =>
    `Accounts that the treasury should pay are not registered: ${list(accounts)}.`,
  ZeroTreasuryWithdrawals: () => "A proposal to pay from the treasury pays nothing.",
  ConflictingCommitteeUpdate: (failure) =>
    `A proposal adds and removes the same committee members: ${members(failure.members)}.`,
  ExpirationEpochTooSmall: (failure) =>
    `A proposal adds committee members whose term is over already: ${members(failure.members)}.`,
  MalformedProposal: ({ reason }) => `A proposal is malformed${reason === undefined ? "" : `: ${reason}`}.`,
  VotersDoNotExist: (failure) => `Voters are not registered: ${voters(failure.voters)}.`,
  GovActionsDoNotExist: ({ actions }) => `There are no such actions to vote on: ${refs(actions)}.`,
  DisallowedVoters: (failure) => `Voters may not vote on these actions: ${votes(failure.votes)}.`,
  VotingOnExpiredGovAction: (failure) => `The time to vote is over: ${votes(failure.votes)}.`,
  DisallowedVotesDuringBootstrap: (failure) =>
    `These votes are not allowed before protocol version 10: ${votes(failure.votes)}.`,
  InvalidPrevGovActionId: () => "A proposal follows an action that is not the last one of its kind.",
  DisallowedProposalDuringBootstrap: () => "A proposal is of a kind that is not allowed before protocol version 10.",
  ProposalCantFollow: ({ supplied, expected }) =>
    `A proposal changes to protocol version ${version(supplied)}, which cannot follow ${version(expected)}.`,
  InvalidGuardrailsScriptHash: ({ supplied, expected }) =>
    `A proposal names ${supplied ?? "no script"} as the guardrails script, it is ${expected ?? "none"}.`,
  UnelectedCommitteeVoters: (failure) => `Voters are not of the committee: ${members(failure.members)}.`,
};

/** Names of all failures. */
export const failureNames: readonly FailureName[] = Object.keys(sentences).filter(isFailureName);

function isFailureName(name: string): name is FailureName {
  return Object.hasOwn(sentences, name);
}

/** A failure as its name and its text, described or as a node gives it. */
type NamedFailure = { readonly name: string; readonly message?: string | undefined };

/**
 * Whether a mempool says that all inputs are spent: as a rule the transaction itself has spent them. What the mempool
 * knows may be undone by a rollback.
 */
export function saysIncluded({ name, message }: NamedFailure): boolean {
  return name === "ConwayMempoolFailure" && message?.includes("All inputs are spent") === true;
}

/** Whether a failure says that inputs are spent or were never there: one of them, or, to a mempool, all of them. */
export function saysSpent(failure: NamedFailure): boolean {
  return failure.name === "BadInputsUTxO" || saysIncluded(failure);
}
