/** Kinds, machines and the overview over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/operators/api/operator.ts";
import { memo } from "#src/http/memo.ts";
import type { Places } from "#src/operators/http/places.ts";
import { unknownKind } from "#src/operators/http/selection.ts";
import { endpoint } from "#src/http/route.ts";
import type { DeadLetters } from "#src/runtime/operations/deadLetters.ts";
import { graphOf } from "#src/runtime/operations/graph.ts";
import { countActors } from "#src/runtime/operations/inspect.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface CountEndpoints {
  readonly store: Store;
  readonly kinds: ReadonlyMap<string, Pick<ActorKind, "kind" | "version" | "machine" | "attributes">>;
  readonly letters: Pick<DeadLetters, "count">;
  readonly places: Places;
}

/** Longest use of counts, in milliseconds, however many clients read them. */
const FRESH_MS = 1_000;
/** They are used as well for so many times as long as counting takes, which grows with the number of actors. */
const SPARED = 10;

/** Adds `/kinds`, `/kinds/{kind}/machine` and `/overview`. Gives the number of paused actors. */
export function countEndpoints(
  app: OpenAPIHono,
  { store, kinds, letters, places }: CountEndpoints,
): { paused(): Promise<number> } {
  const counts = memo(FRESH_MS, async () => {
    const counted = new Map((await countActors(store)).map((count) => [count.kind, count]));
    const names = [...new Set([...kinds.keys(), ...counted.keys()])].sort();
    return names.map((kind) => {
      const { actors = 0, paused = 0, states = [] } = counted.get(kind) ?? {};
      const known = kinds.get(kind);
      const attributes = known?.attributes &&
        Object.fromEntries(Object.entries(known.attributes).map(([name, { type }]) => [name, type]));
      return { kind, machineVersion: known?.version ?? null, actors, paused, states, attributes };
    });
  }, SPARED);
  const deadLetters = memo(FRESH_MS, () => letters.count(), SPARED);

  endpoint(app, "get", "/kinds", {
    summary: "Kinds of actors, with the number of actors in each state",
    answer: api.kinds,
  }, async () => ({ kinds: await counts() }));

  endpoint(app, "get", "/kinds/:kind/machine", {
    summary: "The states and transitions of a kind",
    params: api.kindPath,
    answer: api.machine,
    refusals: { 404: "`kind_unknown`" },
  }, async ({ params: { kind } }) => {
    const known = kinds.get(kind);
    if (known === undefined) throw unknownKind(kind, kinds.values());
    return { kind, machineVersion: known.version, ...graphOf(known.machine) };
  });

  endpoint(app, "get", "/overview", {
    summary: "Overview of the deployment",
    answer: api.overview,
  }, async () => {
    const [all, { alive, eventsPerSecond }, lags, letters] = await Promise.all([
      counts(),
      places.pulse(),
      places.lags(),
      deadLetters(),
    ]);
    return {
      kinds: all,
      workers: alive,
      rates: { transitionsPerSecond: Math.round(eventsPerSecond * 100) / 100 },
      lags,
      deadLetters: letters,
    };
  });

  return { paused: async () => (await counts()).reduce((sum, { paused }) => sum + paused, 0) };
}
