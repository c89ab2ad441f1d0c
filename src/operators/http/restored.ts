/** The generation of the log of transitions over HTTP, and the notice that the database was restored. */
import { endpoint } from "#src/http/route.ts";
import { logGeneration, restoredBody } from "#src/operators/api/operator.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import {
  beginGeneration,
  type Generation,
  GENERATION_SUBJECT,
  readGeneration,
  withGenerations,
} from "#src/runtime/events/generation.ts";
import type { Store } from "#src/store/store.ts";

/** Adds `/events/generation` and `/events/restored`. */
export function restoredEndpoints({ store, bus }: { readonly store: Store; readonly bus: Bus }): OperatorPart {
  return (app) => {
    endpoint(app, "get", "/events/generation", {
      summary: "The generation of the log of transitions",
      answer: logGeneration,
    }, async () => view(await readGeneration(store)));
    endpoint(app, "post", "/events/restored", {
      summary: "Say that the database was restored to an earlier point",
      description:
        "For a restore that a start cannot notice, such as an older copy of the data folder. A generation begins: ids of " +
        "events that were lost are not used again, their positions are 409 `restored`, and JetStream streams are written " +
        "again from the database.",
      body: restoredBody,
      answer: logGeneration,
      refusals: { 403: "`header_missing`" },
    }, async ({ body: { since } }) => {
      const begun = { reason: "an operator said so", since: since === undefined ? undefined : Date.parse(since) };
      const generation = await withGenerations(store, (sql) => beginGeneration(sql, begun));
      bus.publish(GENERATION_SUBJECT, null);
      return view(generation);
    });
  };
}

function view({ id: generation, n, reason, began, restoredTo, streamsDue }: Generation) {
  return { generation, n, reason, began: new Date(began).toISOString(), restoredTo: String(restoredTo), streamsDue };
}
