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

/** An output of the transaction: its index (the collateral return comes after the last output) and the amounts compared. */
interface OutputMismatch extends Mismatch<bigint> {
  readonly index: number;
}

/** Why a Plutus script could not even be prepared to run. */
export interface CollectError {
  readonly kind: "NoCostModel" | "BadTranslation";
  /** 1 to 3: Plutus V1 to V3. */
  readonly language: 1 | 2 | 3;
  /** For `BadTranslation`, what that language cannot see, as the ledger names it (`InlineDatumsNotSupported`, …). */
  readonly reason?: string;
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

  // LEDGER
  ConwayTreasuryValueMismatch: Mismatch<bigint>;
  ConwayTxRefScriptsSizeTooBig: Mismatch<number>;
  ConwayWdrlNotDelegatedToDRep: Keys;
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
  MissingRedeemers: { readonly redeemers: readonly (RedeemerPointer & { readonly script: string })[] };
  ExtraRedeemers: { readonly redeemers: readonly RedeemerPointer[] };
  MissingRequiredDatums: { readonly missing: readonly string[]; readonly received: readonly string[] };
  NotAllowedSupplementalDatums: { readonly unallowed: readonly string[]; readonly acceptable: readonly string[] };
  UnspendableUTxONoDatumHash: { readonly inputs: readonly OutRef[] };
  PPViewHashesDontMatch: Mismatch<string | undefined>;

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
    readonly outputs: readonly { readonly index: number; readonly supplied: number; readonly expected: number }[];
  };
  OutputBootAddrAttrsTooBig: { readonly outputs: readonly number[] };
  ExUnitsTooBigUTxO: Mismatch<Units>;
  NoCollateralInputs: Record<never, never>;
  TooManyCollateralInputs: Mismatch<number>;
  ScriptsNotPaidUTxO: { readonly inputs: readonly OutRef[] };
  CollateralContainsNonADA: { readonly value: Value };
  InsufficientCollateral: Mismatch<bigint>;
  IncorrectTotalCollateralField: Mismatch<bigint>;

  // UTXOS
  ValidationTagMismatch:
    | { readonly kind: "PassedUnexpectedly" }
    | { readonly kind: "FailedUnexpectedly"; readonly message: string; readonly logs: readonly string[] };
  CollectErrors: { readonly errors: readonly CollectError[] };

  // CERTS, DELEG, POOL, GOVCERT
  WithdrawalsNotInRewardsCERTS: Withdrawals;
  /** Deposit or refund until protocol version 10; from 11 on each has a name. */
  IncorrectDepositDELEG: Mismatch<bigint>;
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
  ZeroTreasuryWithdrawals: Record<never, never>;
  ConflictingCommitteeUpdate: { readonly members: readonly Credential[] };
  ExpirationEpochTooSmall: { readonly members: readonly Credential[] };
  MalformedProposal: { readonly reason: string };
  VotersDoNotExist: { readonly voters: readonly Credential[] };
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
const pointers = (redeemers: readonly RedeemerPointer[]) => list(redeemers.map((r) => `${r.purpose} ${r.index}`));
const who = ({ kind, hash }: Credential) => `${kind} ${hash}`;
const members = (credentials: readonly Credential[]) => list(credentials.map(who));
const network = (id: number) => (id === 1 ? "mainnet" : "a test network");
const units = ({ memory, steps }: Units) => `${memory} memory and ${steps} steps`;
const holding = ({ lovelace, assets }: Value) =>
  list([`${lovelace} lovelace`, ...[...assets].map(([asset, quantity]) => `${quantity} of ${asset}`)]);

const wrongWithdrawals = ({ withdrawals }: Withdrawals) =>
  list(
    withdrawals.map(({ account, supplied, expected }) =>
      expected === undefined
        ? `The account ${account} is not registered`
        : `The account ${account} holds ${expected} lovelace, not ${supplied}`
    ),
  ) + ".";

const sentences: { readonly [Name in FailureName]: (failure: FailureOf<Name>) => string } = {
  DeserialiseFailure: ({ message }) => message,
  ConwayTreasuryValueMismatch: ({ supplied, expected }) =>
    `The transaction says that the treasury holds ${supplied} lovelace, but it holds ${expected}.`,
  ConwayTxRefScriptsSizeTooBig: ({ supplied, expected }) =>
    `The reference scripts have ${supplied} bytes together, more than the ${expected} that a transaction may refer to.`,
  ConwayWdrlNotDelegatedToDRep: ({ keys }) =>
    `Rewards can be withdrawn only after the vote was delegated; these stake keys have not done so: ${list(keys)}.`,
  ConwayWithdrawalsMissingAccounts: wrongWithdrawals,
  ConwayIncompleteWithdrawals: wrongWithdrawals,
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
    list(outputs.map((o) => `Output ${o.index} holds ${o.supplied} lovelace, it needs ${o.expected}`)) + ".",
  OutputTooBigUTxO: ({ outputs }) =>
    list(
      outputs.map((o) => `The value of output ${o.index} has ${o.supplied} bytes, at most ${o.expected} are allowed`),
    ) +
    ".",
  OutputBootAddrAttrsTooBig: ({ outputs }) =>
    `Byron addresses have attributes of over 64 bytes in the outputs ${list(outputs.map(String))}.`,
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
  CollectErrors: ({ errors }) =>
    list(
      errors.map(({ kind, language, reason }) =>
        kind === "NoCostModel"
          ? `There is no cost model for Plutus V${language}`
          : `Plutus V${language} cannot run in this transaction (${reason})`
      ),
    ) + ".",
  WithdrawalsNotInRewardsCERTS: wrongWithdrawals,
  IncorrectDepositDELEG: ({ supplied, expected }) =>
    `The certificate states a deposit of ${supplied} lovelace, it is ${expected}.`,
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
  MalformedProposal: ({ reason }) => `A proposal is malformed: ${reason}.`,
  VotersDoNotExist: ({ voters }) => `Voters are not registered: ${members(voters)}.`,
};

/** Names of all failures. */
export const failureNames: readonly FailureName[] = Object.keys(sentences) as FailureName[];
