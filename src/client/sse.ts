/**
 * Server-sent events (WHATWG HTML, section 9.2) as async iterators: `readEvents` for one connection, `follow` for a
 * stream that reconnects.
 *
 * Runs in browsers as well, whose `EventSource` offers neither the answer's status nor a signal.
 */
import { createParser } from "eventsource-parser";
import { sleep } from "#src/base/clock.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { memberOf } from "#src/base/member.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import { ApiError, fetchFrom, refusal, unreachable } from "#src/client/http.ts";

/** An event with data. */
export interface ServerSentEvent {
  /** Its type; `message` where the stream names none. */
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** One thing that a stream says. An event with an id follows its `id`. */
export type StreamItem =
  | { readonly type: "event"; readonly event: ServerSentEvent }
  /** The id after which the next connection continues. */
  | { readonly type: "id"; readonly id: string }
  /** Milliseconds to wait before the next connection. */
  | { readonly type: "retry"; readonly ms: number };

/** Most characters of an unfinished event that are buffered. */
const LARGEST = 16_777_216;

/**
 * Reads an event stream until it ends or the signal aborts, which cancels the body. (The signal of a request alone is
 * not enough: Deno was seen to forget it once the response had begun, and to go on reading.)
 *
 * @throws {Error} where the connection breaks off, or an event is larger than 16 MiB.
 *
 * @example
 * ```ts
 * import { readEvents } from "./src/client/sse.ts";
 *
 * const body = new Blob(["id: 1\ndata: hello\n\n"]).stream();
 * for await (const item of readEvents(body)) {
 *   if (item.type === "event") console.log(item.event.id, item.event.data); // 1 hello
 * }
 * ```
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<StreamItem, void> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const decoder = new TextDecoder();
  const items: StreamItem[] = [];
  const parser = createParser({
    maxBufferSize: LARGEST,
    onId: (id) => items.push({ type: "id", id }),
    onEvent: ({ event = "message", id, data }) => items.push({ type: "event", event: { event, id, data } }),
    onRetry: (ms) => items.push({ type: "retry", ms }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* items.splice(0);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await reader.cancel().catch(() => {});
  }
}

export interface FollowOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Id of the last event that was processed: the stream continues after it. */
  readonly after?: string | undefined;
  /** Milliseconds before a reconnect, unless the server names another time. */
  readonly retryMs?: number | undefined;
  /** Further headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * An event, or `opened`: a connection stands, and other reads from then on are not older than the stream's events.
 * `restored`: the database was restored to a point before the last id. State from events after `restoredTo` is to be
 * discarded; the stream begins again, with all events where it can give them (`GET /events`), else with those from now on.
 */
export type FollowedItem =
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: "restored"; readonly generation: string; readonly restoredTo: string }
  | { readonly type: "event"; readonly event: ServerSentEvent & { readonly id: string } };

/** The JSON of an event, of the form that the service's events have. */
export function dataOf<T>({ event }: Extract<FollowedItem, { type: "event" }>): T {
  return parseJson(event.data) as T;
}

const RETRY_MS = 1_000;
const LONGEST_MS = 30_000;
const TOO_MANY = 429;
const CONFLICT = 409;

/**
 * Follows a stream of events and reconnects when the connection is lost; the server then sends the missed events. A
 * reconnect waits at least as long as `Retry-After` asks for. A 429 is waited out on the first request as well. Where the
 * database was restored to an earlier point, the stream begins again after an item `restored`.
 *
 * @throws {ApiError} where the server refuses for good, and where it is unavailable on the first request.
 *
 * @example
 * ```ts
 * import { follow } from "./src/client/sse.ts";
 *
 * export async function watch(service: string, tokenId: string, signal: AbortSignal) {
 *   for await (const item of follow(`${service}/token/${tokenId}/events`, { signal })) {
 *     if (item.type === "event") console.log(item.event.event, item.event.data);
 *   }
 * }
 * ```
 */
export async function* follow(url: string, options: FollowOptions = {}): AsyncGenerator<FollowedItem, void> {
  const { signal } = options;
  const ends = new AbortController();
  const end = () => ends.abort();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) return;
  let { after: last, retryMs: wait = RETRY_MS } = options;
  let stood = false;
  try {
    for (let failures = 0;; failures++) {
      const opened = await open(url, last, ends.signal, options.headers);
      if (ends.signal.aborted) return;
      if ("body" in opened) {
        let isFirst = true;
        try {
          for await (const item of readEvents(opened.body, ends.signal)) {
            if (item.type === "retry") wait = item.ms;
            else if (item.type === "id") {
              last = item.id;
              if (isFirst) yield { type: "opened", id: last };
              [isFirst, stood, failures] = [false, true, 0];
            } else {
              const { id } = item.event;
              if (id !== undefined) yield { type: "event", event: { ...item.event, id } };
            }
          }
        } catch (error) {
          if (!(error instanceof Error) || error instanceof ApiError) throw error;
          // the connection broke off
        }
      } else if (opened.restored && last !== undefined) {
        const { begin, ...restored } = opened.restored;
        last = begin;
        yield { type: "restored", ...restored };
        continue;
      } else if (!opened.transient || (!stood && opened.error.status !== TOO_MANY)) throw opened.error;
      if (ends.signal.aborted) return;
      const pause = Math.min(LONGEST_MS, wait * 2 ** Math.min(failures, 10));
      await sleep(Math.max(pause, "error" in opened ? opened.waitMs : 0), ends.signal);
      if (ends.signal.aborted) return;
    }
  } finally {
    signal?.removeEventListener("abort", end);
    ends.abort();
  }
}

type OpenedStream =
  | { readonly body: ReadableStream<Uint8Array> }
  /** `transient`: a later attempt may succeed. `waitMs`: how long the server asks to wait before it. */
  | { readonly error: ApiError; readonly transient: boolean; readonly waitMs: number; readonly restored?: Restored };

/** The details of a refusal `restored`; `begin` is the id to begin again with. */
interface Restored {
  readonly generation: string;
  readonly restoredTo: string;
  readonly begin: string | undefined;
}

function restoredIn({ status, code, details }: ApiError): Restored | undefined {
  if (status !== CONFLICT || code !== "restored") return undefined;
  const [generation = "", restoredTo = "", begin] = ["generation", "restoredTo", "begin"].map((name) => {
    const value = memberOf(details, name);
    return typeof value === "string" ? value : undefined;
  });
  return { generation, restoredTo, begin };
}

async function open(
  url: string,
  last: string | undefined,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenedStream> {
  let response: Response;
  try {
    response = await fetchFrom(url, {
      headers: { ...headers, accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) },
      signal,
    });
  } catch (error) {
    return { error: unreachable(url, error), transient: true, waitMs: 0 };
  }
  if (response.ok && response.body) return { body: response.body };
  const text = await response.text().catch(() => "");
  let json: Json = null;
  try {
    json = parseJson(text);
  } catch {
    // no JSON: the status decides
  }
  const error = refusal(response.status, json, text);
  const restored = restoredIn(error);
  return {
    error,
    ...(restored && { restored }),
    transient: response.status === TOO_MANY || response.status >= 500,
    waitMs: retryAfterMs(response.headers.get("retry-after")) ?? 0,
  };
}
