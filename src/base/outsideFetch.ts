/**
 * Requests to foreign servers, bounded in time and bytes, and never to this machine or a private network unless that is
 * allowed. A name is resolved once; the resolved address is checked and then connected to. Each redirect is checked the
 * same way. `ipfs://` is read through a gateway.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { resolveTarget } from "#src/base/targetAddress.ts";
import { exchange } from "#src/base/httpExchange.ts";

export interface FetchOptions {
  /** Whether addresses of this machine and of private networks are allowed. */
  readonly allowPrivate: boolean;
  /** URL of a server that the operator chose: its origin may be such an address, and no redirect to another one. */
  readonly chosen?: string | undefined;
  /** URL of an IPFS gateway that the operator chose, for `ipfs://<CID>/…`; without it these are refused. */
  readonly ipfs?: string | undefined;
  /** Milliseconds for the whole request, redirects included. */
  readonly timeoutMs?: number;
  /** Most bytes of the response. */
  readonly maxBytes?: number;
  /** The body of a POST request; JSON unless `contentType` names another type. */
  readonly body?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string;
}

/** A response with any status. */
interface FetchedResponse {
  readonly status: number;
  readonly bytes: Uint8Array;
}

type FetchFailure = Failure<
  /** The URL is not allowed. */
  | "refused"
  /** No response in time, or it broke off. */
  | "unreachable"
  | "too_large"
>;

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 65_536;
const MOST_REDIRECTS = 3;

/** Sends the request; never rejects. */
export async function fetchOutside(
  text: string,
  options: FetchOptions,
): Promise<Result<FetchedResponse, FetchFailure>> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  const lost = () =>
    fail("unreachable", late.aborted ? `No response within ${timeoutMs} ms.` : "The request was cancelled.");
  const over = new Promise<Result<FetchedResponse, FetchFailure>>((resolve) =>
    signal.addEventListener("abort", () => resolve(lost()), { once: true })
  );
  if (signal.aborted) return lost();
  try {
    const target = throughGateway(text, options);
    return await Promise.race([over, follow(target.url, target.options, signal)]);
  } catch (error) {
    return fail("unreachable", `${reason(error)}.`);
  }
}

/** A content's id, and perhaps a path below it. */
const IPFS_FORM = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]{32,128}(?:\/[^?#\\]*)?)$/;

/**
 * The request for a text that may be `ipfs://…`. The gateway is the operator's choice and may be on this machine; what
 * is read from it is the author's, and stays below the content's id.
 */
function throughGateway(text: string, options: FetchOptions): { readonly url: string; readonly options: FetchOptions } {
  const content = IPFS_FORM.exec(text)?.[1];
  if (options.ipfs === undefined || content === undefined) return { url: text, options };
  const gateway = `${options.ipfs.replace(/\/+$/, "").replace(/\/ipfs$/, "")}/ipfs/`;
  const { href } = new URL(gateway + content);
  const below = new URL(gateway + content.split("/", 1)[0]).href;
  const isBelow = href === below || href.startsWith(`${below}/`);
  return isBelow ? { url: href, options: { ...options, chosen: options.ipfs } } : { url: text, options };
}

async function follow(
  text: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Result<FetchedResponse, FetchFailure>> {
  for (let url = text, hops = 0;; hops++) {
    const answer = await request(url, options, signal);
    if (!answer.ok) return answer;
    if (!("location" in answer.value)) return ok(answer.value);
    if (hops === MOST_REDIRECTS) return fail("unreachable", `There are more than ${MOST_REDIRECTS} redirects.`);
    const { location } = answer.value;
    if (!URL.canParse(location, url)) return fail("unreachable", "The redirect is to something that is not a URL.");
    url = new URL(location, url).href;
  }
}

type Exchange = Result<FetchedResponse | { readonly location: string }, FetchFailure>;

async function request(text: string, options: FetchOptions, signal: AbortSignal): Promise<Exchange> {
  if (!URL.canParse(text)) return fail("refused", "This is not a URL.");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return fail("refused", "Only http and https URLs are allowed.");
  }
  if (url.username !== "" || url.password !== "") {
    return fail("refused", "URLs with a user name or a password are not allowed.");
  }
  const target = await resolveTarget(
    url,
    options.allowPrivate || (options.chosen !== undefined && new URL(options.chosen).origin === url.origin),
    "Addresses of this machine and of private networks are not allowed.",
  );
  if (!target.ok) return fail(target.error.code === "refused" ? "refused" : "unreachable", target.error.message);
  if (signal.aborted) return fail("unreachable", "The request was cancelled.");
  try {
    const { body, contentType = "application/json", headers, ca, maxBytes = MOST_BYTES } = options;
    return await exchange<Exchange>(url, target.value, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json",
        "user-agent": "arbor",
        ...headers,
        ...(body === undefined ? {} : { "content-type": contentType }),
      },
      body,
      signal,
      ca,
    }, (response, settle) => read(response, maxBytes, settle));
  } catch (error) {
    return fail("unreachable", `${reason(error)}.`);
  }
}

function read(response: IncomingMessage, maxBytes: number, settle: (answer: Exchange) => void): void {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (status >= 300 && status < 400 && location !== undefined) return settle(ok({ location }));
  const parts: Buffer[] = [];
  let length = 0;
  response.on("data", (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > maxBytes) settle(fail("too_large", `The response has more than ${maxBytes} bytes.`));
  });
  response.on("end", () => settle(ok({ status, bytes: new Uint8Array(Buffer.concat(parts)) })));
  response.on("error", () => settle(fail("unreachable", "The response is incomplete.")));
  response.on("aborted", () => settle(fail("unreachable", "The response is incomplete.")));
}
