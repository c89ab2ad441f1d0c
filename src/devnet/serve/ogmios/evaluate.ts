/** `evaluateTransaction`: units of a transaction's scripts. */
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import {
  evaluateTransaction,
  type EvaluationService,
  type TransactionEvaluation,
} from "#src/devnet/serve/evaluation.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { DevnetLost } from "#src/devnet/serve/ogmios/method.ts";
import type { Submissions } from "#src/devnet/serve/ogmios/submission.ts";
import { ogmiosError } from "#src/ogmios/errors.ts";
import { evaluationOutcome, validatorJson } from "#src/ogmios/evaluation.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";
import { refJson } from "#src/ogmios/values.ts";

/** Evaluation in the form of a version: since 7 an additional output counts before one that is known. */
export function evaluation(service: EvaluationService, version: OgmiosVersion): Submissions["evaluate"] {
  return async (transaction, additional) => {
    const options = { additionalFirst: version === 7 };
    const answer = await evaluateTransaction(service, transaction, additional, options);
    if (answer.kind === "unavailable") {
      if (!service.devnet.runs()) throw new DevnetLost(answer.message);
      throw new Error(answer.message);
    }
    return unknownInput(transaction, answer) ?? evaluationOutcome(answer, version);
  };
}

/** The answer for a transaction whose scripts cannot be run because the output of an input is not known: each fails. */
function unknownInput(transaction: Uint8Array, answer: TransactionEvaluation): Answer | undefined {
  if (answer.kind !== "no_context" || answer.reason !== "TranslationLogicMissingInput") return undefined;
  const read = readTransaction(transaction);
  const [, input] = /([0-9a-f]{64}#\d+)$/.exec(answer.about) ?? [];
  if (!read.ok || input === undefined) return undefined;
  const error = ogmiosError(
    3117,
    "The transaction contains unknown UTxO references as inputs. This can happen if the inputs you're trying to spend have already been spent, or if you've simply referred to non-existing UTxO altogether. The field 'data.unknownOutputReferences' indicates all unknown inputs.",
    { unknownOutputReferences: [refJson(parseRefKey(input))] },
  );
  const failed = read.value.witnesses.redeemers.map((pointer) => ({
    validator: validatorJson(pointer),
    error: { ...error },
  }));
  return { error: ogmiosError(3010, "Some scripts of the transactions terminated with error(s).", failed) };
}
