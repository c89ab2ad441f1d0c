/** Posts one message to a checked address: without redirects, with one timeout, reading little of the response. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { reason } from "#src/base/log.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import { exchange } from "#src/base/httpExchange.ts";
import { resolveTarget } from "#src/base/targetAddress.ts";
import { REFUSED } from "#src/runtime/webhooks/url.ts";

export interface PostOptions {
  /** Whether addresses of this machine and of private networks, and http, are allowed. */
  readonly allowPrivate: boolean;
  /** Timeout for resolving, connecting, sending and the start of the response together, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string | undefined;
}

/** Outcome of a post. */
export interface PostResult {
  /** Whether the receiver responded with a status of 200 to 299. */
  readonly ok: boolean;
  readonly code: number | null;
  /** Why it failed, in a sentence. */
  readonly error: string | null;
  /** The start of the response to a failed post, at most `ANSWER_BYTES`. */
  readonly answer: string | null;
  /** The receiver's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null;
}

/** How much of a response is read and kept, in bytes. */
export const ANSWER_BYTES = 1_024;

/** Sends a message; never rejects. */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  options: PostOptions,
): Promise<PostResult> {
  const late = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
  const lost = (error: string): PostResult => ({ ok: false, code: null, error, answer: null, retryAfterMs: null });
  const aborted = new Promise<PostResult>((resolve) =>
    signal.addEventListener(
      "abort",
      () => resolve(lost(late.aborted ? `No response within ${options.timeoutMs} ms.` : "The sender stopped.")),
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

function read(response: IncomingMessage, settle: (posted: PostResult) => void): void {
  const code = response.statusCode ?? 0;
  if (code >= 200 && code < 300) return settle({ ok: true, code, error: null, answer: null, retryAfterMs: null });
  const parts: Buffer[] = [];
  let length = 0;
  const done = () => {
    const error = code >= 300 && code < 400
      ? `${code}: redirects are not followed.`
      : `The receiver responded with ${code}.`;
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
