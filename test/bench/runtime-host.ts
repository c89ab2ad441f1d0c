/** A process of the benchmarked system, with the given roles: `nats`, `worker`, `edge`, `operators`, alone or together. */
import process from "node:process";
import { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { createLog } from "#src/base/log.ts";
import { metrics } from "#src/base/metrics.ts";
import { serve as listen } from "#src/http/serve.ts";
import { handleErrors } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { observe } from "#src/http/observe.ts";
import { endpoint } from "#src/http/route.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { operatorApi } from "#src/operators/http/api.ts";
import { operatorApp } from "#src/operators/http/app.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { createAsk } from "#src/runtime/bus/ask.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { openStore } from "#src/store/store.ts";
import { serve, settings } from "./runtime-child.ts";
import { benchKinds } from "./runtime-kinds.ts";

export interface HostSettings {
  readonly roles: readonly ("nats" | "worker" | "edge" | "operators")[];
  readonly id: string;
  readonly databaseUrl: string;
  /** URL of the bus, unless this process is the bus. */
  readonly natsUrl?: string;
  readonly natsToken: string;
  readonly leaseMs?: number;
  /** Most entities in memory, which then stay. */
  readonly resident?: number;
}

export interface HostReady {
  readonly natsUrl: string;
  readonly edgeUrl: string | undefined;
  readonly operatorsUrl: string | undefined;
}

/** How often each stage of a turn ran in this process, and its total seconds. */
export type Stages = Readonly<Record<"ask" | "command" | "turn" | "statement", { count: number; seconds: number }>>;

/** This process's own metrics, in Prometheus's form. */
async function stages(): Promise<Stages> {
  const families = new Map((await metrics.registry.getMetricsAsJSON()).map((family) => [family.name, family.values]));
  const total = (stage: string) => {
    const sum = (suffix: string) =>
      families.get(`arbor_${stage}_seconds`)!
        .filter((one) => "metricName" in one && one.metricName === `arbor_${stage}_seconds_${suffix}`)
        .reduce((sum, { value }) => sum + value, 0);
    return { count: sum("count"), seconds: sum("sum") };
  };
  return { ask: total("ask"), command: total("command"), turn: total("turn"), statement: total("statement") };
}

const { roles, id, databaseUrl, natsToken, leaseMs, resident, ...given } = settings<HostSettings>();
const log = createLog("warn");
const stops: (() => Promise<unknown>)[] = [];
let edgeUrl: string | undefined;
let operatorsUrl: string | undefined;

const nats = roles.includes("nats") ? await startNatsEndpoint({ port: 0, token: natsToken, log }) : undefined;
const natsUrl = nats?.url ?? given.natsUrl!;
if (nats !== undefined) stops.push(() => nats.stop());
if (roles.some((role) => role !== "nats")) {
  const bus = await connectBus({ url: natsUrl, token: natsToken, log });
  const store = openStore(databaseUrl, { application: id });
  stops.unshift(() => Promise.all([bus.close(), store.close()]));
  if (roles.includes("worker")) {
    const leaseStore = openStore(databaseUrl, { max: 1, application: `${id}-leases` });
    stops.unshift(() => leaseStore.close());
    const worker = await startWorker({
      id,
      store,
      leaseStore,
      bus,
      kinds: benchKinds,
      log,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(resident === undefined ? {} : { resident, unusedMs: 3_600_000 }),
    });
    stops.unshift(() => worker.stop());
  }
  if (roles.includes("edge")) {
    const ask = createAsk({ bus, store, log });
    const app = new OpenAPIHono();
    app.use(observe("bench", log));
    handleErrors(app, log);
    endpoint(app, "post", "/counter/:id/add", {
      summary: "Adds to a counter.",
      params: { id: z.string().min(1).max(200) },
      body: z.object({ amount: z.number().int() }),
      answer: z.object({ count: z.number() }),
    }, async ({ params, body }) => {
      const counter = { kind: "counter", id: params.id };
      const result = await ask.ask(counter, { type: "ADD", amount: body.amount }, { deadlineMs: 30_000 });
      if (result.ok) return result.value;
      throw HttpFailure.of(503, result.error);
    });
    endpoint(app, "post", "/workflow/:id/run", {
      summary: "Runs a workflow of durable steps.",
      params: { id: z.string().min(1).max(200) },
      body: z.object({ steps: z.int() }),
      answer: z.object({ values: z.array(z.int()) }),
    }, async ({ params, body }) => {
      const workflow = { kind: "workflow", id: params.id };
      const result = await ask.ask(workflow, { type: "RUN", steps: body.steps }, { deadlineMs: 30_000 });
      if (result.ok) return result.value;
      throw HttpFailure.of(503, result.error);
    });
    const listener = await listen(app, { host: "127.0.0.1", port: 0 });
    stops.unshift(() => listener.stop());
    edgeUrl = `http://127.0.0.1:${listener.port}`;
  }
  if (roles.includes("operators")) {
    const { ask } = createAsk({ bus, store, log });
    const events = createEventLog({ store, bus, log });
    const parts = [
      operatorApi({ store, bus, ask, kinds: benchKinds, aliveMs: 2_000, log }),
      eventRoutes({ events, kinds: benchKinds, most: 10_000 }),
    ];
    const listener = await listen(operatorApp({ guard: { loopback: true }, parts, log }), {
      host: "127.0.0.1",
      port: 0,
    });
    stops.unshift(() => listener.stop());
    operatorsUrl = `http://127.0.0.1:${listener.port}`;
  }
}
serve({ natsUrl, edgeUrl, operatorsUrl } satisfies HostReady, stages);

process.on("SIGTERM", async () => {
  for (const stop of stops) await stop();
  process.exit(0);
});
