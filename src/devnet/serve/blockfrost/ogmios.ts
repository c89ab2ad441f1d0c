/** Answers of Ogmios to `EvaluateTx` (version 5, JSON-WSP) and `evaluateTransaction` (version 6, JSON-RPC). */
import type { Result } from "#src/base/result.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { Measurement, RedeemerFailure } from "#src/plutus/types.ts";

/** The version whose form an answer has. */
export type OgmiosVersion = 5 | 6;

type Redeemers = Extract<Measurement, { ok: true }>["redeemers"];
type MeasuredRedeemer = Redeemers[number];

/** What evaluating a transaction came to. */
export type EvaluationAnswer =
  | { readonly kind: "measured"; readonly redeemers: Redeemers }
  /** The payload is neither hexadecimal nor base64. */
  | { readonly kind: "not_text" }
  | { readonly kind: "undecodable"; readonly message: string }
  | { readonly kind: "no_context"; readonly reason: string; readonly about: string }
  /** Additional outputs that contradict those on the chain. */
  | { readonly kind: "overlap"; readonly refs: readonly OutRef[] };

const NOT_TEXT = "Invalid request: failed to decode payload from base64 or base16.";

/** The document of an answer. */
export function ogmiosAnswer(answer: EvaluationAnswer, version: OgmiosVersion): object {
  return version === 5 ? versionFive(answer) : versionSix(answer);
}

function versionFive(answer: EvaluationAnswer): object {
  const common = { version: "1.0", servicename: "ogmios" };
  const reflection = { id: crypto.randomUUID() };
  const fault = (string: string) => ({
    type: "jsonwsp/fault",
    ...common,
    fault: { code: "client", string },
    reflection,
  });
  const response = (result: object) => ({
    type: "jsonwsp/response",
    ...common,
    methodname: "EvaluateTx",
    result,
    reflection,
  });
  switch (answer.kind) {
    case "not_text":
      return fault(NOT_TEXT);
    case "undecodable":
      return fault(
        `Invalid request: Deserialisation failure while decoding serialised transaction. ${answer.message}`,
      );
    case "no_context":
      return response({ EvaluationFailure: { CannotCreateEvaluationContext: { reason: contextReason(answer) } } });
    case "overlap": {
      const refs = answer.refs.map(({ txHash, index }) => ({ txId: txHash, index }));
      return response({ EvaluationFailure: { AdditionalUtxoOverlap: refs } });
    }
    case "measured": {
      const failed = failures(answer.redeemers);
      if (failed.length > 0) {
        const entries = failed.map(({ pointer, failure }) => [nameInFive(pointer), [failureInFive(pointer, failure)]]);
        return response({ EvaluationFailure: { ScriptFailures: Object.fromEntries(entries) } });
      }
      return response({
        EvaluationResult: Object.fromEntries(
          units(answer.redeemers).map(({ pointer, units: { memory, steps } }) => [
            nameInFive(pointer),
            { memory, steps },
          ]),
        ),
      });
    }
  }
}

function versionSix(answer: EvaluationAnswer): object {
  const error = (code: number, message: string, data?: unknown) => ({
    jsonrpc: "2.0",
    method: "evaluateTransaction",
    error: { code, message, ...(data === undefined ? {} : { data }) },
    id: null,
  });
  switch (answer.kind) {
    case "not_text":
      return error(-32600, NOT_TEXT);
    case "undecodable": {
      const eras = ["shelley", "allegra", "mary", "alonzo", "babbage", "conway"];
      return error(
        -32602,
        "Invalid transaction; it is not well-formed in any era.",
        Object.fromEntries(eras.map((era) => [era, answer.message])),
      );
    }
    case "no_context":
      return error(3004, "Unable to create the evaluation context from the given transaction.", {
        reason: contextReason(answer),
      });
    case "overlap":
      return error(3002, "Some user-provided additional UTxO entries overlap with those that exist in the ledger.", {
        overlappingOutputReferences: answer.refs.map(({ txHash, index }) => ({ transaction: { id: txHash }, index })),
      });
    case "measured": {
      const failed = failures(answer.redeemers);
      if (failed.length > 0) {
        return error(
          3010,
          "Some scripts of the transactions terminated with error(s).",
          failed.map(({ pointer, failure }) => ({
            validator: validator(pointer),
            error: failureInSix(pointer, failure),
          })),
        );
      }
      return {
        jsonrpc: "2.0",
        method: "evaluateTransaction",
        result: units(answer.redeemers).map(({ pointer, units: { memory, steps } }) => ({
          validator: validator(pointer),
          budget: { memory, cpu: steps },
        })),
        id: null,
      };
    }
  }
}

/** The redeemers that failed, in order. */
function failures(redeemers: Redeemers): { readonly pointer: RedeemerPointer; readonly failure: RedeemerFailure }[] {
  return redeemers.flatMap((pointer: MeasuredRedeemer) =>
    pointer.result.ok ? [] : [{ pointer, failure: pointer.result.error }]
  );
}

function units(redeemers: Redeemers): { readonly pointer: RedeemerPointer; readonly units: Units }[] {
  return redeemers.flatMap((pointer: { readonly result: Result<Units, RedeemerFailure> } & RedeemerPointer) =>
    pointer.result.ok ? [{ pointer, units: pointer.result.value }] : []
  );
}

const NAMES_IN_FIVE = {
  spend: "spend",
  mint: "mint",
  cert: "certificate",
  reward: "withdrawal",
  vote: "vote",
  propose: "propose",
} as const;

const NAMES_IN_SIX = { ...NAMES_IN_FIVE, cert: "publish", reward: "withdraw" } as const;

const nameInFive = ({ purpose, index }: RedeemerPointer) => `${NAMES_IN_FIVE[purpose]}:${index}`;
const validator = ({ purpose, index }: RedeemerPointer) => ({ index, purpose: NAMES_IN_SIX[purpose] });

function failureInFive(pointer: RedeemerPointer, failure: RedeemerFailure): object {
  switch (failure.kind) {
    case "no_target":
      return { extraRedeemers: [nameInFive(pointer)] };
    case "no_script":
      return {
        missingRequiredScripts: {
          missing: [nameInFive(pointer)],
          resolved: { [nameInFive(pointer)]: failure.script },
        },
      };
    case "no_datum":
      return { missingRequiredDatums: { missing: [failure.datum], provided: [] } };
    case "no_cost_model":
      return { noCostModelForLanguage: `plutus:v${failure.language}` };
    case "failed":
      return { validatorFailed: { error: failure.message, traces: failure.logs } };
  }
}

function failureInSix(pointer: RedeemerPointer, failure: RedeemerFailure): object {
  switch (failure.kind) {
    case "no_target":
      return {
        code: 3110,
        message: "Extraneous (i.e. non-required) redeemers found in the transaction.",
        data: { extraneousRedeemers: [validator(pointer)] },
      };
    case "no_script":
      return {
        code: 3011,
        message: "An associated script witness is missing.",
        data: { missingScripts: [validator(pointer)] },
      };
    case "no_datum":
      return {
        code: 3111,
        message: "Some Plutus scripts are missing their associated datums.",
        data: { missingDatums: [failure.datum] },
      };
    case "no_cost_model":
      return {
        code: 3115,
        message: "The transaction uses a Plutus version for which there is no cost model.",
        data: { missingCostModels: [`plutus:v${failure.language}`] },
      };
    case "failed":
      return {
        code: 3012,
        message: "Some of the scripts failed to evaluate to a positive outcome.",
        data: { validationError: failure.message, traces: failure.logs },
      };
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
function contextReason({ reason, about }: { readonly reason: string; readonly about: string }): string {
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
