/** Dead letters over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { page, readCursor } from "#src/operators/http/cursor.ts";
import { knownSelection, type SelectableKind } from "#src/operators/http/selection.ts";
import { answered, refusal } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import type { DeadLetters } from "#src/runtime/operations/deadLetters.ts";

const place = z.int().min(0);

/** Adds `/dead-letters` and the paths below. */
export function deadLetterEndpoints(app: OpenAPIHono, letters: DeadLetters, kinds: readonly SelectableKind[]): void {
  endpoint(app, "get", "/dead-letters", {
    summary: "Dead letters: events that failed, newest first",
    query: api.deadLettersQuery,
    answer: api.deadLetters,
    refusals: { 400: "`bad_request`, `bad_cursor`, `bad_kind`, `bad_id`" },
  }, async ({ query: { kind, id, limit, after } }) => {
    const rows = await letters.list({ kind, id }, readCursor(after, place), limit);
    if (rows.length === 0) knownSelection({ kind, id }, kinds);
    return { deadLetters: rows, next: page(rows, limit, ({ n }) => n) };
  });

  endpoint(app, "post", "/dead-letters/:n/retry", {
    summary: "Apply the event of a dead letter again",
    params: api.letterPath,
    answer: api.retried,
    refusals: {
      403: "`header_missing`",
      404: "`letter_unknown`",
      409:
        "`not_possible`, `paused`; `out_of_order`: later events of the input log have been applied; `superseded`: a newer " +
        "reminder with that name exists; `lapsed`: its row was deleted after the retention period",
      422:
        "`failed`: the event failed again and has a new dead letter; `invalid`, `unknown_kind`: no worker accepts it any more",
      503: "`unavailable`: retry; the event is applied only once; `overloaded`; `newer_version`",
    },
  }, async ({ params: { n } }) => {
    const { answer } = answered(await letters.retry(n));
    return { retried: true, result: answer };
  });

  endpoint(app, "delete", "/dead-letters/:n", {
    summary: "Delete a dead letter",
    params: api.letterPath,
    answer: api.dropped,
    refusals: { 403: "`header_missing`", 404: "`letter_unknown`" },
  }, async ({ params: { n } }) => {
    if (await letters.drop(n)) return { dropped: true };
    throw refusal({ code: "letter_unknown", message: `No dead letter ${n} exists.` });
  });
}
