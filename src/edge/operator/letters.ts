/** Dead letters over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/api/operator.ts";
import { page, readCursor } from "#src/edge/operator/cursor.ts";
import { answered, refusal } from "#src/edge/operator/status.ts";
import { endpoint } from "#src/edge/route.ts";
import type { DeadLetters } from "#src/runtime/operations/deadLetters.ts";

const place = z.int().min(0);

/** Adds `/dead-letters` and the paths below. */
export function letterEndpoints(app: OpenAPIHono, letters: DeadLetters): void {
  endpoint(app, "get", {
    path: "/dead-letters",
    summary: "Events that failed and were set aside, newest first",
    query: api.deadLettersQuery,
    answer: api.deadLetters,
    refusals: { 400: "`bad_request`, `bad_cursor`" },
  }, async ({ query: { kind, id, limit, after } }) => {
    const rows = await letters.list({ kind, id }, readCursor(after, place), limit);
    return { deadLetters: rows, next: page(rows, limit, ({ n }) => n) };
  });

  endpoint(app, "post", {
    path: "/dead-letters/:n/retry",
    summary: "Apply the event of a dead letter again, in the way in which it came",
    params: api.letterPath,
    answer: api.retried,
    refusals: {
      403: "`header_missing`",
      404: "`letter_unknown`",
      409:
        "`not_possible`, `paused`; `out_of_order`: later events of the input log were read since; `superseded`: a later " +
        "reminder of that name stands; `lapsed`: its row went when its time was over",
      422: "`failed`: it failed again, and left a new letter; `invalid`, `unknown_kind`: no worker takes it any more",
      503: "`unavailable`: asked again, it is applied once all the same; `overloaded`; `newer_version`",
    },
  }, async ({ params: { n } }) => {
    const { answer } = answered(await letters.retry(n));
    return { retried: true, result: answer };
  });

  endpoint(app, "delete", {
    path: "/dead-letters/:n",
    summary: "Forget a dead letter",
    params: api.letterPath,
    answer: api.dropped,
    refusals: { 403: "`header_missing`", 404: "`letter_unknown`" },
  }, async ({ params: { n } }) => {
    if (await letters.drop(n)) return { dropped: true };
    throw refusal({ code: "letter_unknown", message: `There is no dead letter ${n}.` });
  });
}
