/**
 * Errors of `submitTransaction` as failures of the ledger, as far as they tell their data. Ogmios gives one error for several failures; of two that share
 * a code the one that Conway's ledger finds today is read. Every other error is a text.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError, decode } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";
import type { LedgerFailure, OutputAt } from "#src/cardano/failure.ts";
import { readDrep } from "#src/ogmios/certificates.ts";
import { readValidator } from "#src/ogmios/evaluation.ts";
import {
  amountOf,
  countOf,
  hexOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
} from "#src/ogmios/form.ts";
import { readVoter } from "#src/ogmios/governance.ts";
import { type Output, readOutput as decodeOutput } from "#src/cardano/output.ts";
import { outputJson, readOutput } from "#src/ogmios/outputs.ts";
import {
  readAda,
  readAddressJson,
  readCredential,
  readId,
  readPool,
  readPoolId,
  readRef,
  readSize,
  readUnits,
  readValue,
} from "#src/ogmios/values.ts";

/** Characters of a text that are kept. */
const MAX_MESSAGE = 2_000;

type Reader = (data: JsonObject) => LedgerFailure;

const hashes = (json: Json | undefined) => listOf(json, "hashes").map((hash) => hexOf(hash, "a hash"));
const refs = (json: Json | undefined) => listOf(json, "references").map(readRef);
const hashOrNone = (json: Json | undefined) => isGiven(json) ? hexOf(json, "a hash") : undefined;
const hashIn = (json: Json | undefined) => hexOf(objectOf(json, "metadata").hash, "the hash");
const outputsIn = (json: Json | undefined) =>
  listOf(json, "outputs").map((output) => ({ output: toHex(readOutput(output).raw) }));
const networkId = (json: Json | undefined) => json === "mainnet" ? 1 : 0;
const votesIn = (json: Json | undefined) =>
  listOf(json, "votes").map((one) => {
    const { proposal, voter } = objectOf(one, "a vote");
    return { voter: voterIn(voter), action: readRef(proposal) };
  });
const membersIn = (json: Json | undefined) =>
  listOf(json, "members").map((member) => readId(objectOf(member, "a member")));

function versionIn(json: Json | undefined) {
  const { major, minor } = objectOf(json, "the version");
  return { major: countOf(major, "major"), minor: countOf(minor, "minor") };
}

function voterIn(json: Json | undefined) {
  const voter = readVoter(json);
  if (!voter) throw new OgmiosFormError("a voter of another era");
  return { role: voter.role, ...voter.credential };
}

function eraNamed(json: Json | undefined): string {
  return ERAS.find((era) => era.toLowerCase() === json) ?? String(json).slice(0, 40);
}

function wrongNetwork({ expectedNetwork, discriminatedType, invalidEntities }: JsonObject): LedgerFailure {
  const expected = networkId(expectedNetwork);
  switch (discriminatedType) {
    case "address":
      return { name: "WrongNetwork", expected, addresses: listOf(invalidEntities, "addresses").map(readAddressJson) };
    case "rewardAccount":
      return {
        name: "WrongNetworkWithdrawal",
        expected,
        accounts: listOf(invalidEntities, "accounts").map(readAddressJson),
      };
    case "stakePoolCertificate": {
      const [pool] = listOf(invalidEntities, "pools");
      return { name: "WrongNetworkPOOL", supplied: 1 - expected, expected, pool: readPoolId(pool) };
    }
    case "transaction":
      return { name: "WrongNetworkInTxBody", supplied: 1 - expected, expected };
    default:
      throw new OgmiosFormError("no kind of a wrong network");
  }
}

function wrongDeposit({ providedDeposit, expectedDeposit }: JsonObject): LedgerFailure {
  const supplied = readAda(providedDeposit);
  return isGiven(expectedDeposit)
    ? { name: "DepositIncorrectDELEG", supplied, expected: readAda(expectedDeposit) }
    : { name: "IncorrectDepositDELEG", supplied };
}

function underfunded(json: Json | undefined): LedgerFailure {
  const outputs = listOf(json, "outputs").map((one) => {
    const { output, minimumRequiredValue } = objectOf(one, "an output");
    const read = readOutput(output);
    return {
      output: toHex(read.raw),
      supplied: read.value.lovelace,
      expected: isGiven(minimumRequiredValue) ? readAda(minimumRequiredValue) : 0n,
    };
  });
  return { name: "BabbageOutputTooSmallUTxO", outputs };
}

function credentialNamed(json: JsonObject, name: string) {
  return readCredential({ from: json.from ?? null, credential: json[name] ?? null });
}

function drepCredential(json: Json | undefined) {
  const drep = readDrep(json);
  if (!("hash" in drep)) throw new OgmiosFormError("no credential of a representative");
  return drep;
}

/** Failures by the code of their error. */
const READERS: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [3005, ({ queryEra, ledgerEra }) => ({
    name: "EraMismatch",
    transaction: eraNamed(queryEra),
    ledger: eraNamed(ledgerEra),
  })],
  [3100, ({ invalidSignatories }) => ({ name: "InvalidWitnessesUTXOW", keys: hashes(invalidSignatories) })],
  [3101, ({ missingSignatories }) => ({ name: "MissingVKeyWitnessesUTXOW", keys: hashes(missingSignatories) })],
  [3102, ({ missingScripts }) => ({ name: "MissingScriptWitnessesUTXOW", scripts: hashes(missingScripts) })],
  [3103, ({ failingNativeScripts }) => ({
    name: "ScriptWitnessNotValidatingUTXOW",
    scripts: hashes(failingNativeScripts),
  })],
  [3104, ({ extraneousScripts }) => ({ name: "ExtraneousScriptWitnessesUTXOW", scripts: hashes(extraneousScripts) })],
  [3105, ({ metadata }) => ({ name: "MissingTxBodyMetadataHash", hash: hashIn(metadata) })],
  [3106, ({ metadata }) => ({ name: "MissingTxMetadata", hash: hashIn(metadata) })],
  [3107, ({ provided, computed }) => ({
    name: "ConflictingMetadataHash",
    supplied: hashIn(provided),
    expected: hashIn(computed),
  })],
  [3108, () => ({ name: "InvalidMetadata" })],
  [3110, ({ extraneousRedeemers }) => ({
    name: "ExtraRedeemers",
    redeemers: listOf(extraneousRedeemers, "redeemers").map(readValidator),
  })],
  [3111, ({ missingDatums }) => ({ name: "MissingRequiredDatums", missing: hashes(missingDatums), received: [] })],
  [3112, ({ extraneousDatums }) => ({
    name: "NotAllowedSupplementalDatums",
    unallowed: hashes(extraneousDatums),
    acceptable: [],
  })],
  [3113, ({ providedScriptIntegrity, computedScriptIntegrity }) => ({
    name: "PPViewHashesDontMatch",
    supplied: hashOrNone(providedScriptIntegrity),
    expected: hashOrNone(computedScriptIntegrity),
  })],
  [3114, ({ orphanScriptInputs }) => ({ name: "UnspendableUTxONoDatumHash", inputs: refs(orphanScriptInputs) })],
  [3116, ({ malformedScripts }) => ({ name: "MalformedScriptWitnesses", scripts: hashes(malformedScripts) })],
  [3117, ({ unknownOutputReferences }) => ({ name: "BadInputsUTxO", inputs: refs(unknownOutputReferences) })],
  [3118, ({ validityInterval, currentSlot }) => {
    const { invalidBefore, invalidAfter } = objectOf(validityInterval, "the validity interval");
    return {
      name: "OutsideValidityIntervalUTxO",
      ...(isGiven(invalidBefore) ? { from: countOf(invalidBefore, "invalidBefore") } : {}),
      ...(isGiven(invalidAfter) ? { to: countOf(invalidAfter, "invalidAfter") } : {}),
      slot: countOf(currentSlot, "currentSlot"),
    };
  }],
  [3119, ({ measuredTransactionSize, maximumTransactionSize }) => ({
    name: "MaxTxSizeUTxO",
    supplied: readSize(measuredTransactionSize),
    expected: readSize(maximumTransactionSize),
  })],
  [3120, ({ excessivelyLargeOutputs }) => ({
    name: "OutputTooBigUTxO",
    outputs: outputsIn(excessivelyLargeOutputs).map((output) => ({ ...output, supplied: 0, expected: 0 })),
  })],
  [3121, () => ({ name: "InputSetEmptyUTxO" })],
  [3122, ({ minimumRequiredFee, providedFee }) => ({
    name: "FeeTooSmallUTxO",
    supplied: readAda(providedFee),
    expected: readAda(minimumRequiredFee),
  })],
  [3123, ({ valueConsumed, valueProduced }) => ({
    name: "ValueNotConservedUTxO",
    consumed: readValue(valueConsumed),
    produced: readValue(valueProduced),
  })],
  [3124, wrongNetwork],
  [3125, ({ insufficientlyFundedOutputs }) => underfunded(insufficientlyFundedOutputs)],
  [3126, ({ bootstrapOutputs }) => ({ name: "OutputBootAddrAttrsTooBig", outputs: outputsIn(bootstrapOutputs) })],
  [3128, ({ providedCollateral, minimumRequiredCollateral }) => ({
    name: "InsufficientCollateral",
    supplied: readAda(providedCollateral),
    expected: readAda(minimumRequiredCollateral),
  })],
  [3129, ({ unsuitableCollateralInputs }) => ({
    name: "ScriptsNotPaidUTxO",
    inputs: refs(unsuitableCollateralInputs),
  })],
  [3130, ({ unforeseeableSlot }) => ({ name: "OutsideForecast", slot: countOf(unforeseeableSlot, "the slot") })],
  [3131, ({ maximumCollateralInputs, countedCollateralInputs }) => ({
    name: "TooManyCollateralInputs",
    supplied: countOf(countedCollateralInputs, "the inputs"),
    expected: countOf(maximumCollateralInputs, "the maximum"),
  })],
  [3132, () => ({ name: "NoCollateralInputs" })],
  [3133, ({ unsuitableCollateralValue }) => ({
    name: "CollateralContainsNonADA",
    value: readValue(unsuitableCollateralValue),
  })],
  [3134, ({ providedExecutionUnits, maximumExecutionUnits }) => ({
    name: "ExUnitsTooBigUTxO",
    supplied: readUnits(providedExecutionUnits),
    expected: readUnits(maximumExecutionUnits),
  })],
  [3135, ({ declaredTotalCollateral, computedTotalCollateral }) => ({
    name: "IncorrectTotalCollateralField",
    supplied: readAda(declaredTotalCollateral),
    expected: readAda(computedTotalCollateral),
  })],
  [
    3136,
    ({ declaredSpending, mismatchReason }) =>
      declaredSpending === "collaterals" ? { name: "ValidationTagMismatch", kind: "PassedUnexpectedly" } : {
        name: "ValidationTagMismatch",
        kind: "FailedUnexpectedly",
        message: String(mismatchReason).slice(0, MAX_MESSAGE),
        logs: [],
      },
  ],
  [3137, ({ unauthorizedVotes }) => ({ name: "DisallowedVoters", votes: votesIn(unauthorizedVotes) })],
  [3138, ({ unknownProposals }) => ({ name: "GovActionsDoNotExist", actions: refs(unknownProposals) })],
  [3139, () => ({ name: "MalformedProposal" })],
  [3140, ({ unknownStakePool }) => ({
    name: "DelegateeStakePoolNotRegisteredDELEG",
    pool: readPoolId(unknownStakePool),
  })],
  [3141, ({ incompleteWithdrawals }) => ({
    name: "WithdrawalsNotInRewardsCERTS",
    withdrawals: Object.entries(objectOf(incompleteWithdrawals, "withdrawals")).map(([account, amount]) => ({
      account: readAddressJson(account),
      supplied: readAda(amount),
    })),
  })],
  [3142, ({ currentEpoch, declaredEpoch, firstInvalidEpoch }) => ({
    name: "StakePoolRetirementWrongEpochPOOL",
    supplied: amountOf(declaredEpoch, "declaredEpoch"),
    after: countOf(currentEpoch, "currentEpoch"),
    last: countOf(firstInvalidEpoch, "firstInvalidEpoch"),
  })],
  [3143, ({ minimumStakePoolCost, declaredStakePoolCost }) => ({
    name: "StakePoolCostTooLowPOOL",
    supplied: readAda(declaredStakePoolCost),
    expected: readAda(minimumStakePoolCost),
  })],
  [3144, ({ infringingStakePool, computedMetadataHashSize }) => ({
    name: "PoolMedataHashTooBig",
    pool: readPool(infringingStakePool),
    size: readSize(computedMetadataHashSize),
  })],
  [3145, (data) => ({ name: "StakeKeyRegisteredDELEG", credential: credentialNamed(data, "knownCredential") })],
  [3146, (data) => ({ name: "StakeKeyNotRegisteredDELEG", credential: credentialNamed(data, "unknownCredential") })],
  [3147, ({ nonEmptyRewardAccountBalance }) => ({
    name: "StakeKeyHasNonZeroAccountBalanceDELEG",
    balance: readAda(nonEmptyRewardAccountBalance),
  })],
  [3150, ({ marginalizedCredentials }) => ({
    name: "ConwayWdrlNotDelegatedToDRep",
    keys: hashes(marginalizedCredentials),
  })],
  [3151, wrongDeposit],
  [3152, ({ knownDelegateRepresentative }) => ({
    name: "ConwayDRepAlreadyRegistered",
    credential: drepCredential(knownDelegateRepresentative),
  })],
  [3153, ({ unknownDelegateRepresentative }) => ({
    name: "ConwayDRepNotRegistered",
    credential: drepCredential(unknownDelegateRepresentative),
  })],
  [3154, ({ unknownConstitutionalCommitteeMember }) => ({
    name: "ConwayCommitteeIsUnknown",
    credential: readId(objectOf(unknownConstitutionalCommitteeMember, "the member")),
  })],
  [3155, ({ providedDeposit, expectedDeposit }) => ({
    name: "ProposalDepositIncorrect",
    supplied: readAda(providedDeposit),
    expected: readAda(expectedDeposit),
  })],
  [3156, ({ conflictingMembers }) => ({ name: "ConflictingCommitteeUpdate", members: membersIn(conflictingMembers) })],
  [3157, ({ alreadyRetiredMembers }) => ({
    name: "ExpirationEpochTooSmall",
    members: membersIn(alreadyRetiredMembers),
  })],
  [3158, ({ providedWithdrawal, computedWithdrawal }) => ({
    name: "ConwayTreasuryValueMismatch",
    supplied: readAda(providedWithdrawal),
    expected: readAda(computedWithdrawal),
  })],
  [3160, ({ invalidVotes }) => ({ name: "VotingOnExpiredGovAction", votes: votesIn(invalidVotes) })],
  [3162, ({ proposedVersion, currentVersion }) => ({
    name: "ProposalCantFollow",
    previous: undefined,
    supplied: versionIn(proposedVersion),
    expected: versionIn(currentVersion),
  })],
  [3163, ({ providedHash, expectedHash }) => ({
    name: "InvalidGuardrailsScriptHash",
    supplied: hashOrNone(providedHash),
    expected: hashOrNone(expectedHash),
  })],
  [3164, ({ conflictingReferences }) => ({ name: "BabbageNonDisjointRefInputs", inputs: refs(conflictingReferences) })],
  [3166, ({ measuredReferenceScriptsSize, maximumReferenceScriptsSize }) => ({
    name: "ConwayTxRefScriptsSizeTooBig",
    supplied: readSize(measuredReferenceScriptsSize),
    expected: readSize(maximumReferenceScriptsSize),
  })],
  [3167, ({ unknownVoters }) => ({ name: "VotersDoNotExist", voters: listOf(unknownVoters, "voters").map(voterIn) })],
  [3168, () => ({ name: "ZeroTreasuryWithdrawals" })],
  [3170, ({ poolId, alreadyRegisteredVrfKey }) => ({
    name: "VRFKeyHashAlreadyRegistered",
    pool: readPoolId(poolId),
    vrf: hexOf(alreadyRegisteredVrfKey, "the hash of the VRF key"),
  })],
  [3997, ({ error }) => ({ name: "ConwayMempoolFailure", message: String(error).slice(0, MAX_MESSAGE) })],
]);

/**
 * The failure of an `error`; one whose code or data are not known is its text, shortened. With the transaction, outputs that the error shows get their
 * place in it. Never throws.
 */
export function readSubmissionError(json: Json | undefined, transaction?: ScannedTransaction): LedgerFailure {
  const { code, message, data } = isObject(json) ? json : {};
  if (code === -32602) return { name: "DeserialiseFailure", message: shortText(message, data) };
  const read = READERS.get(Number(code));
  try {
    if (read) return placed(read(isObject(data) ? data : {}), transaction);
  } catch (error) {
    if (!(error instanceof OgmiosFormError || error instanceof CborError)) throw error;
  }
  return { name: "ConwayMempoolFailure", message: shortText(message, data) };
}

/** Outputs are encoded here, so that they are found by what they say. */
function placed(failure: LedgerFailure, transaction: ScannedTransaction | undefined): LedgerFailure {
  if (!transaction) return failure;
  const texts = () => {
    const { outputs, collateralReturn } = transaction;
    return [...outputs, ...(collateralReturn ? [collateralReturn] : [])].map(textOfOutput);
  };
  switch (failure.name) {
    case "BabbageOutputTooSmallUTxO":
      return { ...failure, outputs: withPlaces(failure.outputs, texts()) };
    case "OutputTooBigUTxO":
      return { ...failure, outputs: withPlaces(failure.outputs, texts()) };
    case "OutputBootAddrAttrsTooBig":
      return { ...failure, outputs: withPlaces(failure.outputs, texts()) };
    default:
      return failure;
  }
}

const textOfOutput = (output: Output) => toJson(outputJson(output));

function withPlaces<T extends OutputAt>(outputs: readonly T[], texts: readonly string[]): T[] {
  return outputs.map((one) => {
    const index = one.output === undefined
      ? -1
      : texts.indexOf(textOfOutput(decodeOutput(decode(fromHex(one.output)))));
    return index < 0 ? one : { ...one, index };
  });
}

function shortText(message: Json | undefined, data: Json | undefined): string {
  const text = typeof message === "string" ? message : "The transaction was refused.";
  return `${text}${isGiven(data) ? ` ${toJson(data)}` : ""}`.slice(0, MAX_MESSAGE);
}
