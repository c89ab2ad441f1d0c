/** One message over HTTP to an address that was checked: no redirects, a deadline for everything, little of the answer. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { reason } from "#src/base/log.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import { exchange } from "#src/base/httpExchange.ts";
import { resolveTarget } from "#src/base/targetAddress.ts";
import { REFUSED } from "#src/runtime/webhooks/url.ts";

export interface PostOptions {
  /** Whether addresses of this machine and of private networks will do, and http. */
  readonly allowPrivate: boolean;
  /** For resolving, connecting, sending and the answer's beginning together, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Certificates to trust instead of the usual ones, PEM. */
  readonly ca?: string | undefined;
}

/** What became of a message. */
export interface Posted {
  /** Whether the receiver answered with a status of 200 to 299. */
  readonly ok: boolean;
  readonly code: number | null;
  /** Why it did not arrive, in a sentence. */
  readonly error: string | null;
  /** The beginning of an answer that is no success, at most `ANSWER_BYTES`. */
  readonly answer: string | null;
  /** How long the receiver wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | null;
}

/** How much of an answer is read and kept, in bytes. */
export const ANSWER_BYTES = 1_024;

/** Sends a message; never rejects. */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  options: PostOptions,
): Promise<Posted> {
  const late = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const lost = (error: string): Posted => ({ ok: false, code: null, error, answer: null, retryAfterMs: null });
  const aborted = new Promise<Posted>((resolve) =>
    signal.addEventListener(
      "abort",
      () => resolve(lost(late.aborted ? `No answer within ${options.timeoutMs} ms.` : "The sender stopped.")),
      { once: true },
    )
  );
  const work = (async () => {
    const target = await resolveTarget(url, options.allowPrivate, REFUSED);
    if (!target.ok) return lost(target.error.message);
    if (signal.aborted) return await aborted;
    try {
      return await exchange(url, target.value, { method: "POST", headers, body, signal, ca: options.ca }, read);
    } catch (error) {
      return signal.aborted ? await aborted : lost(`${reason(error)}.`);
    }
  })();
  return await Promise.race([work, aborted]);
}

function read(response: IncomingMessage, settle: (posted: Posted) => void): void {
  const code = response.statusCode ?? 0;
  if (code >= 200 && code < 300) return settle({ ok: true, code, error: null, answer: null, retryAfterMs: null });
  const parts: Buffer[] = [];
  let length = 0;
  const done = () => {
    const error = code >= 300 && code < 400 ? `${code}: redirects are not followed.` : `The receiver answered ${code}.`;
    const text = Buffer.concat(parts).subarray(0, ANSWER_BYTES).toString("utf8").replaceAll("\0", "");
    settle({
      ok: false,
      code,
      error,
      answer: text === "" ? null : text,
      retryAfterMs: retryAfterMs(response.headers["retry-after"]) || null,
    });
  };
  response.on("data", (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length >= ANSWER_BYTES) done();
  });
  response.on("end", done);
  response.on("error", done);
}
