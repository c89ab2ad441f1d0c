/** Submission and evaluation of transactions. */
import { sleep } from "#src/base/clock.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { failuresAtNode } from "#src/devnet/serve/rejection.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { DevnetLost, type Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";
import { ogmiosError, undecodableError } from "#src/ogmios/errors.ts";
import { bytesOf, type JsonObject, objectOf, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { readAdditionalUtxos } from "#src/ogmios/outputs.ts";

/** What takes transactions. */
export interface Submissions {
  readonly devnet: Pick<Devnet, "submit" | "query">;
  readonly version: OgmiosVersion;
  evaluate(transaction: Uint8Array, additional: readonly Utxo[]): Promise<Answer>;
}

/** Milliseconds between attempts while the mempool is full. */
const FULL_MS = 200;

/** The submissions of a client. */
export function submission({ devnet, version, evaluate }: Submissions, signal: AbortSignal): Protocol {
  const undecodable = (message: string): Answer => ({ error: undecodableError(message, version) });

  const submit = async (transaction: Uint8Array): Promise<Answer> => {
    while (!signal.aborted) {
      const said = await devnet.submit(transaction);
      if (said.ok) {
        if (said.value.outcome === "accepted") {
          return { result: { transaction: { id: scanTransaction(transaction).hash } } };
        }
        const { failures } = said.value;
        const [first] = failures;
        if (first?.name === "DeserialiseFailure") return undecodable(first.message);
        return failureAnswer(await failuresAtNode(devnet, failures, transaction));
      }
      const { code, message } = said.error;
      if (code === "undecodable") return undecodable(message);
      if (code !== "mempool_full") break;
      // like a node with a full mempool, let the client wait
      await sleep(FULL_MS, signal);
    }
    throw new DevnetLost("The transaction was not submitted.");
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

/** One error for all failures of a transaction. */
function failureAnswer(failures: readonly LedgerFailure[]): Answer {
  return {
    error: ogmiosError(
      3997,
      "The transaction couldn't be added to the mempool. A justification is given as 'data.error'.",
      { error: failures.map(showFailure).join("; ") },
    ),
  };
}
