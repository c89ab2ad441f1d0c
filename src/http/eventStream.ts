/** Server-sent events from batches, pulled one at a time: a slow client slows its own stream only. */
import type { Context } from "hono";
import { utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { inTime } from "#src/base/clock.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { parsePosition, type Position, positionText } from "#src/runtime/events/position.ts";

/** Longest silence of a stream, in milliseconds. */
export const KEEP_ALIVE_MS = 15_000;
/** Most readers of events at a time, unless the event log has another limit. */
export const MOST_READERS = 1_000;

/** Throws 503 `too_many_readers` where `most` clients read already. */
export function admitReader(
  events: Pick<EventLog, "readers" | "mostReaders">,
  most = events.mostReaders ?? MOST_READERS,
): void {
  if (events.readers() < most) return;
  throw new HttpFailure(503, "too_many_readers", `The limit of ${most} event stream readers is reached.`);
}

/** The header `Last-Event-ID` of a client that reconnects. */
export const lastEventId = (c: Context): string | undefined => c.req.header("last-event-id") || undefined;

/**
 * The position in a text; undefined where these events have never given it. While the database is away a stream opens
 * all the same and waits for it. `begin` is the id with which a client of the stream begins again; null for none.
 *
 * @throws {HttpFailure} 409 `restored` for a position after the point to which the database was restored.
 */
export async function givenPosition(
  events: { readonly status: EventLog["status"] },
  text: string,
  begin: string | null,
): Promise<Position | undefined> {
  const position = parsePosition(text);
  const found = position && await events.status(position).catch(() => ({ status: "known" as const }));
  if (found?.status !== "restored") return found?.status === "known" ? position : undefined;
  const { generation, restoredTo } = found;
  throw new HttpFailure(
    409,
    "restored",
    "The database was restored to a point before this position: what came between them is lost. Discard the state and begin again.",
    { generation, restoredTo: positionText(restoredTo), begin },
  );
}

/** An event as a stream has it. */
export const eventText = (event: string, id: string, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${toJson(data)}\n\n`;

export interface EventStreamOptions<B> {
  /** Longest silence in milliseconds, after which a comment is sent. */
  readonly keepAliveMs: number;
  /** The event id after a batch: a client that reconnects with it continues there. */
  id(batch: B): string;
  /** The events of a batch as text; empty where it has none. */
  written(batch: B): string | Promise<string>;
}

/** A response that streams batches; `ended` is aborted when the client disconnects. */
export function eventStream<B>(
  c: Context,
  batches: AsyncGenerator<B, void>,
  ended: AbortController,
  options: EventStreamOptions<B>,
): Response {
  return new Response(stream(batches, ended, options), {
    headers: {
      ...Object.fromEntries(c.res.headers),
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

function stream<B>(
  batches: AsyncGenerator<B, void>,
  ended: AbortController,
  { keepAliveMs, id, written }: EventStreamOptions<B>,
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<B, void>> | undefined;
  let position: string | undefined;
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8("retry: 1000\n\n")),
    pull: async (controller) => {
      const until = performance.now() + keepAliveMs;
      for (;;) {
        next ??= batches.next();
        const result = await inTime(next, until - performance.now());
        if (result === undefined) {
          // An id without data is no event: it moves the position at which a reconnecting client continues.
          return controller.enqueue(utf8(`: keep-alive\n${position === undefined ? "" : `id: ${position}\n`}\n`));
        }
        next = undefined;
        if (result.done) return controller.close();
        const first = position === undefined;
        const events = await written(result.value);
        position = id(result.value);
        // The id alone tells the client that the stream is open, and where to continue if it ends before the first
        // event.
        const text = events || (first ? `id: ${position}\n\n` : "");
        if (text !== "") return controller.enqueue(utf8(text));
      }
    },
    cancel: () => {
      ended.abort();
      // The generator ends after the batch that it is reading.
      void batches.return().catch(() => {});
    },
  }, { highWaterMark: 1 });
}
