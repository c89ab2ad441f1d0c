/**
 * One request to a server of somebody else's: bounded in time and bytes, and never to this machine or a private network unless that is allowed.
 * A name is resolved once, and what it resolved to is both checked and connected to; so is each redirect.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { resolveTarget } from "#src/base/targetAddress.ts";
import { exchange } from "#src/base/httpExchange.ts";

export interface FetchOptions {
  /** Whether addresses of this machine and of private networks will do. */
  readonly allowPrivate: boolean;
  /** For everything together, redirects included, in milliseconds. */
  readonly timeoutMs?: number;
  /** Most bytes of an answer. */
  readonly maxBytes?: number;
  /** Sent as JSON, with POST. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Certificates to trust instead of the usual ones, PEM. */
  readonly ca?: string;
}

export interface Fetched {
  readonly status: number;
  readonly bytes: Uint8Array;
}

export type FetchFailure = Failure<
  /** No URL that may be asked. */
  | "refused"
  /** Nobody answered in time, or the answer broke off. */
  | "unreachable"
  | "too_large"
>;

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 65_536;
const MOST_REDIRECTS = 3;

/** Asks; never rejects. Any status is an answer. */
export async function fetchOutside(text: string, options: FetchOptions): Promise<Result<Fetched, FetchFailure>> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  const lost = () =>
    fail("unreachable", late.aborted ? `There was no answer within ${timeoutMs} ms.` : "It was given up.");
  const over = new Promise<Result<Fetched, FetchFailure>>((resolve) =>
    signal.addEventListener("abort", () => resolve(lost()), { once: true })
  );
  if (signal.aborted) return lost();
  return await Promise.race([over, follow(text, options, signal)]);
}

async function follow(
  text: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Result<Fetched, FetchFailure>> {
  for (let url = text, hops = 0;; hops++) {
    const answer = await once(url, options, signal);
    if (!answer.ok || !("location" in answer.value)) return answer as Result<Fetched, FetchFailure>;
    if (hops === MOST_REDIRECTS) return fail("unreachable", `There are more than ${MOST_REDIRECTS} redirects.`);
    url = new URL(answer.value.location, url).href;
  }
}

type Answer = Result<Fetched | { readonly location: string }, FetchFailure>;

async function once(text: string, options: FetchOptions, signal: AbortSignal): Promise<Answer> {
  if (!URL.canParse(text)) return fail("refused", "This is no URL.");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return fail("refused", "Only http and https are asked.");
  if (url.username !== "" || url.password !== "") {
    return fail("refused", "A URL with a name or a password is not asked.");
  }
  const target = await resolveTarget(
    url,
    options.allowPrivate,
    "Addresses of this machine and of private networks are not asked.",
  );
  if (!target.ok) return fail(target.error.code === "refused" ? "refused" : "unreachable", target.error.message);
  if (signal.aborted) return fail("unreachable", "It was given up.");
  try {
    const { body, headers, ca, maxBytes = MOST_BYTES } = options;
    return await exchange<Answer>(url, target.value, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json",
        "user-agent": "arbor",
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body,
      signal,
      ca,
    }, (response, settle) => read(response, maxBytes, settle));
  } catch (error) {
    return fail("unreachable", `${reason(error)}.`);
  }
}

function read(response: IncomingMessage, maxBytes: number, settle: (answer: Answer) => void): void {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (status >= 300 && status < 400 && location !== undefined) return settle(ok({ location }));
  const parts: Buffer[] = [];
  let length = 0;
  response.on("data", (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > maxBytes) settle(fail("too_large", `The answer has more than ${maxBytes} bytes.`));
  });
  response.on("end", () => settle(ok({ status, bytes: new Uint8Array(Buffer.concat(parts)) })));
  response.on("error", () => settle(fail("unreachable", "The answer broke off.")));
  response.on("aborted", () => settle(fail("unreachable", "The answer broke off.")));
}
