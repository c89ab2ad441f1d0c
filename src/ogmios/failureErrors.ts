/** Each failure of the ledger as an error of `submitTransaction`. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import {
  as,
  CborError,
  decode,
  decodeAll,
  type Encodable,
  encode,
  Encoded,
  type Item,
  raw,
} from "#src/cardano/cbor.ts";
import { walkCertificate } from "#src/cardano/certificates.ts";
import { readVotes, type Voter } from "#src/cardano/conway/governance.ts";
import { rewardAccountOf } from "#src/cardano/conway/strict.ts";
import type {
  CollectError,
  FailureName,
  FailureOf,
  LedgerFailure,
  Member,
  OutputAt,
  ProtocolVersion,
  RedeemerTarget,
  Votes,
  Withdrawals,
} from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { type OutRef, readOutput, readRef } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import { addCertificate, drepJson } from "#src/ogmios/certificates.ts";
import { type OgmiosError, ogmiosError, undecodableError } from "#src/ogmios/errors.ts";
import { contextReason, validatorJson } from "#src/ogmios/evaluation.ts";
import type { JsonObject, OgmiosVersion } from "#src/ogmios/form.ts";
import { proposalJson, readStoredProposal, voterJson } from "#src/ogmios/governance.ts";
import { outputJson } from "#src/ogmios/outputs.ts";
import { languageText } from "#src/ogmios/scripts.ts";
import {
  adaJson,
  addressJson,
  anchorJson,
  idJson,
  originOf,
  poolJson,
  refJson,
  sizeJson,
  unitsJson,
  valueJson,
} from "#src/ogmios/values.ts";

/** The error of a failure. Outputs and targets of redeemers need their CBOR (`withItems`); the others of their list are left out. */
export function failureErrors(failure: LedgerFailure, version: OgmiosVersion): readonly OgmiosError[] {
  const write = ERRORS[failure.name] as (failure: LedgerFailure, version: OgmiosVersion) => OgmiosError | OgmiosError[];
  const written = write(failure, version);
  return Array.isArray(written) ? written : [written];
}

/** 3997: what has no code of its own. */
const refused = (error: string) =>
  ogmiosError(3997, "The transaction was refused for the reason in 'data.error'.", { error });

const refs = (list: readonly OutRef[]): Json => list.map(refJson);
const network = (id: number) => id === 1 ? "mainnet" : "testnet";

function wrongNetwork(expected: number, discriminatedType: string, invalidEntities?: Json): OgmiosError {
  return ogmiosError(3124, "Something in the transaction is of another network.", {
    expectedNetwork: network(expected),
    discriminatedType,
    ...(invalidEntities === undefined ? {} : { invalidEntities }),
  });
}

const accountsOfNetwork = (
  { expected, accounts }: { readonly expected: number; readonly accounts: readonly string[] },
) => wrongNetwork(expected, "rewardAccount", accounts.map(addressJson));

function outputsOf(outputs: readonly OutputAt[]): { [name: string]: Json }[] {
  return outputs.flatMap(({ output }) => output === undefined ? [] : [outputJson(readOutput(decode(fromHex(output))))]);
}

function incompleteWithdrawals({ withdrawals }: Withdrawals): OgmiosError {
  return ogmiosError(3141, "Some withdrawals are not of all that their accounts hold.", {
    incompleteWithdrawals: Object.fromEntries(
      withdrawals.map(({ account, supplied }) => [addressJson(account), adaJson(supplied)]),
    ),
  });
}

const unknownPool = ({ pool }: { readonly pool: string }) =>
  ogmiosError(3140, "A certificate names a stake pool that is not registered.", {
    unknownStakePool: poolJson(pool).id,
  });

function unknownCredential(credential: Credential): OgmiosError {
  return ogmiosError(3146, "A stake credential is not registered.", {
    from: originOf(credential),
    unknownCredential: credential.hash,
  });
}

/** The first of some accounts that are not registered: the error has room for one. */
function unknownAccounts({ accounts: [account = ""] }: { readonly accounts: readonly string[] }): OgmiosError {
  return unknownCredential(rewardAccountOf(fromHex(account)).credential);
}

function wrongDeposit({ supplied, expected }: { readonly supplied: bigint; readonly expected?: bigint }): OgmiosError {
  return ogmiosError(3151, "A deposit or refund differs from that of the protocol parameters.", {
    providedDeposit: adaJson(supplied),
    ...(expected === undefined ? {} : { expectedDeposit: adaJson(expected) }),
  });
}

const unknownDrep = ({ credential }: { readonly credential: Credential }) =>
  ogmiosError(3153, "A delegate representative is not registered.", {
    unknownDelegateRepresentative: { ...drepJson(credential) },
  });

const unknownMember = ({ credential }: { readonly credential: Credential }) =>
  ogmiosError(3154, "A member of the constitutional committee is unknown or has resigned.", {
    unknownConstitutionalCommitteeMember: idJson(credential),
  });

const membersOf = (members: readonly (Credential | Member)[]): Json => members.map(idJson);

/** A role that is missing cannot be that of a pool, whose kind of credential is never a script; representatives are the most. */
const voterOf = ({ role = "drep", kind, hash }: Credential & { readonly role?: Voter["role"] }): Json =>
  voterJson({ role, credential: { kind, hash } });

const votesOf = ({ votes }: Votes): Json =>
  votes.map(({ voter, action }) => ({ proposal: refJson(action), voter: voterOf(voter) }));

const unauthorized = (failure: Votes) =>
  ogmiosError(3137, "Some voters may not vote on these proposals.", { unauthorizedVotes: votesOf(failure) });

const malformedScripts = ({ scripts }: { readonly scripts: readonly string[] }) =>
  ogmiosError(3116, "Some scripts are malformed.", { malformedScripts: [...scripts] });

const missingScripts = ({ scripts }: { readonly scripts: readonly string[] }) =>
  ogmiosError(3102, "Some scripts that the transaction needs are missing.", { missingScripts: [...scripts] });

function missingRedeemers(redeemers: readonly RedeemerTarget[]): OgmiosError {
  return ogmiosError(3109, "Some scripts have no redeemer.", { missingRedeemers: redeemers.flatMap(purposeJson) });
}

/** What a redeemer is for, by the thing itself; none where only its index is known. */
function purposeJson({ purpose, item }: RedeemerTarget): Json[] {
  if (item === undefined) return [];
  const cbor = decodeAll(fromHex(item));
  switch (purpose) {
    case "spend":
      return [{ purpose: "spend", outputReference: refJson(readRef(cbor)) }];
    case "mint":
      return [{ purpose: "mint", policy: hexOf(cbor) }];
    case "cert": {
      const certificates: JsonObject[] = [];
      addCertificate(walkCertificate(new Walk(fromHex(item))), certificates, []);
      return certificates.slice(0, 1).map((certificate) => ({ purpose: "publish", certificate: certificate as Json }));
    }
    case "reward":
      return [{ purpose: "withdraw", rewardAccount: addressJson(hexOf(cbor)) }];
    case "vote":
      return [{ purpose: "vote", issuer: voterJson(voterOfItem(cbor)) }];
    case "propose":
      return [{ purpose: "propose", proposal: proposalJson(readStoredProposal(cbor)) as Json }];
  }
}

const hexOf = (item: Item) => toHex(as(item, "bytes").value);

/** A voter alone has no reader; one with a vote has. */
function voterOfItem(item: Item): Voter {
  const vote = new Map<Encodable, Encodable>([[[new Uint8Array(32), 0], [0, null]]]);
  const [voter] = readVotes(decode(encode(new Map([[new Encoded(raw(item)), vote]]))));
  if (!voter) throw new CborError("no voter");
  return voter;
}

function collectErrors(errors: readonly CollectError[]): OgmiosError[] {
  return errors.map((error) => {
    switch (error.kind) {
      case "NoCostModel":
        return ogmiosError(3115, "The transaction uses a Plutus version for which there is no cost model.", {
          missingCostModels: [languageText(error.language)],
        });
      case "NoRedeemer":
        return missingRedeemers([error]);
      case "NoWitness":
        return missingScripts({ scripts: [error.script] });
      case "BadTranslation":
        return ogmiosError(3004, "Unable to create the evaluation context from the given transaction.", {
          reason: contextReason({ reason: error.reason, about: "" }),
        });
    }
  });
}

/** What a proposal may follow, by the kind of its action. */
const PREDECESSORS = {
  parameters: "protocolParametersUpdate",
  "hard fork": "hardForkInitiation",
  committee: "constitutionalCommittee",
  "no confidence": "constitutionalCommittee",
  constitution: "constitution",
  treasury: undefined,
  info: undefined,
} as const;

function invalidPrevious({ proposal }: { readonly proposal: string }): OgmiosError {
  const { action, anchor } = readStoredProposal(decodeAll(fromHex(proposal)));
  const type = PREDECESSORS[action.kind];
  const previous = "previous" in action ? action.previous : undefined;
  return ogmiosError(3159, "Some proposals do not follow the last proposal of their kind that was enacted.", {
    invalidOrMissingPreviousProposals: type === undefined ? [] : [{
      metadata: anchorJson(anchor),
      type,
      ...(previous ? { invalidPreviousProposal: refJson(previous) } : {}),
    }],
  });
}

const versionOf = ({ major, minor }: ProtocolVersion): Json => ({ major, minor });
const hashOf = (hash: string | undefined): Json => ({ hash: hash ?? "" });

function integrity(
  { supplied, expected }: { readonly supplied: string | undefined; readonly expected: string | undefined },
) {
  return ogmiosError(3113, "The script integrity hash differs from the computed one.", {
    providedScriptIntegrity: supplied ?? null,
    computedScriptIntegrity: expected ?? null,
  });
}

type Writer<Name extends FailureName> = (
  failure: FailureOf<Name>,
  version: OgmiosVersion,
) => OgmiosError | OgmiosError[];

const ERRORS: { readonly [Name in FailureName]: Writer<Name> } = {
  DeserialiseFailure: ({ message }, version) => undecodableError(message, version),
  EraMismatch: ({ transaction, ledger }) =>
    ogmiosError(3005, "The transaction is for another era than the ledger's.", {
      queryEra: transaction.toLowerCase(),
      ledgerEra: ledger.toLowerCase(),
    }),
  EarlierEraFailure: (failure) => refused(describeFailure(failure)),
  UnknownFailure: (failure) => refused(describeFailure(failure)),

  ConwayTreasuryValueMismatch: ({ supplied, expected }) =>
    ogmiosError(3158, "The transaction states another treasury than the ledger's.", {
      providedWithdrawal: adaJson(supplied),
      computedWithdrawal: adaJson(expected),
    }),
  ConwayTxRefScriptsSizeTooBig: ({ supplied, expected }) =>
    ogmiosError(3166, "The reference scripts are too large together.", {
      measuredReferenceScriptsSize: sizeJson(supplied),
      maximumReferenceScriptsSize: sizeJson(expected),
    }),
  ConwayWdrlNotDelegatedToDRep: ({ keys }) =>
    ogmiosError(3150, "Some accounts that are withdrawn from have not delegated their vote.", {
      marginalizedCredentials: [...keys],
    }),
  ConwayMempoolFailure: ({ message }) => refused(message),
  ConwayWithdrawalsMissingAccounts: incompleteWithdrawals,
  ConwayIncompleteWithdrawals: incompleteWithdrawals,

  InvalidWitnessesUTXOW: ({ keys }) =>
    ogmiosError(3100, "Some signatures are invalid.", { invalidSignatories: [...keys] }),
  MissingVKeyWitnessesUTXOW: ({ keys }) =>
    ogmiosError(3101, "Some signatures are missing.", { missingSignatories: [...keys] }),
  MissingScriptWitnessesUTXOW: missingScripts,
  ExtraneousScriptWitnessesUTXOW: ({ scripts }) =>
    ogmiosError(3104, "Some scripts are not needed.", { extraneousScripts: [...scripts] }),
  ScriptWitnessNotValidatingUTXOW: ({ scripts }) =>
    ogmiosError(3103, "Some native scripts fail.", { failingNativeScripts: [...scripts] }),
  MalformedScriptWitnesses: malformedScripts,
  MalformedReferenceScripts: malformedScripts,
  MissingTxBodyMetadataHash: ({ hash }) =>
    ogmiosError(3105, "The body has no hash of the metadata.", { metadata: hashOf(hash) }),
  MissingTxMetadata: ({ hash }) =>
    ogmiosError(3106, "The metadata of a hash in the body are missing.", { metadata: hashOf(hash) }),
  ConflictingMetadataHash: ({ supplied, expected }) =>
    ogmiosError(3107, "The hash of the metadata differs from the computed one.", {
      provided: hashOf(supplied),
      computed: hashOf(expected),
    }),
  InvalidMetadata: () => ogmiosError(3108, "A text or a byte string in the metadata has more than 64 bytes."),
  MissingRedeemers: ({ redeemers }) => missingRedeemers(redeemers),
  ExtraRedeemers: ({ redeemers }) =>
    ogmiosError(3110, "Some redeemers are for no script.", { extraneousRedeemers: redeemers.map(validatorJson) }),
  MissingRequiredDatums: ({ missing }) =>
    ogmiosError(3111, "Some datums that scripts need are missing.", { missingDatums: [...missing] }),
  NotAllowedSupplementalDatums: ({ unallowed }) =>
    ogmiosError(3112, "Some datums are not needed.", { extraneousDatums: [...unallowed] }),
  UnspendableUTxONoDatumHash: ({ inputs }) =>
    ogmiosError(3114, "Some inputs at scripts have no datum and cannot be spent.", {
      orphanScriptInputs: refs(inputs),
    }),
  PPViewHashesDontMatch: integrity,
  ScriptIntegrityHashMismatch: integrity,

  InputSetEmptyUTxO: () => ogmiosError(3121, "The transaction has no input."),
  BadInputsUTxO: ({ inputs }) =>
    ogmiosError(3117, "Some inputs are spent or were never there.", { unknownOutputReferences: refs(inputs) }),
  BabbageNonDisjointRefInputs: ({ inputs }) =>
    ogmiosError(3164, "Some references are inputs as well.", { conflictingReferences: refs(inputs) }),
  OutsideValidityIntervalUTxO: ({ from, to, slot }) =>
    ogmiosError(3118, "The current slot is outside of the transaction's validity interval.", {
      validityInterval: {
        ...(from === undefined ? {} : { invalidBefore: from }),
        ...(to === undefined ? {} : { invalidAfter: to }),
      },
      currentSlot: slot,
    }),
  MaxTxSizeUTxO: ({ supplied, expected }) =>
    ogmiosError(3119, "The transaction is too large.", {
      measuredTransactionSize: sizeJson(supplied),
      maximumTransactionSize: sizeJson(expected),
    }),
  FeeTooSmallUTxO: ({ supplied, expected }) =>
    ogmiosError(3122, "The fee is too small.", {
      minimumRequiredFee: adaJson(expected),
      providedFee: adaJson(supplied),
    }),
  ValueNotConservedUTxO: ({ consumed, produced }) =>
    ogmiosError(3123, "The transaction consumes another value than it produces.", {
      valueConsumed: valueJson(consumed),
      valueProduced: valueJson(produced),
    }),
  WrongNetwork: ({ expected, addresses }) => wrongNetwork(expected, "address", addresses.map(addressJson)),
  WrongNetworkWithdrawal: accountsOfNetwork,
  WrongNetworkInTxBody: ({ expected }) => wrongNetwork(expected, "transaction"),
  BabbageOutputTooSmallUTxO: ({ outputs }) =>
    ogmiosError(3125, "Some outputs have less than the minimum of ada.", {
      insufficientlyFundedOutputs: outputs.flatMap((one) =>
        outputsOf([one]).map((output) => ({ output, minimumRequiredValue: adaJson(one.expected) }))
      ),
    }),
  OutputTooBigUTxO: ({ outputs }) =>
    ogmiosError(3120, "Some outputs have too many assets.", { excessivelyLargeOutputs: outputsOf(outputs) }),
  OutputBootAddrAttrsTooBig: ({ outputs }) =>
    ogmiosError(3126, "Some addresses of Byron have too many attributes.", { bootstrapOutputs: outputsOf(outputs) }),
  OutputTooSmallUTxO: ({ outputs }) =>
    ogmiosError(3125, "Some outputs have less than the minimum of ada.", {
      insufficientlyFundedOutputs: outputsOf(outputs).map((output) => ({ output })),
    }),
  OutsideForecast: ({ slot }) =>
    ogmiosError(3130, "The validity interval ends beyond what the ledger can foresee.", { unforeseeableSlot: slot }),
  ExUnitsTooBigUTxO: ({ supplied, expected }) =>
    ogmiosError(3134, "The execution units are more than the maximum.", {
      providedExecutionUnits: unitsJson(supplied),
      maximumExecutionUnits: unitsJson(expected),
    }),
  NoCollateralInputs: () => ogmiosError(3132, "The transaction has scripts and no collateral."),
  TooManyCollateralInputs: ({ supplied, expected }) =>
    ogmiosError(3131, "The transaction has too many collateral inputs.", {
      maximumCollateralInputs: expected,
      countedCollateralInputs: supplied,
    }),
  ScriptsNotPaidUTxO: ({ inputs }) =>
    ogmiosError(3129, "Some collateral inputs are at scripts.", { unsuitableCollateralInputs: refs(inputs) }),
  CollateralContainsNonADA: ({ value }) =>
    ogmiosError(3133, "The collateral has assets besides ada.", { unsuitableCollateralValue: valueJson(value) }),
  InsufficientCollateral: ({ supplied, expected }) =>
    ogmiosError(3128, "The collateral is too small.", {
      providedCollateral: adaJson(supplied),
      minimumRequiredCollateral: adaJson(expected),
    }),
  IncorrectTotalCollateralField: ({ supplied, expected }) =>
    ogmiosError(3135, "The total collateral differs from the computed one.", {
      declaredTotalCollateral: adaJson(supplied),
      computedTotalCollateral: adaJson(expected),
    }),

  ValidationTagMismatch: (failure) =>
    ogmiosError(3136, "The transaction's scripts do not end as the transaction states.", {
      declaredSpending: failure.kind === "PassedUnexpectedly" ? "collaterals" : "inputs",
      mismatchReason: describeFailure(failure),
    }),
  CollectErrors: ({ errors }) => collectErrors(errors),

  WithdrawalsNotInRewardsCERTS: incompleteWithdrawals,
  IncorrectDepositDELEG: wrongDeposit,
  DepositIncorrectDELEG: wrongDeposit,
  RefundIncorrectDELEG: wrongDeposit,
  StakeKeyRegisteredDELEG: ({ credential }) =>
    ogmiosError(3145, "A stake credential is registered already.", {
      from: originOf(credential),
      knownCredential: credential.hash,
    }),
  StakeKeyNotRegisteredDELEG: ({ credential }) => unknownCredential(credential),
  StakeKeyHasNonZeroAccountBalanceDELEG: ({ balance }) =>
    ogmiosError(3147, "An account that is closed has rewards left.", {
      nonEmptyRewardAccountBalance: adaJson(balance),
    }),
  DelegateeStakePoolNotRegisteredDELEG: unknownPool,
  DelegateeDRepNotRegisteredDELEG: unknownDrep,
  StakePoolNotRegisteredOnKeyPOOL: unknownPool,
  StakePoolRetirementWrongEpochPOOL: ({ supplied, after, last }) =>
    ogmiosError(3142, "A stake pool retires in the past or too far ahead.", {
      currentEpoch: after,
      declaredEpoch: jsonInteger(supplied),
      firstInvalidEpoch: last,
    }),
  StakePoolCostTooLowPOOL: ({ supplied, expected }) =>
    ogmiosError(3143, "The cost of a stake pool is too low.", {
      minimumStakePoolCost: adaJson(expected),
      declaredStakePoolCost: adaJson(supplied),
    }),
  WrongNetworkPOOL: ({ expected, pool }) => wrongNetwork(expected, "stakePoolCertificate", [poolJson(pool).id]),
  PoolMedataHashTooBig: ({ pool, size }) =>
    ogmiosError(3144, "The hash of a stake pool's metadata is too long.", {
      infringingStakePool: poolJson(pool),
      computedMetadataHashSize: sizeJson(size),
    }),
  VRFKeyHashAlreadyRegistered: (failure, version) =>
    version === 6
      ? refused(describeFailure(failure))
      : ogmiosError(3170, "The VRF key of a stake pool is that of another one.", {
        poolId: poolJson(failure.pool).id,
        alreadyRegisteredVrfKey: failure.vrf,
      }),
  ConwayDRepAlreadyRegistered: ({ credential }) =>
    ogmiosError(3152, "A delegate representative is registered already.", {
      knownDelegateRepresentative: { ...drepJson(credential) },
    }),
  ConwayDRepNotRegistered: unknownDrep,
  ConwayDRepIncorrectDeposit: wrongDeposit,
  ConwayDRepIncorrectRefund: wrongDeposit,
  ConwayCommitteeHasPreviouslyResigned: unknownMember,
  ConwayCommitteeIsUnknown: unknownMember,

  ProposalDepositIncorrect: ({ supplied, expected }) =>
    ogmiosError(3155, "The deposit of a proposal differs from that of the protocol parameters.", {
      providedDeposit: adaJson(supplied),
      expectedDeposit: adaJson(expected),
    }),
  ProposalProcedureNetworkIdMismatch: accountsOfNetwork,
  ProposalReturnAccountDoesNotExist: unknownAccounts,
  TreasuryWithdrawalsNetworkIdMismatch: accountsOfNetwork,
  TreasuryWithdrawalReturnAccountsDoNotExist: unknownAccounts,
  ZeroTreasuryWithdrawals: () => ogmiosError(3168, "A proposal withdraws nothing from the treasury."),
  ConflictingCommitteeUpdate: ({ members }) =>
    ogmiosError(3156, "A proposal adds and removes the same members.", { conflictingMembers: membersOf(members) }),
  ExpirationEpochTooSmall: ({ members }) =>
    ogmiosError(3157, "The term of some proposed members is over already.", {
      alreadyRetiredMembers: membersOf(members),
    }),
  MalformedProposal: () => ogmiosError(3139, "A proposal changes no parameter or changes one to an invalid value."),
  VotersDoNotExist: ({ voters }) =>
    ogmiosError(3167, "Some voters are unknown.", { unknownVoters: voters.map(voterOf) }),
  GovActionsDoNotExist: ({ actions }) =>
    ogmiosError(3138, "Some proposals that are voted on are unknown.", { unknownProposals: refs(actions) }),
  DisallowedVoters: unauthorized,
  VotingOnExpiredGovAction: (failure) =>
    ogmiosError(3160, "Some proposals that are voted on have expired.", { invalidVotes: votesOf(failure) }),
  DisallowedVotesDuringBootstrap: unauthorized,
  InvalidPrevGovActionId: invalidPrevious,
  DisallowedProposalDuringBootstrap: () =>
    ogmiosError(3165, "The proposal is of a kind that the bootstrap phase does not allow."),
  ProposalCantFollow: ({ supplied, expected }) =>
    ogmiosError(3162, "The proposed version cannot follow the current one.", {
      proposedVersion: versionOf(supplied),
      currentVersion: versionOf(expected),
    }),
  InvalidGuardrailsScriptHash: ({ supplied, expected }) =>
    ogmiosError(3163, "The guardrails script of a proposal is not that of the constitution.", {
      providedHash: supplied ?? null,
      expectedHash: expected ?? null,
    }),
  UnelectedCommitteeVoters: ({ members }) =>
    ogmiosError(3167, "Some voters are unknown.", {
      unknownVoters: members.map((member) => voterOf({ ...member, role: "committee" })),
    }),
};
