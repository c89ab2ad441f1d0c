/**
 * Why the ledger refuses a transaction: the closed union of failures, named as the Haskell ledger names them (Conway,
 * protocol versions 9 to 11), each with its data. The rules make them; a node's rejection is read into the same shape.
 *
 * Hashes are hexadecimal, amounts lovelace, sizes bytes.
 */
import type { Credential } from "#src/cardano/address.ts";
import type { OutRef } from "#src/cardano/output.ts";
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
 * An output of the transaction: its index (the collateral return comes after the last output). A node gives the output as
 * CBOR instead; the transaction has both.
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

export type Votes = { readonly votes: readonly { readonly voter: Voter; readonly action: Action }[] };
/** CBOR of a `proposal_procedure`. */
type Proposal = { readonly proposal: string };
export interface ProtocolVersion {
  readonly major: number;
  readonly minor: number;
}

type Network = Mismatch<number>;
type Keys = { readonly keys: readonly string[] };
type Scripts = { readonly scripts: readonly string[] };
type Account = { readonly credential: Credential };
/** Withdrawals of other amounts than accounts hold; `expected` is missing where there is no such account. */
export type Withdrawals = {
  readonly withdrawals: readonly {
    readonly account: string;
    readonly supplied: bigint;
    readonly expected?: bigint;
  }[];
};
type Accounts = { readonly accounts: readonly string[] };

/** Data of each failure, by the rule that finds it. */
interface FailureData {
  /** Bytes that the decoder refuses, so that no ledger rule ran. */
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
