/** Submissions of other processes over the bus, and of clients that wait while the mempool is full. */
import { sleep } from "#src/base/clock.ts";
import { fromHex, isHex } from "#src/base/bytes.ts";
import { isObject } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { endSpan, parseTraceparent, startSpan, within } from "#src/base/trace.ts";
import type { Submission } from "#src/chain/provider/port.ts";
import { toPlain } from "#src/devnet/ledger/plainJson.ts";
import { type SubmissionUnavailable, unavailable, type UndecodableSubmission } from "#src/devnet/blocks/submission.ts";
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
    const { traceparent } = body as { readonly traceparent?: unknown };
    const caller = parseTraceparent(typeof traceparent === "string" ? traceparent : undefined);
    const span = startSpan("devnet submit", "server", caller, {});
    within(span, () => submit(fromHex(text)))
      .then((said) => {
        endSpan(span, said.ok ? undefined : said.error.code);
        respond?.(toPlain(said.ok ? { outcome: said.value } : { error: said.error }));
      })
      .catch((error) => {
        endSpan(span, "failed");
        log.error("a submission failed", { reason: reason(error) });
        respond?.(toPlain({ error: unavailable().error }));
      });
  });
}

/** What takes transactions; a devnet. */
interface Submitter {
  submit(transaction: Uint8Array): Promise<Result<Submission, SubmissionUnavailable | UndecodableSubmission>>;
}

/** Milliseconds between attempts while the mempool is full. */
const FULL_MS = 200;

/**
 * Submits a transaction; like a node with a full mempool, lets the client wait. Undefined where the devnet does not run in
 * this process, and when the signal aborts.
 */
export async function submitWithRoom(
  devnet: Submitter,
  transaction: Uint8Array,
  signal: AbortSignal,
): Promise<Result<Submission, UndecodableSubmission> | undefined> {
  while (!signal.aborted) {
    const said = await devnet.submit(transaction);
    if (said.ok) return said;
    const { code, message } = said.error;
    if (code === "undecodable") return fail(code, message);
    if (code !== "mempool_full") return undefined;
    await sleep(FULL_MS, signal);
  }
}
