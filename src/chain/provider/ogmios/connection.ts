/**
 * One WebSocket to an Ogmios server: requests, and their answers by id.
 *
 * Assumptions: a server answers the requests of a protocol (chain, ledger state, mempool, submission) in their order,
 * each with the id and the method of its request. It is not trusted: an answer may be late, malformed, of another
 * request, or to none. Any of these ends the connection, because what follows would not be known to be an answer to
 * anything. A message over 64 MB never arrives: the runtime ends the connection.
 */
import { isObject, type Json, parseWritten, toJson } from "#src/base/json.ts";
import { OgmiosError, ogmiosError, ServerError } from "#src/chain/provider/ogmios/errors.ts";

export interface ConnectionSettings {
  /** URL of the server: `ws://127.0.0.1:1337`. */
  readonly url: string;
  /** Milliseconds to wait for a connection, and for an answer; 60,000 by default. */
  readonly answerMs?: number;
}

export type Params = { readonly [name: string]: Json };

/** An answer, and the characters of its message. */
export interface Answer {
  readonly result: Json;
  readonly size: number;
}

interface Pending {
  readonly method: string;
  settle(answer: Answer): void;
  reject(error: OgmiosError): void;
}

/** Requests without an answer at most: a server takes 1,000 by default. */
const MAX_PENDING = 500;
/** Characters of a server's text that are kept. */
const MAX_TEXT = 300;

/** Host of a server, for messages: without path and credentials. */
export const placeOf = (url: string): string => new URL(url).host;

/** A connection that is open. */
export class OgmiosConnection {
  /** The server, for messages. */
  readonly where: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, Pending>();
  readonly #ended = new AbortController();
  #failure: OgmiosError | undefined;
  #last = 0;

  /** Connects. Throws `OgmiosError`. */
  static async open(settings: ConnectionSettings, signal: AbortSignal): Promise<OgmiosConnection> {
    const { url, answerMs = 60_000 } = settings;
    const where = placeOf(url);
    if (signal.aborted) throw ogmiosError("aborted", `The connection to ${where} was cancelled.`);
    const Socket = globalThis.WebSocket ?? (await import("ws")).WebSocket as unknown as typeof WebSocket;
    const socket = new Socket(url);
    socket.binaryType = "arraybuffer";
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: OgmiosError) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        socket.onopen = socket.onerror = socket.onclose = null;
        if (error === undefined) return resolve();
        // a socket that is still connecting reports being closed as an error
        socket.onerror = () => {};
        socket.close();
        reject(error);
      };
      const stop = () => settle(ogmiosError("aborted", `The connection to ${where} was cancelled.`));
      const timer = setTimeout(
        () => settle(ogmiosError("unreachable", `Ogmios at ${where} did not connect within ${answerMs / 1_000} s.`)),
        answerMs,
      );
      signal.addEventListener("abort", stop, { once: true });
      socket.onopen = () => settle();
      socket.onerror = (event) =>
        settle(ogmiosError("unreachable", `Ogmios at ${where} cannot be reached${because(messageOf(event))}.`));
      socket.onclose = () => settle(ogmiosError("unreachable", `Ogmios at ${where} closed the connection.`));
    });
    return new OgmiosConnection(socket, where, answerMs);
  }

  private constructor(socket: WebSocket, where: string, private readonly answerMs: number) {
    this.where = where;
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#received(data);
    socket.onerror = (event) => this.fail(this.#broken(messageOf(event)));
    // a server that lost its node says so in the reason
    socket.onclose = ({ reason }) =>
      this.fail(ogmiosError("unreachable", `Ogmios at ${where} closed the connection${because(reason)}.`));
  }

  /** Aborts when the connection has ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The result of a request. Throws `OgmiosError`; a `ServerError` if the server answers with an error. */
  async request(method: string, params?: Params, signal?: AbortSignal): Promise<Json> {
    const { result } = await this.send(method, params, { ms: this.answerMs, signal });
    return result;
  }

  /** Sends a request; `ms` is its deadline, by default none. A late answer ends the connection. Throws `OgmiosError`. */
  send(
    method: string,
    params?: Params,
    { ms, signal }: { readonly ms?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Answer> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (signal?.aborted) return Promise.reject(this.#aborted());
    if (this.#pending.size >= MAX_PENDING) {
      return Promise.reject(
        ogmiosError("unreachable", `${MAX_PENDING} requests wait for Ogmios at ${this.where}; try again later.`),
      );
    }
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const late = () =>
        this.fail(ogmiosError(
          "unreachable",
          `Ogmios at ${this.where} did not answer ${method} within ${(ms ?? 0) / 1_000} s.`,
        ));
      const timer = ms === undefined ? undefined : setTimeout(late, ms);
      // the answer of a request that was aborted still comes
      const stop = () => reject(this.#aborted());
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#pending.set(id, {
        method,
        settle: (answer) => (done(), resolve(answer)),
        reject: (error) => (done(), reject(error)),
      });
      this.#socket.send(toJson({ jsonrpc: "2.0", method, params, id }));
    });
  }

  /** Ends the connection for a reason; gives the reason that counts, which is the first one. */
  fail(reason: OgmiosError): OgmiosError {
    if (this.#failure) return this.#failure;
    this.#failure = reason;
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.onerror = () => {};
    this.#socket.close();
    for (const pending of this.#pending.values()) pending.reject(reason);
    this.#pending.clear();
    this.#ended.abort();
    return reason;
  }

  close(): void {
    this.fail(this.#aborted());
  }

  #aborted(): OgmiosError {
    return ogmiosError("aborted", `The request to ${this.where} was cancelled.`);
  }

  #received(data: unknown): void {
    try {
      this.#settle(textOf(data));
    } catch (error) {
      this.fail(
        error instanceof OgmiosError
          ? error
          : ogmiosError("unusable", `Ogmios at ${this.where} sent a message that is not JSON.`),
      );
    }
  }

  #settle(text: string): void {
    const message = parseWritten(text);
    if (!isObject(message)) throw this.#odd("a message that is not an object");
    const { id, method, result, error } = message;
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!pending || typeof id !== "number") {
      throw this.#odd(`an answer to no request${because(isObject(error) ? String(error.message) : "")}`);
    }
    // an error may state no method, and with --strict-rpc no answer does
    if (method !== undefined && method !== pending.method) {
      throw this.#odd(`an answer of ${String(method).slice(0, MAX_TEXT)} to a request of ${pending.method}`);
    }
    this.#pending.delete(id);
    if (error !== undefined) return pending.reject(serverError(pending.method, error));
    if (result !== undefined) return pending.settle({ result, size: text.length });
    pending.reject(this.fail(this.#odd(`an answer to ${pending.method} without a result`)));
  }

  #broken(why: string): OgmiosError {
    if (!/too large/i.test(why)) {
      return ogmiosError("unreachable", `The connection to Ogmios at ${this.where} broke${because(why)}.`);
    }
    const methods = [...new Set([...this.#pending.values()].map(({ method }) => method))].join(", ");
    return ogmiosError("too_large", `An answer of Ogmios at ${this.where} is too large for a message (${methods}).`);
  }

  #odd(what: string): OgmiosError {
    return ogmiosError("unusable", `Ogmios at ${this.where} sent ${what}.`);
  }
}

function serverError(method: string, error: Json): ServerError {
  const { code, message } = isObject(error) ? error : {};
  const said = clean(typeof message === "string" ? message : "no reason");
  return new ServerError(method, typeof code === "number" ? code : 0, said, error);
}

function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (data instanceof ArrayBuffer) return new TextDecoder("utf-8", { fatal: true }).decode(data);
  throw new TypeError("neither text nor bytes");
}

const messageOf = (
  event: Event,
): string => ("message" in event && typeof event.message === "string" ? event.message : "");

/** A server's text in parentheses, shortened and without control characters. */
const because = (text: string): string => text === "" ? "" : ` (${clean(text)})`;

// deno-lint-ignore no-control-regex
const clean = (text: string) => text.slice(0, MAX_TEXT).replace(/[\u0000-\u001f\u007f]+/g, " ").toWellFormed();
