/** Answers to the evaluation of a transaction, as Blockfrost passes them on: of Ogmios 5 (JSON-WSP), or of version 6 (JSON-RPC). */
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import {
  contextReason,
  type EvaluationAnswer,
  evaluationOutcome,
  failedRedeemers,
  measuredUnits,
  NOT_TEXT,
} from "#src/ogmios/evaluation.ts";
import type { RedeemerFailure } from "#src/plutus/types.ts";

/** The document of an answer. */
export function ogmiosAnswer(answer: EvaluationAnswer, version: 5 | 6): object {
  if (version === 5) return versionFive(answer);
  return { jsonrpc: "2.0", method: "evaluateTransaction", ...evaluationOutcome(answer, 6), id: null };
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
      return fault(`Invalid request: ${NOT_TEXT}`);
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
      const failed = failedRedeemers(answer.redeemers);
      if (failed.length > 0) {
        const entries = failed.map(({ pointer, failure }) => [nameInFive(pointer), [failureInFive(pointer, failure)]]);
        return response({ EvaluationFailure: { ScriptFailures: Object.fromEntries(entries) } });
      }
      return response({
        EvaluationResult: Object.fromEntries(
          measuredUnits(answer.redeemers).map(({ pointer, units: { memory, steps } }) => [
            nameInFive(pointer),
            { memory, steps },
          ]),
        ),
      });
    }
  }
}

const NAMES_IN_FIVE = {
  spend: "spend",
  mint: "mint",
  cert: "certificate",
  reward: "withdrawal",
  vote: "vote",
  propose: "propose",
} as const;

const nameInFive = ({ purpose, index }: RedeemerPointer) => `${NAMES_IN_FIVE[purpose]}:${index}`;

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
