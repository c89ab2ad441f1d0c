/** What scripts of a language cannot be shown, named as the ledger names it (`ConwayContextError` and those that it holds of earlier eras). */
import { toHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";

/**
 * Names of the ledger's translation failures that Conway has. `ReferenceInputsNotSupported` and `ReferenceScriptsNotSupported` ended with
 * Babbage: since Conway, Plutus V1 runs beside both and does not see them.
 */
export type ContextErrorName =
  | "ByronTxOutInContext"
  | "TranslationLogicMissingInput"
  | "RedeemerPointerPointsToNothing"
  | "InlineDatumsNotSupported"
  | "TimeTranslationPastHorizon"
  | "CertificateNotSupported"
  | "CurrentTreasuryFieldNotSupported"
  | "VotingProceduresFieldNotSupported"
  | "ProposalProceduresFieldNotSupported"
  | "TreasuryDonationFieldNotSupported"
  | "ReferenceInputsNotDisjointFromInputs";

/** Why a transaction has no script context of a language: the ledger's name, and what in the transaction it is about. */
export interface ContextError {
  readonly reason: ContextErrorName;
  readonly about: string;
  /** CBOR of what the ledger holds beside the name, in hexadecimal; absent where that is a whole field of the body or a certificate. */
  readonly detail?: string;
}

/** Thrown within the translation; `translate` returns what it holds. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";

  readonly error: ContextError;

  constructor(reason: ContextErrorName, about: string, detail?: Encodable) {
    super(`${reason}: ${about}`);
    this.error = { reason, about, ...(detail === undefined ? {} : { detail: toHex(encode(detail)) }) };
  }
}
