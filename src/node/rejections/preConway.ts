/** Failures of eras before Conway, by name. No node accepts such transactions any more, so their data stay CBOR. */
import { as, type Item } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { cborHex } from "#src/node/rejections/failureCodec.ts";
import { eraName, readSmallNumber } from "#src/node/protocols/values.ts";

/** The numbers of a rule: its failures, and the rules below it. */
interface RuleNumbers {
  readonly [number: number]: string | RuleNumbers;
}

const ppup: RuleNumbers = { 0: "NonGenesisUpdatePPUP", 1: "PPUpdateWrongEpoch", 2: "PVCannotFollowPPUP" };

const utxoOfShelley: RuleNumbers = {
  0: "BadInputsUTxO",
  1: "ExpiredUTxO",
  2: "MaxTxSizeUTxO",
  3: "InputSetEmptyUTxO",
  4: "FeeTooSmallUTxO",
  5: "ValueNotConservedUTxO",
  6: "OutputTooSmallUTxO",
  7: ppup,
  8: "WrongNetwork",
  9: "WrongNetworkWithdrawal",
  10: "OutputBootAddrAttrsTooBig",
};

const utxoOfAllegra: RuleNumbers = {
  ...utxoOfShelley,
  1: "OutsideValidityIntervalUTxO",
  11: "TriesToForgeADA",
  12: "OutputTooBigUTxO",
};

const utxos: RuleNumbers = { 0: "ValidationTagMismatch", 1: "CollectErrors", 2: ppup };

const utxoOfAlonzo: RuleNumbers = {
  ...utxoOfAllegra,
  7: utxos,
  13: "InsufficientCollateral",
  14: "ScriptsNotPaidUTxO",
  15: "ExUnitsTooBigUTxO",
  16: "CollateralContainsNonADA",
  17: "WrongNetworkInTxBody",
  18: "OutsideForecast",
  19: "TooManyCollateralInputs",
  20: "NoCollateralInputs",
};

const utxoOfBabbage: RuleNumbers = {
  1: utxoOfAlonzo,
  2: "IncorrectTotalCollateralField",
  3: "BabbageOutputTooSmallUTxO",
  4: "BabbageNonDisjointRefInputs",
};

const utxowOfShelley = (utxo: RuleNumbers): RuleNumbers => ({
  0: "InvalidWitnessesUTXOW",
  1: "MissingVKeyWitnessesUTXOW",
  2: "MissingScriptWitnessesUTXOW",
  3: "ScriptWitnessNotValidatingUTXOW",
  4: utxo,
  5: "MIRInsufficientGenesisSigsUTXOW",
  6: "MissingTxBodyMetadataHash",
  7: "MissingTxMetadata",
  8: "ConflictingMetadataHash",
  9: "InvalidMetadata",
  10: "ExtraneousScriptWitnessesUTXOW",
});

const utxowOfAlonzo = (utxo: RuleNumbers): RuleNumbers => ({
  0: utxowOfShelley(utxo),
  1: "MissingRedeemers",
  2: "MissingRequiredDatums",
  3: "NotAllowedSupplementalDatums",
  4: "PPViewHashesDontMatch",
  5: "MissingRequiredSigners",
  6: "UnspendableUTxONoDatumHash",
  7: "ExtraRedeemers",
  8: "ScriptIntegrityHashMismatch",
});

const utxowOfBabbage: RuleNumbers = {
  1: utxowOfAlonzo(utxoOfBabbage),
  2: utxoOfBabbage,
  3: "MalformedScriptWitnesses",
  4: "MalformedReferenceScripts",
  5: "ScriptIntegrityHashMismatch",
};

const deleg: RuleNumbers = {
  0: "StakeKeyAlreadyRegisteredDELEG",
  1: "StakeKeyNotRegisteredDELEG",
  2: "StakeKeyNonZeroAccountBalanceDELEG",
  3: "StakeDelegationImpossibleDELEG",
  4: "WrongCertificateTypeDELEG",
  5: "GenesisKeyNotInMappingDELEG",
  6: "DuplicateGenesisDelegateDELEG",
  7: "InsufficientForInstantaneousRewardsDELEG",
  8: "MIRCertificateTooLateinEpochDELEG",
  9: "DuplicateGenesisVRFDELEG",
  11: "MIRTransferNotCurrentlyAllowed",
  12: "MIRNegativesNotCurrentlyAllowed",
  13: "InsufficientForTransferDELEG",
  14: "MIRProducesNegativeUpdate",
  15: "MIRNegativeTransfer",
  16: "DelegateeNotRegisteredDELEG",
};

const pool: RuleNumbers = {
  0: "StakePoolNotRegisteredOnKeyPOOL",
  1: "StakePoolRetirementWrongEpochPOOL",
  2: "WrongCertificateTypePOOL",
  3: "StakePoolCostTooLowPOOL",
  4: "WrongNetworkPOOL",
  5: "PoolMedataHashTooBig",
};

const delpl: RuleNumbers = { 0: pool, 1: deleg };
/**
 * In older nodes 1 was `WithdrawalsNotInRewardsDELEGS` and DELPL was 2; the former has a map as its data, which
 * distinguishes them.
 */
const delegs: RuleNumbers = { 0: "DelegateeNotRegisteredDELEG", 1: delpl, 2: delpl };

const ledger = (utxow: RuleNumbers): RuleNumbers => ({
  0: utxow,
  1: delegs,
  2: "ShelleyWithdrawalsMissingAccounts",
  3: "ShelleyIncompleteWithdrawals",
});

/** Rule LEDGER by index of the era. */
const ledgers: readonly (RuleNumbers | undefined)[] = [
  undefined,
  ledger(utxowOfShelley(utxoOfShelley)),
  ledger(utxowOfShelley(utxoOfAllegra)),
  ledger(utxowOfShelley(utxoOfAllegra)),
  ledger(utxowOfAlonzo(utxoOfAlonzo)),
  ledger(utxowOfBabbage),
];

/**
 * Decodes a failure of an era from Byron to Babbage. Throws `CborError` if it is not an array that begins with a
 * number.
 */
export function readEarlierFailure(era: number, failure: Item): LedgerFailure {
  const cbor = cborHex(failure);
  const of = ledgers[era];
  // Byron's failures have another form, whose names are not listed here
  const name = of ? nameIn(of, failure) : "ApplyMempoolPayloadErr";
  if (name === undefined) return { name: "UnknownFailure", rule: `LEDGER of ${eraName(era)}`, cbor };
  return { name: "EarlierEraFailure", era: eraName(era), failure: name, cbor };
}

function nameIn(rule: RuleNumbers, item: Item): string | undefined {
  const [number, below] = as(item, "array").value;
  const found = rule[readSmallNumber(number)];
  if (typeof found !== "object") return found;
  if (rule === delegs && below?.type === "map") return "WithdrawalsNotInRewardsDELEGS";
  return below?.type === "array" ? nameIn(found, below) : undefined;
}
