/** Serves submissions: those of other processes over the bus, those of this process without it. */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { isObject } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import { toPlain } from "#src/devnet/ledger/plainJson.ts";
import { unavailable } from "#src/devnet/blocks/submission.ts";
import { SUBMIT_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";

/** Answers submissions until the returned function is called. */
export function serveSubmissions(
  bus: Bus,
  submit: (transaction: Uint8Array) => Promise<Result<Submission, Failure>>,
  log: Log,
): () => void {
  return bus.serve(SUBMIT_SUBJECT, (body, respond) => {
    const text = isObject(body) ? body.transaction : undefined;
    if (typeof text !== "string" || !isHex(text)) {
      respond?.(toPlain({ error: { code: "undecodable", message: "The transaction is not hexadecimal." } }));
      return;
    }
    submit(fromHex(text))
      .then((said) => respond?.(toPlain(said.ok ? { outcome: said.value } : { error: said.error })))
      .catch((error) => {
        log.error("a submission failed", { reason: reason(error) });
        respond?.(toPlain({ error: unavailable().error }));
      });
  });
}
