/** Sends one HTTP request to a checked address, without resolving the host name again. */
import { Buffer } from "node:buffer";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface Exchange {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Aborts the request; the promise then rejects. */
  readonly signal: AbortSignal;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string | undefined;
}

/**
 * Requests `url` from the host at `address`, without following redirects. `read` gets the response and calls `settle`
 * with the result, after which the rest of the response is not read. Rejects when the connection fails or the signal
 * aborts.
 */
export function exchange<T>(
  url: URL,
  address: string,
  { method, headers, body, signal, ca }: Exchange,
  read: (response: IncomingMessage, settle: (answer: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const secure = url.protocol === "https:";
    const named = !/^[\d.]+$|^\[/.test(url.hostname);
    const request = (secure ? requestHttps : requestHttp)({
      host: address,
      port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
      path: url.pathname + url.search,
      method,
      headers: {
        ...headers,
        host: url.host,
        ...(bytes ? { "content-length": bytes.length } : {}),
        connection: "close",
      },
      agent: false,
      ...(secure && named ? { servername: url.hostname } : {}),
      ...(secure && ca !== undefined ? { ca } : {}),
    });
    const end = () => request.destroy(new Error("aborted"));
    signal.addEventListener("abort", end, { once: true });
    const settle = (answer: T) => {
      signal.removeEventListener("abort", end);
      resolve(answer);
      request.destroy();
    };
    request.on("error", (error) => {
      signal.removeEventListener("abort", end);
      reject(error);
    });
    request.on("response", (response) => read(response, settle));
    request.end(bytes);
  });
}
