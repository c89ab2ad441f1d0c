/** A process of the benchmarked system, with the roles that it is told: `nats`, `worker`, `edge`, alone or together. */
import process from "node:process";
import { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { createLog } from "#src/base/log.ts";
import { serve as listen } from "#src/edge/serve.ts";
import { handleErrors, HttpFailure } from "#src/edge/errors.ts";
import { endpoint } from "#src/edge/route.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { createAsk } from "#src/runtime/ask.ts";
import { connectBus } from "#src/runtime/bus.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { openStore } from "#src/store/store.ts";
import { serve, settings } from "./runtime-child.ts";
import { counterKind } from "./runtime-counter.ts";

export interface HostSettings {
  readonly roles: readonly ("nats" | "worker" | "edge")[];
  readonly id: string;
  readonly databaseUrl: string;
  /** Where the bus is, unless this process is it. */
  readonly natsUrl?: string;
  readonly natsToken: string;
  readonly leaseMs?: number;
}

export interface HostReady {
  readonly natsUrl: string;
  readonly edgeUrl: string | undefined;
}

const { roles, id, databaseUrl, natsToken, leaseMs, ...given } = settings<HostSettings>();
const log = createLog("warn");
const stops: (() => Promise<unknown>)[] = [];

const nats = roles.includes("nats") ? await startNatsEndpoint({ port: 0, token: natsToken, log }) : undefined;
const natsUrl = nats?.url ?? given.natsUrl!;
if (nats !== undefined) stops.push(() => nats.stop());
if (roles.includes("worker") || roles.includes("edge")) {
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
      kinds: [counterKind],
      log,
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
    stops.unshift(() => worker.stop());
  }
  if (roles.includes("edge")) {
    const ask = createAsk({ bus, store, log });
    const app = new OpenAPIHono();
    handleErrors(app, log);
    endpoint(app, {
      method: "post",
      path: "/counter/:id/add",
      summary: "Adds to a counter.",
      params: { id: z.string().min(1).max(200) },
      body: z.object({ amount: z.number().int() }),
      answer: z.object({ count: z.number() }),
    }, async ({ params, body }) => {
      const counter = { kind: "counter", id: params.id };
      const told = await ask.ask(counter, { type: "ADD", amount: body.amount }, { deadlineMs: 30_000 });
      if (told.ok) return told.value;
      throw HttpFailure.of(503, told.error);
    });
    const listener = await listen(app, { host: "127.0.0.1", port: 0 });
    stops.unshift(() => listener.stop());
    serve({ natsUrl, edgeUrl: `http://127.0.0.1:${listener.port}` } satisfies HostReady);
  } else serve({ natsUrl, edgeUrl: undefined } satisfies HostReady);
} else serve({ natsUrl, edgeUrl: undefined } satisfies HostReady);

process.on("SIGTERM", async () => {
  for (const stop of stops) await stop();
  process.exit(0);
});
