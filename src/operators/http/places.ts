/** Workers, partitions, leases and lags over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { memo } from "#src/http/memo.ts";
import type { Lookups } from "#src/operators/http/lookups.ts";
import { answered } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import {
  countByPartition,
  readBacklog,
  readLeases,
  readPartitions,
  readWorkers,
} from "#src/runtime/operations/counts.ts";
import type { Control } from "#src/runtime/operations/control.ts";
import { readLimitQueues } from "#src/runtime/operations/limits.ts";
import { movePartition } from "#src/runtime/placement/movePartition.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface PlaceOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly control: Pick<Control, "states">;
  readonly kinds: ReadonlyMap<string, Pick<ActorKind, "limits">>;
  /** After so many milliseconds without a sign of life a worker counts as dead. */
  readonly aliveMs: number;
  readonly index: Pick<Lookups, "position"> | undefined;
}

/** What other endpoints read of workers and backlogs. */
export interface Places {
  pulse(): Promise<{ readonly alive: number; readonly eventsPerSecond: number }>;
  lags(): Promise<z.input<typeof api.lags>>;
  workers(): Promise<readonly WorkerLine[]>;
}

type WorkerLine = Omit<z.infer<typeof api.worker>, "seen" | "partitions"> & {
  readonly seen: Date;
  readonly partitions: readonly number[];
};

/** Longest use of results that cost more than a few rows, in milliseconds. */
const FRESH_MS = 1_000;
const COUNTED_MS = 5_000;
/** They are used as well for so many times as long as counting takes. */
const SPARED = 10;
/** Milliseconds without a sign of life after which a worker's state is no longer requested. */
const ASKED_MS = 60_000;

/** Workers as the rows and their own answers describe them. */
async function readWorkerLines({ store, control, aliveMs }: Pick<PlaceOptions, "store" | "control" | "aliveMs">) {
  const rows = await readWorkers(store);
  const states = await control.states(rows.filter(({ ageMs }) => ageMs < ASKED_MS).map(({ id }) => id));
  return rows.map(({ ageMs, ...row }) => {
    const state = states.get(row.id);
    const { resident = 0, waiting = 0, turns = 0, events = 0, fenced = 0, effects = 0, clockAheadMs = 0 } = state ?? {};
    const alive = ageMs < aliveMs;
    const line = { ...row, alive, resident, waiting, turns, events, fenced, effects, clockAheadMs };
    return { eventsPerSecond: state?.eventsPerSecond ?? 0, line };
  });
}

/** Adds `/workers`, `/partitions`, `/leases`, `/limits`, `/lags` and the paths below. */
export function placeEndpoints(app: OpenAPIHono, options: PlaceOptions): Places {
  const { store, bus, control, kinds, aliveMs, index } = options;
  const workers = memo(FRESH_MS, () => readWorkerLines({ store, control, aliveMs }));
  const lags = memo(FRESH_MS, async () => {
    const [backlog, follower = null] = await Promise.all([readBacklog(store), index?.position()]);
    return { ...backlog, follower };
  }, SPARED);
  const counts = memo(COUNTED_MS, () => countByPartition(store), SPARED);

  endpoint(app, "get", "/workers", {
    summary: "Workers, with their partitions and counts",
    answer: api.workers,
  }, async () => ({ workers: (await workers()).map(({ line }) => line) }));

  endpoint(app, "get", "/partitions", {
    summary: "Partitions, with their owners",
    answer: api.partitions,
  }, async () => {
    const [rows, actors] = await Promise.all([readPartitions(store), counts()]);
    return { partitions: rows.map((row) => ({ ...row, actors: actors.get(row.id) ?? 0 })) };
  });

  endpoint(app, "post", "/partitions/:id/move", {
    summary: "Move a partition to another worker",
    params: api.partitionPath,
    body: api.moveBody,
    answer: api.moved,
    refusals: {
      403: "`header_missing`",
      404: "`partition_unknown`, `worker_unknown`",
      409: "`no_other_worker`",
      503: "`not_moved`: the handover timed out and was reverted",
    },
  }, async ({ params: { id }, body }) => answered(await movePartition({ store, bus }, id, body?.to)));

  endpoint(app, "get", "/leases", {
    summary: "Named leases: tasks that run in one process at a time",
    answer: api.leases,
  }, async () => ({ leases: await readLeases(store) }));

  endpoint(app, "get", "/limits", {
    summary: "Limits of effects, with what runs and what waits",
    query: api.limitsQuery,
    answer: api.limits,
  }, async ({ query }) => ({
    limits: (await readLimitQueues(store, query)).map((queue) => {
      const { atOnce = null, rate = null } = kinds.get(queue.kind)?.limits?.[queue.effect] ?? {};
      return { ...queue, atOnce, rate };
    }),
  }));

  endpoint(app, "get", "/lags", {
    summary: "Backlogs and their ages",
    answer: api.lags,
  }, lags);

  return {
    lags,
    workers: async () => (await workers()).map(({ line }) => line),
    pulse: async () => {
      const all = await workers();
      return {
        alive: all.filter(({ line }) => line.alive).length,
        eventsPerSecond: all.reduce((sum, { eventsPerSecond }) => sum + eventsPerSecond, 0),
      };
    },
  };
}
