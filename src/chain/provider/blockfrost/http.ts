/**
 * Requests to a Blockfrost service: bounded in time, in size and in number, tried again where that may serve.
 *
 * Hypotheses: the service is a stranger's, so an answer may be huge, cut, late, or no JSON at all; it is asked by many, so it says to come
 * again (425, 429, 5xx); the project id is a secret, so it goes into one header of requests to one origin, to no place that it redirects
 * to, and into no log line or failure, not even where the service repeats it.
 */
import { sleep } from "#src/base/clock.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import { type ApiCode, ApiError, apiError } from "#src/chain/provider/blockfrost/errors.ts";
import { Pace, type Rate } from "#src/chain/provider/blockfrost/pace.ts";

export interface HttpSettings {
  /** Where the API begins, with its version: `https://cardano-preview.blockfrost.io/api/v0`. */
  readonly url: string;
  /** Sent as `project_id`; services of one's own may need none. */
  readonly projectId?: string;
  /** 10 a second with 100 at once unless said otherwise: a plan allows 10 a second, and 500 at once. */
  readonly rate?: Rate;
  /** Milliseconds that one attempt may take; 20,000 unless said otherwise. */
  readonly answerMs?: number;
  /** Bytes of an answer; 16 MB unless said otherwise. */
  readonly mostBytes?: number;
  /** Attempts; 5 unless said otherwise. */
  readonly attempts?: number;
  /** Milliseconds until the second attempt, twice as many until each further one; 300 unless said otherwise. */
  readonly firstWait?: number;
  /** Milliseconds that nothing is asked for after the word that no more is answered; 60,000 unless said otherwise. */
  readonly exhaustedMs?: number;
}

/** An answer that came whole. */
interface Answer {
  readonly status: number;
  readonly text: string;
  /** Milliseconds that the service wants to be left alone for. */
  readonly retryAfter?: number;
}

type Attempt =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly failed: ApiError; readonly again: boolean; readonly after?: number | undefined };

const LONGEST_WAIT = 30_000;
/** Characters of a service's own words in a failure. */
const MOST_WORDS = 300;
/** Statuses that say to come again. */
const AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);

export class Http {
  private readonly base: string;
  private readonly pace: Pace;
  /** Where the service is, for people: without path and credentials. */
  readonly where: string;
  private readonly closing = new AbortController();
  /** The word that no more is answered, and until when it is taken at that: who asks on is banned. */
  private exhausted: { readonly failed: ApiError; readonly until: number } | undefined;

  constructor(private readonly settings: HttpSettings) {
    // the paths begin with the slash
    this.base = settings.url.replace(/\/+$/, "");
    this.where = new URL(settings.url).host;
    this.pace = new Pace(settings.rate ?? { perSecond: 10, burst: 100 });
  }

  /** Ends what is under way; nothing is asked any more. */
  close(): void {
    this.closing.abort();
  }

  /** The answer to `GET path`. Throws `ApiError`. */
  get(path: string, signal?: AbortSignal): Promise<Json> {
    return this.ask(path, { method: "GET" }, signal);
  }

  /** The same, where "there is no such thing" is an answer: undefined. */
  async find(path: string, signal?: AbortSignal): Promise<Json | undefined> {
    try {
      return await this.get(path, signal);
    } catch (error) {
      if (error instanceof ApiError && error.failure.code === "absent") return undefined;
      throw error;
    }
  }

  /** The answer to bytes that are posted. Throws `ApiError`; of one that is `refused` the message is all that the service says, bounded. */
  post(path: string, body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Json> {
    return this.ask(path, { method: "POST", body, headers: { "content-type": "application/cbor" } }, signal);
  }

  private async ask(path: string, request: RequestInit, signal?: AbortSignal): Promise<Json> {
    const { attempts = 5, firstWait = 300, exhaustedMs = 60_000 } = this.settings;
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    for (let attempt = 1;; attempt++) {
      await this.pace.turn(stop);
      if (stop.aborted) throw apiError("aborted", `What was asked of ${this.where} is no longer wanted.`);
      if (this.exhausted && performance.now() < this.exhausted.until) throw this.exhausted.failed;
      const tried = await this.attempt(path, request, stop);
      if (tried.ok) return tried.value;
      if (tried.failed.failure.code === "exhausted") {
        this.exhausted = { failed: tried.failed, until: performance.now() + exhaustedMs };
      }
      if (!tried.again || attempt >= attempts) throw tried.failed;
      const wait = Math.min(LONGEST_WAIT, firstWait * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
      await sleep(Math.min(LONGEST_WAIT, Math.max(wait, tried.after ?? 0)), stop);
    }
  }

  /** One attempt, and whether another may serve: it may where nothing came, or something cut, or the word to come again. */
  private async attempt(path: string, request: RequestInit, stop: AbortSignal): Promise<Attempt> {
    try {
      const answer = await this.once(path, request, stop);
      if (answer.status === 200) return this.parsed(answer.text);
      const again = AGAIN.has(answer.status);
      return { ok: false, failed: this.failureOf(answer, path), again, after: answer.retryAfter };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ok: false, failed: error, again: error.failure.code === "unreachable" };
    }
  }

  /** One attempt. */
  private async once(path: string, request: RequestInit, stop: AbortSignal): Promise<Answer> {
    const { projectId, answerMs = 20_000 } = this.settings;
    const late = AbortSignal.timeout(answerMs);
    try {
      const response = await fetch(this.base + path, {
        ...request,
        headers: {
          accept: "application/json",
          ...request.headers as Record<string, string>,
          ...(projectId === undefined ? {} : { project_id: projectId }),
        },
        // another origin is not to see the header
        redirect: "error",
        signal: AbortSignal.any([stop, late]),
      });
      const text = await this.bounded(response);
      const retryAfter = retryAfterMs(response.headers.get("retry-after"));
      return { status: response.status, text, ...(retryAfter === undefined ? {} : { retryAfter }) };
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (stop.aborted) throw apiError("aborted", `What was asked of ${this.where} is no longer wanted.`);
      if (late.aborted) {
        throw apiError(
          "unreachable",
          `The Blockfrost service at ${this.where} did not answer within ${answerMs / 1_000} s.`,
        );
      }
      const cause = (error as { cause?: unknown }).cause;
      const why = this.bare(cause === undefined ? reason(error) : `${reason(error)}: ${reason(cause)}`);
      throw apiError("unreachable", `The Blockfrost service at ${this.where} cannot be reached (${why}).`);
    }
  }

  /** The body as text, read no further than the bound. */
  private async bounded(response: Response): Promise<string> {
    const { mostBytes = 16_000_000 } = this.settings;
    const reader = response.body?.getReader();
    if (!reader) return "";
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > mostBytes) {
        await reader.cancel().catch(() => {});
        throw apiError("unusable", `An answer of ${this.where} has more than ${mostBytes} bytes.`);
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  private parsed(text: string): Attempt {
    try {
      return { ok: true, value: parseJson(text) };
    } catch {
      const failed = apiError("unusable", `An answer of ${this.where} is no JSON, or not a whole one.`);
      return { ok: false, failed, again: true };
    }
  }

  private failureOf({ status, text }: Answer, path: string): ApiError {
    const code = codeOf(status);
    const said = this.bare(text);
    switch (code) {
      case "absent":
        return apiError(code, `${this.where} knows nothing at ${path}.`);
      case "lacking":
        return apiError(code, `${this.where} does not answer questions like ${path} (status ${status}).`);
      case "refused":
        return apiError(code, this.bare(text, 8_000));
      case "unauthorized":
        return apiError(
          code,
          `${this.where} does not accept the project id${
            this.settings.projectId === undefined ? ", which is missing" : ""
          }: ${said}`,
        );
      case "exhausted":
        return apiError(code, `${this.where} answers no more for now (status ${status}): ${said}`);
      default:
        return apiError(code, `${this.where} answers with status ${status}: ${said}`);
    }
  }

  /** A service's words without the secret and without what does not print, cut to a length. */
  private bare(text: string, most = MOST_WORDS): string {
    const { projectId } = this.settings;
    const open = projectId ? text.replaceAll(projectId, "(project id)") : text;
    // deno-lint-ignore no-control-regex
    return open.slice(0, most).replace(/[\u0000-\u001f\u007f]+/g, " ").toWellFormed();
  }
}

function codeOf(status: number): ApiCode {
  if (status === 404) return "absent";
  if (status === 400) return "refused";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 402 || status === 418) return "exhausted";
  if (status === 405 || status === 501) return "lacking";
  return status >= 500 || AGAIN.has(status) ? "unreachable" : "unusable";
}
