/** Why a transaction has no script context in a language, by the ledger's names (`ConwayContextError` and the earlier errors in it). */
import { toHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";

/**
 * Names of Conway's translation failures. `ReferenceInputsNotSupported` and `ReferenceScriptsNotSupported` are not among
 * them: since Conway, Plutus V1 scripts run in transactions with reference inputs and scripts and do not see them.
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

/** A translation failure: the ledger's name for it, and the part of the transaction that caused it. */
export interface ContextError {
  readonly reason: ContextErrorName;
  readonly about: string;
  /** The failure's data in the ledger, as CBOR in hexadecimal; absent if it is a complete field of the body or a certificate. */
  readonly detail?: string;
}

/** Thrown within the translation; `translate` returns its `error`. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";

  readonly error: ContextError;

  constructor(reason: ContextErrorName, about: string, detail?: Encodable) {
    super(`${reason}: ${about}`);
    this.error = { reason, about, ...(detail === undefined ? {} : { detail: toHex(encode(detail)) }) };
  }
}
