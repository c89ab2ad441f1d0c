/**
 * `GET /events`: transitions as server-sent events, from any retained position.
 *
 * A connection holds one batch and reads the next one, from rows, when the client has taken it: a slow client slows its
 * own stream only. The stream's `id` is a position in commit order; it is sent at the beginning, with each transition
 * and with each keep-alive, so that a client with a filter does not fall behind the retained events.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { eventsQuery, position as positionSchema } from "#src/operators/api/events.ts";
import { HttpFailure } from "#src/http/failure.ts";
import {
  admitReader,
  eventStream,
  eventText,
  givenPosition,
  KEEP_ALIVE_MS,
  lastEventId,
} from "#src/http/eventStream.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { endpoint } from "#src/http/route.ts";
import { knownSelection, type SelectableKind } from "#src/operators/http/selection.ts";
import type { EventBatch, EventLog } from "#src/runtime/events/eventLog.ts";
import type { LoggedEvent } from "#src/runtime/events/replay.ts";
import { cloudEvent } from "#src/runtime/events/transition.ts";
import { type Position, positionText } from "#src/runtime/events/position.ts";

export interface EventRouteOptions {
  readonly events: EventLog;
  /** The kinds of actors. */
  readonly kinds: readonly SelectableKind[];
  /** Longest silence, in milliseconds; a comment is sent then. */
  readonly keepAliveMs?: number;
  /** Most readers at a time. */
  readonly most?: number;
}

/** The part of the operator service that streams transitions. The streams end when the event log is closed. */
export function eventRoutes(
  { events, kinds, keepAliveMs = KEEP_ALIVE_MS, most }: EventRouteOptions,
): OperatorPart {
  return (app: OpenAPIHono) => {
    endpoint(app, "get", "/events", {
      summary: "Transitions as server-sent events",
      description:
        "`event: transition` has a CloudEvent as data. `event: reset` means that transitions after the requested position " +
        "were deleted; its data has the position at which the stream continues. Each `id` is a position in commit order; " +
        "send the last one as Last-Event-ID to resume. Load the state after the stream is open and drop events that are " +
        "not newer than its version. A position after the point to which the database was restored is 409 `restored`: discard " +
        "the state and begin at `details.begin`, or go back to a state at or before the position `details.restoredTo`.",
      query: eventsQuery,
      headers: { "last-event-id": positionSchema.optional() },
      produces: "text/event-stream",
      answer: z.string(),
      refusals: {
        400: "`bad_request`, `bad_position`, `bad_kind`, `bad_id`, `bad_transition`",
        409: "`restored`",
        503: "`too_many_readers`",
      },
    }, async ({ query: { from: asked, ...filter }, context: c }) => {
      knownSelection(filter, kinds);
      admitReader(events, most);
      const from = await beginning(c, asked, events);
      const ended = new AbortController();
      const batches = events.follow(from, filter, ended.signal);
      return eventStream(c, batches, ended, { keepAliveMs, id: ({ position }) => positionText(position), written });
    });
  };
}

async function beginning(
  c: Context,
  asked: string | undefined,
  events: EventLog,
): Promise<Position | "now" | "start"> {
  const text = lastEventId(c) ?? asked ?? "now";
  if (text === "now" || text === "start") return text;
  const position = await givenPosition(events, text, "start");
  if (position === undefined) {
    throw new HttpFailure(400, "bad_position", "The position is not one of this service.");
  }
  return position;
}

/** Texts of events: readers that have caught up share the events. */
const texts = new WeakMap<LoggedEvent, string>();

function textOf(event: LoggedEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = eventText("transition", positionText(event.position), cloudEvent(event.transition));
  texts.set(event, text);
  return text;
}

function written({ events, position, reset }: EventBatch): string {
  const [first] = events;
  const start = positionText(first ? { tx: first.position.tx } : position);
  return [
    ...(reset ? [eventText("reset", start, { position: start })] : []),
    ...events.map(textOf),
  ].join("");
}
