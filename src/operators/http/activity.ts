/** The last hour over HTTP: transitions and errors by minute, and the newest transitions. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/operators/api/operator.ts";
import { memo } from "#src/http/memo.ts";
import { endpoint } from "#src/http/route.ts";
import { Activity, readRecentTransitions } from "#src/runtime/operations/activity.ts";
import type { Store } from "#src/store/store.ts";

/** Longest use of counts, in milliseconds; and for so many times as long as counting took. */
const FRESH_MS = 1_000;
const SPARED = 10;

/** Adds `/activity` and `/transitions`. */
export function activityEndpoints(app: OpenAPIHono, store: Store): void {
  const activity = new Activity(store, { kind: "transaction", type: "REFUSED" });
  const read = memo(FRESH_MS, async () =>
    (await activity.read()).map(({ at, transitions, ...errors }) => ({
      at: new Date(at).toISOString(),
      transitions: Object.fromEntries([...transitions].sort(([a], [b]) => a < b ? -1 : 1)),
      ...errors,
    })), SPARED);

  endpoint(app, "get", "/activity", {
    summary: "Transitions and errors of the last hour, by minute",
    answer: api.activity,
  }, async () => ({ minutes: await read() }));

  endpoint(app, "get", "/transitions", {
    summary: "The newest transitions of all actors",
    query: api.recentQuery,
    answer: api.recentTransitions,
  }, async ({ query: { limit } }) => ({ transitions: await readRecentTransitions(store, limit) }));
}
