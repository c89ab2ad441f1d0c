/**
 * Why the ledger refuses a transaction: the closed union of failures, named as the Haskell ledger names them (Conway,
 * protocol versions 9 to 11), each with its data. The rules make them; a node's rejection is read into the same shape.
 *
 * Hashes are hexadecimal, amounts lovelace, sizes bytes.
 */
import type { Credential } from "#src/cardano/address.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { Value } from "#src/cardano/value.ts";

/** What was found and what should have been found. */
interface Mismatch<T> {
  readonly supplied: T;
  readonly expected: T;
}

/** Purpose and index of a redeemer. */
export interface RedeemerPointer {
  readonly purpose: "spend" | "mint" | "cert" | "reward" | "vote" | "propose";
  readonly index: number;
}

/**
 * An output of the transaction: its index (the collateral return comes after the last output). A node tells the output instead, as
 * CBOR; who has the transaction knows both.
 */
export interface OutputAt {
  readonly index?: number;
  readonly output?: string;
}

/** An output and the amounts compared. */
type OutputMismatch = OutputAt & Mismatch<bigint>;

/** What a redeemer is for: its index, or, as a node tells it, the thing itself as CBOR. */
export interface RedeemerTarget {
  readonly purpose: RedeemerPointer["purpose"];
  readonly index?: number;
  readonly item?: string;
}

/** Why a Plutus script could not even be prepared to run. Languages are 1 to 3: Plutus V1 to V3. */
export type CollectError =
  | { readonly kind: "NoCostModel"; readonly language: 1 | 2 | 3 }
  | {
    readonly kind: "BadTranslation";
    /** A node does not tell it. */
    readonly language?: 1 | 2 | 3;
    /** What that language cannot see, as the ledger names it (`InlineDatumsNotSupported`, …). */
    readonly reason: string;
    /** CBOR of what a node tells of it. */
    readonly detail?: string;
  }
  | ({ readonly kind: "NoRedeemer" } & RedeemerTarget)
  | { readonly kind: "NoWitness"; readonly script: string };

/** Who votes, and as what; a role that is missing is not known. */
export type Voter = Credential & { readonly role?: "committee" | "drep" | "pool" };

/** A member of the committee; the epoch in which a proposal would end the term, where known. */
export type Member = Credential & { readonly epoch?: bigint };

/** An action of governance: the transaction that proposed it, and its place there. */
type Action = OutRef;

type Votes = { readonly votes: readonly { readonly voter: Voter; readonly action: Action }[] };
/** CBOR of a `proposal_procedure`. */
type Proposal = { readonly proposal: string };
interface ProtocolVersion {
  readonly major: number;
  readonly minor: number;
}

type Network = Mismatch<number>;
type Keys = { readonly keys: readonly string[] };
type Scripts = { readonly scripts: readonly string[] };
type Account = { readonly credential: Credential };
/** Withdrawals of other amounts than accounts hold; `expected` is missing where there is no such account. */
type Withdrawals = {
  readonly withdrawals: readonly {
    readonly account: string;
    readonly supplied: bigint;
    readonly expected?: bigint;
  }[];
};
type Accounts = { readonly accounts: readonly string[] };

/** Data of each failure, by the rule that finds it. */
interface FailureData {
  /** Bytes that the decoder refuses, so that no rule was asked. */
  DeserialiseFailure: { readonly message: string };
  /** The transaction is for another era than the ledger is in: names of eras. */
  EraMismatch: { readonly transaction: string; readonly ledger: string };
  /** A failure of an era before Conway, by the name that it has there, with its CBOR. */
  EarlierEraFailure: { readonly era: string; readonly failure: string; readonly cbor: string };
  /** A failure that a node tells and that is not known here, with its CBOR; `rule` is where it was found. */
  UnknownFailure: { readonly rule: string; readonly cbor: string };

  // LEDGER
  ConwayTreasuryValueMismatch: Mismatch<bigint>;
  ConwayTxRefScriptsSizeTooBig: Mismatch<number>;
  ConwayWdrlNotDelegatedToDRep: Keys;
  /** What a node's mempool says. */
  ConwayMempoolFailure: { readonly message: string };
  /** From protocol version 11 on, as is the next. */
  ConwayWithdrawalsMissingAccounts: Withdrawals;
  ConwayIncompleteWithdrawals: Withdrawals;

  // UTXOW
  InvalidWitnessesUTXOW: Keys;
  MissingVKeyWitnessesUTXOW: Keys;
  MissingScriptWitnessesUTXOW: Scripts;
  ExtraneousScriptWitnessesUTXOW: Scripts;
  ScriptWitnessNotValidatingUTXOW: Scripts;
  MalformedScriptWitnesses: Scripts;
  MalformedReferenceScripts: Scripts;
  MissingTxBodyMetadataHash: { readonly hash: string };
  MissingTxMetadata: { readonly hash: string };
  ConflictingMetadataHash: Mismatch<string>;
  InvalidMetadata: Record<never, never>;
  MissingRedeemers: { readonly redeemers: readonly (RedeemerTarget & { readonly script: string })[] };
  ExtraRedeemers: { readonly redeemers: readonly RedeemerPointer[] };
  MissingRequiredDatums: { readonly missing: readonly string[]; readonly received: readonly string[] };
  NotAllowedSupplementalDatums: { readonly unallowed: readonly string[]; readonly acceptable: readonly string[] };
  UnspendableUTxONoDatumHash: { readonly inputs: readonly OutRef[] };
  PPViewHashesDontMatch: Mismatch<string | undefined>;
  /** From protocol version 11 on; `preimage` is what should have been hashed. */
  ScriptIntegrityHashMismatch: Mismatch<string | undefined> & { readonly preimage?: string };

  // UTXO
  InputSetEmptyUTxO: Record<never, never>;
  BadInputsUTxO: { readonly inputs: readonly OutRef[] };
  BabbageNonDisjointRefInputs: { readonly inputs: readonly OutRef[] };
  OutsideValidityIntervalUTxO: { readonly from?: number; readonly to?: number; readonly slot: number };
  MaxTxSizeUTxO: Mismatch<number>;
  FeeTooSmallUTxO: Mismatch<bigint>;
  ValueNotConservedUTxO: { readonly consumed: Value; readonly produced: Value };
  WrongNetwork: { readonly expected: number; readonly addresses: readonly string[] };
  WrongNetworkWithdrawal: { readonly expected: number } & Accounts;
  WrongNetworkInTxBody: Network;
  BabbageOutputTooSmallUTxO: { readonly outputs: readonly OutputMismatch[] };
  OutputTooBigUTxO: {
    readonly outputs: readonly (OutputAt & { readonly supplied: number; readonly expected: number })[];
  };
  OutputBootAddrAttrsTooBig: { readonly outputs: readonly OutputAt[] };
  /** Of eras before Babbage, and still on the wire. */
  OutputTooSmallUTxO: { readonly outputs: readonly OutputAt[] };
  OutsideForecast: { readonly slot: number };
  ExUnitsTooBigUTxO: Mismatch<Units>;
  NoCollateralInputs: Record<never, never>;
  TooManyCollateralInputs: Mismatch<number>;
  /** `outputs`: CBOR of what the inputs spend, where known. */
  ScriptsNotPaidUTxO: { readonly inputs: readonly OutRef[]; readonly outputs?: readonly string[] };
  CollateralContainsNonADA: { readonly value: Value };
  InsufficientCollateral: Mismatch<bigint>;
  IncorrectTotalCollateralField: Mismatch<bigint>;

  // UTXOS
  ValidationTagMismatch:
    | { readonly kind: "PassedUnexpectedly" }
    | {
      readonly kind: "FailedUnexpectedly";
      readonly message: string;
      readonly logs: readonly string[];
      /** What a node tells of each script that fails; `context` is what it was run with. */
      readonly scripts?: readonly { readonly description: string; readonly context: string }[];
    };
  CollectErrors: { readonly errors: readonly CollectError[] };

  // CERTS, DELEG, POOL, GOVCERT
  WithdrawalsNotInRewardsCERTS: Withdrawals;
  /** Deposit or refund until protocol version 10; from 11 on each has a name. */
  /** A node does not tell what it expected. */
  IncorrectDepositDELEG: { readonly supplied: bigint; readonly expected?: bigint };
  DepositIncorrectDELEG: Mismatch<bigint>;
  RefundIncorrectDELEG: Mismatch<bigint>;
  StakeKeyRegisteredDELEG: Account;
  StakeKeyNotRegisteredDELEG: Account;
  StakeKeyHasNonZeroAccountBalanceDELEG: { readonly balance: bigint };
  DelegateeStakePoolNotRegisteredDELEG: { readonly pool: string };
  DelegateeDRepNotRegisteredDELEG: Account;
  StakePoolNotRegisteredOnKeyPOOL: { readonly pool: string };
  StakePoolRetirementWrongEpochPOOL: { readonly supplied: bigint; readonly after: number; readonly last: number };
  StakePoolCostTooLowPOOL: Mismatch<bigint>;
  WrongNetworkPOOL: Network & { readonly pool: string };
  PoolMedataHashTooBig: { readonly pool: string; readonly size: number };
  /** From protocol version 11 on. */
  VRFKeyHashAlreadyRegistered: { readonly pool: string; readonly vrf: string };
  ConwayDRepAlreadyRegistered: Account;
  ConwayDRepNotRegistered: Account;
  ConwayDRepIncorrectDeposit: Mismatch<bigint>;
  ConwayDRepIncorrectRefund: Mismatch<bigint>;
  ConwayCommitteeHasPreviouslyResigned: Account;
  ConwayCommitteeIsUnknown: Account;

  // GOV
  ProposalDepositIncorrect: Mismatch<bigint>;
  ProposalProcedureNetworkIdMismatch: { readonly expected: number } & Accounts;
  ProposalReturnAccountDoesNotExist: Accounts;
  TreasuryWithdrawalsNetworkIdMismatch: { readonly expected: number } & Accounts;
  TreasuryWithdrawalReturnAccountsDoNotExist: Accounts;
  /** `action`: CBOR of the `gov_action`, where known. */
  ZeroTreasuryWithdrawals: { readonly action?: string };
  ConflictingCommitteeUpdate: { readonly members: readonly Credential[] };
  ExpirationEpochTooSmall: { readonly members: readonly Member[] };
  /** `action`: CBOR of the `gov_action`, where known. */
  MalformedProposal: { readonly reason?: string; readonly action?: string };
  VotersDoNotExist: { readonly voters: readonly Voter[] };
  GovActionsDoNotExist: { readonly actions: readonly Action[] };
  DisallowedVoters: Votes;
  VotingOnExpiredGovAction: Votes;
  DisallowedVotesDuringBootstrap: Votes;
  InvalidPrevGovActionId: Proposal;
  DisallowedProposalDuringBootstrap: Proposal;
  ProposalCantFollow: { readonly previous: Action | undefined } & Mismatch<ProtocolVersion>;
  InvalidGuardrailsScriptHash: Mismatch<string | undefined>;
  UnelectedCommitteeVoters: { readonly members: readonly Credential[] };
}

export type FailureName = keyof FailureData;

/** A failure: its name and its data. */
export type LedgerFailure = { [Name in FailureName]: { readonly name: Name } & FailureData[Name] }[FailureName];

/** A failure of one name. */
export type FailureOf<Name extends FailureName> = Extract<LedgerFailure, { readonly name: Name }>;

/** A sentence for a person. */
export function describeFailure(failure: LedgerFailure): string {
  const sentence = sentences[failure.name] as (failure: LedgerFailure) => string;
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

/** A node does not tell what an account holds: then what is missing here says nothing about the account. */
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
  EarlierEraFailure: ({ era, failure }) => `The ledger of the era ${era} refuses the transaction: ${failure}.`,
  UnknownFailure: ({ rule, cbor }) =>
    `The node refuses the transaction for a reason that this program does not know (${rule}: ${cbor}).`,
  ConwayTreasuryValueMismatch: ({ supplied, expected }) =>
    `The transaction says that the treasury holds ${supplied} lovelace, but it holds ${expected}.`,
  ConwayTxRefScriptsSizeTooBig: ({ supplied, expected }) =>
    `The reference scripts have ${supplied} bytes together, more than the ${expected} that a transaction may refer to.`,
  ConwayWdrlNotDelegatedToDRep: ({ keys }) =>
    `Rewards can be withdrawn only after the vote was delegated; these stake keys have not done so: ${list(keys)}.`,
  ConwayWithdrawalsMissingAccounts: (failure) => wrongWithdrawals(failure, "is not registered"),
  ConwayIncompleteWithdrawals: (failure) => wrongWithdrawals(failure, "does not hold exactly # lovelace"),
  ConwayMempoolFailure: ({ message }) => `The node's mempool refuses the transaction: ${message}`,
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
    `The script data hash is ${supplied ?? "not given"}, but should be ${expected ?? "left out"}.`,
  InputSetEmptyUTxO: () => "The transaction spends nothing.",
  BadInputsUTxO: ({ inputs }) => `Inputs are not there, or already spent: ${refs(inputs)}.`,
  BabbageNonDisjointRefInputs: ({ inputs }) => `Inputs are spent and referred to at once: ${refs(inputs)}.`,
  OutsideValidityIntervalUTxO: ({ from, to, slot }) =>
    `The transaction is valid ${from === undefined ? "" : `from slot ${from} `}${
      to === undefined ? "" : `before slot ${to}`
    }, and this is slot ${slot}.`.replace(" ,", ","),
  MaxTxSizeUTxO: ({ supplied, expected }) => `The transaction has ${supplied} bytes, at most ${expected} are allowed.`,
  FeeTooSmallUTxO: ({ supplied, expected }) => `The fee is ${supplied} lovelace, at least ${expected} are needed.`,
  ValueNotConservedUTxO: ({ consumed, produced }) =>
    `The transaction takes in ${holding(consumed)}, but gives out ${holding(produced)}.`,
  WrongNetwork: ({ expected, addresses }) => `Addresses are not of ${network(expected)}: ${list(addresses)}.`,
  WrongNetworkWithdrawal: ({ expected, accounts }) =>
    `Reward accounts are not of ${network(expected)}: ${list(accounts)}.`,
  WrongNetworkInTxBody: ({ supplied, expected }) =>
    `The transaction is for ${network(supplied)}, and this is ${network(expected)}.`,
  BabbageOutputTooSmallUTxO: ({ outputs }) =>
    list(outputs.map((o) => `Output ${place(o)} holds ${o.supplied} lovelace, it needs ${o.expected}`)) + ".",
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
    `The collateral is ${supplied} lovelace, at least ${expected} are needed.`,
  IncorrectTotalCollateralField: ({ supplied, expected }) =>
    `The body states a total collateral of ${supplied} lovelace, it is ${expected}.`,
  ValidationTagMismatch: (failure) =>
    failure.kind === "PassedUnexpectedly"
      ? "The transaction says that a script fails, but all agree."
      : `A script fails: ${[failure.message, ...failure.logs].join("; ")}.`,
  CollectErrors: ({ errors }) => list(errors.map(collectError)) + ".",
  WithdrawalsNotInRewardsCERTS: (failure) =>
    wrongWithdrawals(failure, "is not registered, or does not hold exactly # lovelace"),
  IncorrectDepositDELEG: ({ supplied, expected }) =>
    `The certificate states a deposit of ${supplied} lovelace, ${
      expected === undefined ? "which is wrong" : `it is ${expected}`
    }.`,
  DepositIncorrectDELEG: ({ supplied, expected }) =>
    `The certificate states a deposit of ${supplied} lovelace, it is ${expected}.`,
  RefundIncorrectDELEG: ({ supplied, expected }) =>
    `The certificate states a refund of ${supplied} lovelace, it is ${expected}.`,
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
    `The pool's cost is ${supplied} lovelace, at least ${expected} are needed.`,
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
    `Nobody may vote so before protocol version 10: ${votes(failure.votes)}.`,
  InvalidPrevGovActionId: () => "A proposal follows an action that is not the last one of its kind.",
  DisallowedProposalDuringBootstrap: () => "A proposal is of a kind that is not allowed before protocol version 10.",
  ProposalCantFollow: ({ supplied, expected }) =>
    `A proposal changes to protocol version ${version(supplied)}, which cannot follow ${version(expected)}.`,
  InvalidGuardrailsScriptHash: ({ supplied, expected }) =>
    `A proposal names ${supplied ?? "no script"} as the guardrails script, it is ${expected ?? "none"}.`,
  UnelectedCommitteeVoters: (failure) => `Voters are not of the committee: ${members(failure.members)}.`,
};

/** Names of all failures. */
export const failureNames: readonly FailureName[] = Object.keys(sentences) as FailureName[];
