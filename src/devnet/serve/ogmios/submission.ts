/** Submission and evaluation of transactions. */
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { failuresAtNode } from "#src/devnet/serve/rejection.ts";
import { submitWithRoom } from "#src/devnet/serve/submissions.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { DevnetLost, type Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { undecodableError } from "#src/ogmios/errors.ts";
import { submissionError } from "#src/ogmios/failures.ts";
import { bytesOf, type JsonObject, objectOf, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { readAdditionalUtxos } from "#src/ogmios/outputs.ts";

/** What takes transactions. */
export interface Submissions {
  readonly devnet: Pick<Devnet, "submit" | "query">;
  readonly version: OgmiosVersion;
  evaluate(transaction: Uint8Array, additional: readonly Utxo[]): Promise<Answer>;
}

/** The submissions of a client. */
export function submission({ devnet, version, evaluate }: Submissions, signal: AbortSignal): Protocol {
  const undecodable = (message: string): Answer => ({ error: undecodableError(message, version) });

  const submit = async (transaction: Uint8Array): Promise<Answer> => {
    const said = await submitWithRoom(devnet, transaction, signal);
    if (!said) throw new DevnetLost("The transaction was not submitted.");
    if (!said.ok) return undecodable(said.error.message);
    if (said.value.outcome === "accepted") {
      return { result: { transaction: { id: scanTransaction(transaction).hash } } };
    }
    const { failures } = said.value;
    const [first] = failures;
    if (first?.name === "DeserialiseFailure") return undecodable(first.message);
    return { error: await refusal(failures, transaction) };
  };

  const refusal = async (failures: readonly LedgerFailure[], transaction: Uint8Array) => {
    const ordered = await failuresAtNode(devnet, failures, transaction);
    return await devnet.query(({ utxo }) =>
      submissionError(ordered, { version, transaction, spends: (ref) => utxo.get(ref) })
    ) ?? submissionError(ordered, { version, transaction });
  };

  return {
    methods: {
      submitTransaction: (params) => {
        const transaction = transactionOf(params);
        return { run: () => submit(transaction) };
      },
      evaluateTransaction: (params) => {
        const transaction = transactionOf(params);
        const additional = readAdditionalUtxos(params.additionalUtxo ?? []);
        if (!additional.ok) throw new OgmiosFormError(`field 'additionalUtxo': ${additional.error.message}`);
        return { run: () => evaluate(transaction, additional.value) };
      },
    },
  };
}

function transactionOf({ transaction }: JsonObject): Uint8Array {
  return bytesOf(objectOf(transaction, "field 'transaction'").cbor, "field 'cbor'");
}
