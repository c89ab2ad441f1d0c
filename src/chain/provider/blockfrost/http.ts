/**
 * Requests to a Blockfrost service: bounded in time, size and rate, retried where that may help.
 *
 * Assumptions: the service is not trusted, so an answer may be huge, truncated, late, or not JSON. It serves many
 * clients, so it may ask to retry (425, 429, 5xx). The project id is a secret: it is sent in one header to one origin,
 * never along a redirect, and appears in no log line or failure, even if the service repeats it.
 */
import { joined } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import {
  BlockfrostError,
  blockfrostError,
  type BlockfrostFailureCode,
  unless,
} from "#src/chain/provider/blockfrost/errors.ts";
import { type Rate, RateLimiter } from "#src/chain/provider/blockfrost/rateLimiter.ts";

export interface BlockfrostHttpSettings {
  /** Base URL of the API, with its version: `https://cardano-preview.blockfrost.io/api/v0`. */
  readonly url: string;
  /** What the service is, in messages; `Blockfrost service` by default. */
  readonly service?: string;
  /** Sent as `project_id`; a self-hosted service may need none. */
  readonly projectId?: string;
  /** 10 requests a second with a burst of 100 by default. Blockfrost's plans allow 10 a second with a burst of 500. */
  readonly rate?: Rate;
  /** Milliseconds that one attempt may take; 20,000 by default. */
  readonly answerMs?: number;
  /** Bytes of an answer at most; 16 MB by default. */
  readonly maxBytes?: number;
  /** Attempts at most; 5 by default. */
  readonly attempts?: number;
  /** Milliseconds before the second attempt, doubled for each further one; 300 by default. */
  readonly firstWaitMs?: number;
  /** Milliseconds without requests after the service said that its limit is used up; 60,000 by default. */
  readonly exhaustedMs?: number;
}

/** A complete answer. */
interface HttpAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  /** Milliseconds after which the service asks to retry. */
  readonly retryAfter?: number;
}

type RequestOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
    readonly ok: false;
    readonly failed: BlockfrostError;
    readonly again: boolean;
    readonly after?: number | undefined;
  };

const MAX_WAIT_MS = 30_000;
/** Characters of the service's message kept in a failure. */
const MAX_MESSAGE = 300;
const CBOR = "application/cbor";
/** Statuses after which a request is retried. */
const RETRY_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

export class BlockfrostHttp {
  private readonly base: string;
  private readonly rateLimiter: RateLimiter;
  /** Host of the service, for people: without path and credentials. */
  readonly where: string;
  /** What the service is, for people. */
  readonly service: string;
  private readonly closing = new AbortController();
  /** The failure that the limit is used up, and how long it applies. A client that continues is banned. */
  private exhausted: { readonly failed: BlockfrostError; readonly until: number } | undefined;

  constructor(private readonly settings: BlockfrostHttpSettings) {
    // paths begin with the slash
    this.base = settings.url.replace(/\/+$/, "");
    this.where = new URL(settings.url).host;
    this.service = settings.service ?? "Blockfrost service";
    this.rateLimiter = new RateLimiter(settings.rate ?? { perSecond: 10, burst: 100 });
  }

  /** Aborts open requests; later ones fail. */
  close(): void {
    this.closing.abort();
  }

  /** The answer to `GET path`. Throws `BlockfrostError`. */
  get(path: string, signal?: AbortSignal): Promise<Json> {
    return this.request(path, { method: "GET" }, (body) => this.parse(body), signal);
  }

  /** The bytes that answer `GET path`. Throws `BlockfrostError`. */
  bytes(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    const request = { method: "GET", headers: { accept: "application/octet-stream" } };
    return this.request(path, request, (value) => ({ ok: true, value }), signal);
  }

  /** The answer to `GET path`; undefined if there is no such object. Throws `BlockfrostError`. */
  find(path: string, signal?: AbortSignal): Promise<Json | undefined> {
    return unless(this.get(path, signal), "absent");
  }

  /**
   * The answer to posted bytes. Throws `BlockfrostError`; if `refused`, its message is what the service says, bounded
   * in length.
   */
  post(path: string, body: Uint8Array<ArrayBuffer> | string, type = CBOR, signal?: AbortSignal): Promise<Json> {
    const request = { method: "POST", body, headers: { "content-type": type } };
    return this.request(path, request, (answer) => this.parse(answer), signal);
  }

  private async request<T>(
    path: string,
    request: RequestInit,
    read: (body: Uint8Array) => RequestOutcome<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { attempts = 5, firstWaitMs = 300, exhaustedMs = 60_000 } = this.settings;
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    for (let attempt = 1;; attempt++) {
      await this.rateLimiter.take(stop);
      this.throwIfAborted(stop);
      if (this.exhausted && performance.now() < this.exhausted.until) throw this.exhausted.failed;
      const tried = await this.attempt(path, request, read, stop);
      if (tried.ok) return tried.value;
      if (tried.failed.failure.code === "exhausted") {
        this.exhausted = { failed: tried.failed, until: performance.now() + exhaustedMs };
      }
      if (!tried.again || attempt >= attempts) throw tried.failed;
      const wait = Math.min(MAX_WAIT_MS, firstWaitMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
      await sleep(Math.min(MAX_WAIT_MS, Math.max(wait, tried.after ?? 0)), stop);
    }
  }

  /** One attempt, and whether another may succeed: after no answer, a truncated one, or one that asks to retry. */
  private async attempt<T>(
    path: string,
    request: RequestInit,
    read: (body: Uint8Array) => RequestOutcome<T>,
    stop: AbortSignal,
  ): Promise<RequestOutcome<T>> {
    try {
      const answer = await this.fetch(path, request, stop);
      // 202: a transaction that was given to a node
      if (answer.status === 200 || answer.status === 202) return read(answer.body);
      const again = RETRY_STATUSES.has(answer.status);
      return { ok: false, failed: this.failureOf(answer, path), again, after: answer.retryAfter };
    } catch (error) {
      if (!(error instanceof BlockfrostError)) throw error;
      return { ok: false, failed: error, again: error.failure.code === "unreachable" };
    }
  }

  /** The answer to one attempt. */
  private async fetch(path: string, request: RequestInit, stop: AbortSignal): Promise<HttpAnswer> {
    const { projectId, answerMs = 20_000 } = this.settings;
    const late = AbortSignal.timeout(answerMs);
    const headers = new Headers(request.headers);
    if (!headers.has("accept")) headers.set("accept", "application/json");
    if (projectId !== undefined) headers.set("project_id", projectId);
    try {
      const response = await fetch(this.base + path, {
        ...request,
        headers,
        // another origin must not see the header
        redirect: "error",
        signal: AbortSignal.any([stop, late]),
      });
      const body = await this.readBounded(response);
      const retryAfter = retryAfterMs(response.headers.get("retry-after"));
      return { status: response.status, body, ...(retryAfter === undefined ? {} : { retryAfter }) };
    } catch (error) {
      if (error instanceof BlockfrostError) throw error;
      this.throwIfAborted(stop);
      if (late.aborted) {
        throw blockfrostError(
          "unreachable",
          `The ${this.service} at ${this.where} did not respond within ${answerMs / 1_000} s.`,
        );
      }
      const cause = error instanceof Error ? error.cause : undefined;
      const why = this.clean(cause === undefined ? reason(error) : `${reason(error)}: ${reason(cause)}`);
      throw blockfrostError("unreachable", `The ${this.service} at ${this.where} cannot be reached (${why}).`);
    }
  }

  private throwIfAborted(stop: AbortSignal): void {
    if (stop.aborted) throw blockfrostError("aborted", `The request to ${this.where} was cancelled.`);
  }

  /** Reads the body, up to the bound. */
  private async readBounded(response: Response): Promise<Uint8Array> {
    const { maxBytes = 16_000_000 } = this.settings;
    const reader = response.body?.getReader();
    if (!reader) return new Uint8Array(0);
    const parts: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return joined(parts);
      size += value.length;
      if (size > maxBytes) {
        await reader.cancel().catch(() => {});
        throw blockfrostError("unusable", `A response of ${this.where} has more than ${maxBytes} bytes.`);
      }
      parts.push(value);
    }
  }

  private parse(body: Uint8Array): RequestOutcome<Json> {
    try {
      return { ok: true, value: parseJson(new TextDecoder().decode(body)) };
    } catch {
      const failed = blockfrostError("unusable", `A response of ${this.where} is not JSON or is incomplete.`);
      return { ok: false, failed, again: true };
    }
  }

  private failureOf({ status, body }: HttpAnswer, path: string): BlockfrostError {
    const code = codeOf(status);
    const text = new TextDecoder().decode(body);
    const said = this.clean(text);
    switch (code) {
      case "absent":
        return blockfrostError(code, `${this.where} has no data at ${path}.`);
      case "lacking":
        return blockfrostError(code, `${this.where} does not support requests like ${path} (status ${status}).`);
      case "refused":
        return blockfrostError(code, this.clean(text, 8_000));
      case "unauthorized":
        return blockfrostError(
          code,
          `${this.where} does not accept the project id${
            this.settings.projectId === undefined ? ", which is missing" : ""
          }: ${said}`,
        );
      case "exhausted":
        return blockfrostError(code, `${this.where} rejects requests for now (status ${status}): ${said}`);
      default:
        return blockfrostError(code, `${this.where} responded with status ${status}: ${said}`);
    }
  }

  /** A service's text without the secret and without control characters, shortened. */
  private clean(text: string, most = MAX_MESSAGE): string {
    const { projectId } = this.settings;
    const open = projectId ? text.replaceAll(projectId, "(project id)") : text;
    // deno-lint-ignore no-control-regex
    return open.slice(0, most).replace(/[\u0000-\u001f\u007f]+/g, " ").toWellFormed();
  }
}

function codeOf(status: number): BlockfrostFailureCode {
  if (status === 404) return "absent";
  if (status === 400) return "refused";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 402 || status === 418) return "exhausted";
  if (status === 405 || status === 501) return "lacking";
  return status >= 500 || RETRY_STATUSES.has(status) ? "unreachable" : "unusable";
}
