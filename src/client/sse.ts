/** Server-sent events as a stream of blocks, and a stream that comes back by itself; runs in a browser, where EventSource knows no `bigint`. */
import { sleep } from "#src/base/clock.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { retryAfterMs } from "#src/base/retryAfter.ts";
import { ApiError, refusal, unreachable } from "#src/client/http.ts";

/** One block of a stream. */
export interface Sent {
  readonly event: string;
  /** Where a client goes on that has taken it. */
  readonly id: string | undefined;
  /** Absent where the block only moves the place, or keeps the connection alive. */
  readonly data: string | undefined;
  /** Milliseconds to wait before coming back, where it says so. */
  readonly retry: number | undefined;
}

/**
 * The blocks of a stream, whatever pieces it comes in; returns where it ends, or where the signal aborts. The signal of a request alone is not
 * relied on: Deno was seen to forget it once the answer had begun, and the stream to go on.
 */
export async function* blocksOf(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Sent, void> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = ended(text); end; end = ended(text)) {
        const sent = blockOf(text.slice(0, end.from));
        text = text.slice(end.to);
        if (sent) yield sent;
      }
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await reader.cancel().catch(() => {});
  }
}

/** Where the first block of a text ends, and where the next begins. A carriage return at the end may be half of a line's end. */
function ended(text: string): { readonly from: number; readonly to: number } | undefined {
  const end = /(\r\n|\n|\r(?!\n|$))(\r\n|\n|\r(?!\n|$))/.exec(text);
  return end ? { from: end.index, to: end.index + end[0].length } : undefined;
}

function blockOf(block: string): Sent | undefined {
  const data: string[] = [];
  let event = "message";
  let id: string | undefined;
  let retry: number | undefined;
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line === "" || line.startsWith(":")) continue;
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
    else if (name === "retry" && /^\d+$/.test(value)) retry = Number(value);
  }
  if (data.length === 0 && id === undefined && retry === undefined) return undefined;
  return { event, id, data: data.length === 0 ? undefined : data.join("\n"), retry };
}

export interface FollowOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Where to go on: the id of what was taken last. */
  readonly after?: string | undefined;
  /** Milliseconds before a lost connection is made anew, unless the server says otherwise. */
  readonly retryMs?: number | undefined;
}

/** A block, or that a connection stands (`opened`): what is read elsewhere from then on is not older than the stream. */
export type Followed = { readonly type: "opened"; readonly id: string } | {
  readonly type: "sent";
  readonly sent: Sent;
};

const RETRY_MS = 1_000;
const LONGEST_MS = 30_000;
const TOO_MANY = 429;

/**
 * Follows a stream of events for ever: a connection that is lost is made again, and the server sends again what was missed. The next
 * connection waits as long as `Retry-After` asks for; a 429 is waited out the first time as well. Throws `ApiError` where the server
 * refuses for good, and where it is unavailable the first time.
 */
export async function* follow(url: string, options: FollowOptions = {}): AsyncGenerator<Followed, void> {
  const { signal } = options;
  const ends = new AbortController();
  const end = () => ends.abort();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) return;
  let { after: last, retryMs: wait = RETRY_MS } = options;
  let stood = false;
  try {
    for (let failures = 0;; failures++) {
      const opened = await open(url, last, ends.signal);
      if (ends.signal.aborted) return;
      if ("body" in opened) {
        let fresh = true;
        try {
          for await (const sent of blocksOf(opened.body, ends.signal)) {
            if (sent.retry !== undefined) wait = sent.retry;
            if (sent.id === undefined) continue;
            last = sent.id;
            if (fresh) yield { type: "opened", id: last };
            [fresh, stood, failures] = [false, true, 0];
            if (sent.data !== undefined) yield { type: "sent", sent };
          }
        } catch (error) {
          if (!(error instanceof Error) || error instanceof ApiError) throw error;
          // the connection broke off
        }
      } else if (!opened.passing || (!stood && opened.error.status !== TOO_MANY)) throw opened.error;
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

type Opened =
  | { readonly body: ReadableStream<Uint8Array> }
  /** `passing`: a later try may succeed. `waitMs`: how long the server asks to wait before it. */
  | { readonly error: ApiError; readonly passing: boolean; readonly waitMs: number };

async function open(url: string, last: string | undefined, signal: AbortSignal): Promise<Opened> {
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) },
      signal,
    });
  } catch (error) {
    return { error: unreachable(url, error), passing: true, waitMs: 0 };
  }
  if (response.ok && response.body) return { body: response.body };
  const text = await response.text().catch(() => "");
  let said: Json = null;
  try {
    said = parseJson(text);
  } catch {
    // no JSON: the status says all there is
  }
  return {
    error: refusal(response.status, said, text),
    passing: response.status === TOO_MANY || response.status >= 500,
    waitMs: retryAfterMs(response.headers.get("retry-after")) ?? 0,
  };
}
