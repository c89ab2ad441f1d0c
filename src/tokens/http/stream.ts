/** `GET /token/{tokenId}/events`: transitions of a token as server-sent events. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/tokens/api/tokens.ts";
import { readToken } from "#src/tokens/index/read.ts";
import { HttpFailure } from "#src/http/failure.ts";
import {
  admitReader,
  eventStream,
  eventText,
  givenPosition,
  KEEP_ALIVE_MS,
  lastEventId,
} from "#src/http/eventStream.ts";
import { endpoint } from "#src/http/route.ts";
import { tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { tokenStatusView } from "#src/tokens/http/view.ts";
import type { EventBatch } from "#src/runtime/events/eventLog.ts";
import { kebab } from "#src/runtime/events/transition.ts";
import { positionText } from "#src/runtime/events/position.ts";

/**
 * Adds `GET /token/{tokenId}/events`: 404 `token_unknown`, 400 `bad_request` for a `Last-Event-ID` of another stream, 409
 * `restored`, 503 `too_many_readers`.
 */
export function streamRoutes(app: OpenAPIHono, { store, events }: TokenService): void {
  endpoint(app, "get", "/token/:tokenId/events", {
    summary: "Events of a token as server-sent events",
    description:
      "Events: `booted`, `requested`, `retracted`, `refused`, `applied`, `updated`, `ended`, `rolled-back`, `quarantined`, `released`. The data is the token " +
      "when the event is sent, never older than the event. `reset` means that missed events were deleted. To resume, send the last `id` as " +
      "Last-Event-ID. Load the token after the stream is open. The stream of an ended token stays open: a rollback can restore the token.",
    params: { tokenId: api.tokenId },
    headers: { "last-event-id": z.string().optional() },
    produces: "text/event-stream",
    answer: z.string(),
    refusals: { 404: "`token_unknown`", 409: "`restored`", 503: "`too_many_readers`" },
  }, async ({ params: { tokenId: id }, context }) => {
    const { status } = await readToken(store.sql, id);
    if (status === "unknown") throw tokenGone(id, status);
    admitReader(events);
    const last = lastEventId(context);
    const from = last === undefined ? "now" : await givenPosition(events, last, null);
    if (from === undefined) {
      throw new HttpFailure(400, "bad_request", "Last-Event-ID is not an id of this stream.");
    }
    const ended = new AbortController();
    return eventStream<EventBatch>(context, events.follow(from, { kind: "token", id }, ended.signal), ended, {
      keepAliveMs: KEEP_ALIVE_MS,
      id: ({ position }) => positionText(position),
      written: async ({ events: some, reset, position }) => {
        if (some.length === 0 && !reset) return "";
        const token = tokenStatusView(id, await readToken(store.sql, id));
        const sent = (event: string, more: object) => eventText(event, positionText(position), { ...token, ...more });
        return [
          ...(reset ? [sent("reset", {})] : []),
          ...some.map(({ transition: { type, version, at } }) =>
            sent(kebab(type), { version, time: new Date(at).toISOString() })
          ),
        ].join("");
      },
    });
  });
}
