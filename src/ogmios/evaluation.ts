/** Results and failures of `evaluateTransaction`. */
import type { Json } from "#src/base/json.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { invalidRequest, type OgmiosError, ogmiosError, undecodableError } from "#src/ogmios/errors.ts";
import { countOf, listOf, objectOf, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { languageText } from "#src/ogmios/scripts.ts";
import { readUnits, refJson, unitsJson } from "#src/ogmios/values.ts";
import type { Measurement, RedeemerFailure } from "#src/plutus/types.ts";

/** The redeemers of a transaction, each with what it takes or why its script fails. */
export type MeasuredRedeemers = Extract<Measurement, { ok: true }>["redeemers"];

/** The result of an evaluation. */
export type EvaluationAnswer =
  | { readonly kind: "measured"; readonly redeemers: MeasuredRedeemers }
  /** The payload is neither hexadecimal nor base64. */
  | { readonly kind: "not_text" }
  | { readonly kind: "undecodable"; readonly message: string }
  | { readonly kind: "no_context"; readonly reason: string; readonly about: string }
  /** Additional outputs that contradict those on the chain. */
  | { readonly kind: "overlap"; readonly refs: readonly OutRef[] };

/** What an answer has beside its envelope. */
export type Outcome = { readonly result: Json } | { readonly error: OgmiosError };

/** The reason of a payload that is not text of bytes. */
export const NOT_TEXT = "failed to decode payload from base64 or base16.";

/** `result` or `error` of the answer to `evaluateTransaction`. */
export function evaluationOutcome(answer: EvaluationAnswer, version: OgmiosVersion): Outcome {
  switch (answer.kind) {
    case "not_text":
      return { error: invalidRequest(NOT_TEXT) };
    case "undecodable":
      return { error: undecodableError(answer.message, version) };
    case "no_context":
      return {
        error: ogmiosError(3004, "Unable to create the evaluation context from the given transaction.", {
          reason: contextReason(answer),
        }),
      };
    case "overlap":
      return {
        error: ogmiosError(
          3002,
          "Some user-provided additional UTxO entries overlap with those that exist in the ledger.",
          { overlappingOutputReferences: answer.refs.map(refJson) },
        ),
      };
    case "measured": {
      const failed = failedRedeemers(answer.redeemers);
      return failed.length === 0 ? { result: unitsResult(measuredUnits(answer.redeemers)) } : {
        error: ogmiosError(
          3010,
          "Some scripts of the transactions terminated with error(s).",
          failed.sort(inOrder).map(({ pointer, failure }) => ({
            validator: validatorJson(pointer),
            error: { ...failureError(pointer, failure) },
          })),
        ),
      };
    }
  }
}

/** Units of a redeemer. */
export interface RedeemerUnits {
  readonly pointer: RedeemerPointer;
  readonly units: Units;
}

/** The redeemers that failed. */
export function failedRedeemers(
  redeemers: MeasuredRedeemers,
): { readonly pointer: RedeemerPointer; readonly failure: RedeemerFailure }[] {
  return redeemers.flatMap((pointer) => pointer.result.ok ? [] : [{ pointer, failure: pointer.result.error }]);
}

/** The units of the redeemers that did not fail. */
export function measuredUnits(redeemers: MeasuredRedeemers): RedeemerUnits[] {
  return redeemers.flatMap((pointer) => pointer.result.ok ? [{ pointer, units: pointer.result.value }] : []);
}

function unitsResult(units: RedeemerUnits[]): Json {
  return units.sort(inOrder).map(({ pointer, units: of }) => ({
    validator: validatorJson(pointer),
    budget: unitsJson(of),
  }));
}

/** Reads the `result` of an evaluation. @throws OgmiosFormError */
export function readEvaluation(result: Json | undefined): readonly RedeemerUnits[] {
  return listOf(result, "the result").map((one) => {
    const { validator, budget } = objectOf(one, "a redeemer");
    return { pointer: readValidator(validator), units: readUnits(budget) };
  });
}

const NAMES = {
  spend: "spend",
  mint: "mint",
  cert: "publish",
  reward: "withdraw",
  vote: "vote",
  propose: "propose",
} as const;
const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;

/** The order of results: by purpose, then by index. */
function inOrder({ pointer: a }: { readonly pointer: RedeemerPointer }, { pointer: b }: {
  readonly pointer: RedeemerPointer;
}): number {
  return PURPOSES.indexOf(a.purpose) - PURPOSES.indexOf(b.purpose) || a.index - b.index;
}

/** What a redeemer is for. */
export function validatorJson({ purpose, index }: RedeemerPointer): { index: number; purpose: string } {
  return { index, purpose: NAMES[purpose] };
}

/** The inverse of `validatorJson`. @throws OgmiosFormError */
export function readValidator(json: Json | undefined): RedeemerPointer {
  const { purpose: name, index } = objectOf(json, "the validator");
  const purpose = PURPOSES.find((one) => NAMES[one] === name);
  if (purpose === undefined) throw new OgmiosFormError("no purpose of a script");
  return { purpose, index: countOf(index, "index") };
}

function failureError(pointer: RedeemerPointer, failure: RedeemerFailure): OgmiosError {
  switch (failure.kind) {
    case "no_target":
      return ogmiosError(3110, "Extraneous (i.e. non-required) redeemers found in the transaction.", {
        extraneousRedeemers: [validatorJson(pointer)],
      });
    case "no_script":
      return ogmiosError(3011, "An associated script witness is missing.", {
        missingScripts: [validatorJson(pointer)],
      });
    case "no_datum":
      return ogmiosError(3111, "Some Plutus scripts are missing their associated datums.", {
        missingDatums: [failure.datum],
      });
    case "no_cost_model":
      return ogmiosError(3115, "The transaction uses a Plutus version for which there is no cost model.", {
        missingCostModels: [languageText(failure.language)],
      });
    case "failed":
      return ogmiosError(3012, "Some of the scripts failed to evaluate to a positive outcome.", {
        validationError: failure.message,
        traces: [...failure.logs],
      });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ByronTxOutInContext: "Found inputs or outputs with a (legacy) Byron/Bootstrap address. Don't use those.",
  InlineDatumsNotSupported: "Inline datums not supported in plutus:v1. Use plutus:v2 or higher.",
  CurrentTreasuryFieldNotSupported:
    "Unsupported field in transaction: 'treasury'. Use plutus:v3 or higher, or remove this field.",
  ProposalProceduresFieldNotSupported:
    "Unsupported field in transaction: 'proposals'. Use plutus:v3 or higher, or remove this field.",
  TreasuryDonationFieldNotSupported:
    "Unsupported field in transaction: 'donation'. Use plutus:v3 or higher, or remove this field.",
  VotingProceduresFieldNotSupported:
    "Unsupported field in transaction: 'votes'. Use plutus:v3 or higher, or remove this field.",
};

/** What redeemers are for. */
const TITLES: Readonly<Record<string, string>> = {
  spend: "spending input",
  mint: "minting policy",
  cert: "publishing certificate",
  reward: "withdrawing from account",
};

/** Why scripts cannot see a transaction, in the words of Ogmios where clients look for them. */
export function contextReason({ reason, about }: { readonly reason: string; readonly about: string }): string {
  switch (reason) {
    case "TranslationLogicMissingInput":
      return `Unknown transaction input (missing from UTxO set): ${about.replace("input ", "")}`;
    case "RedeemerPointerPointsToNothing": {
      const [, purpose = "", index = ""] = /(\w+) (\d+)$/.exec(about) ?? [];
      return `Couldn't find corresponding redeemer for ${
        TITLES[purpose] ?? purpose
      } #${index}. Verify your transaction's construction.`;
    }
    case "TimeTranslationPastHorizon":
      return `Uncomputable slot arithmetic; transaction's validity bounds go beyond the foreseeable end of the current era: ${about}`;
    default:
      return REASONS[reason] ?? `${reason}: ${about}`;
  }
}
