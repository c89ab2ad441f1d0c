/** What a process stands on, and the port on which a process without a service of its own says how it is. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { handleErrors } from "#src/edge/errors.ts";
import { type Check, healthRoutes } from "#src/edge/health.ts";
import { metricsRoutes } from "#src/edge/operator/metrics.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { countServedPartitions } from "#src/runtime/operations/counts.ts";
import type { Lease } from "#src/runtime/placement/namedLease.ts";
import type { Worker } from "#src/runtime/worker.ts";
import { pingDatabase } from "#src/store/server.ts";
import type { Store } from "#src/store/store.ts";
import { listen, type Place, type Rooms, urlOf } from "#src/app/context.ts";

/** So far behind the network's tip, in blocks, a follower is still ready. */
const BEHIND = 10;

const because = (why: string): Check => ({ ready: false, why });
const fine = (says?: string): Check => says === undefined ? { ready: true } : { ready: true, says };

/** Whether the database answers. */
export async function databaseCheck(store: Store): Promise<Check> {
  await pingDatabase(store.sql);
  return fine();
}

/** Whether the NATS server answers. */
export async function busCheck(bus: Bus): Promise<Check> {
  await bus.flush(1_000);
  return fine();
}

/** A worker is ready when it serves a part of the actors. */
export async function workerCheck(worker: Worker): Promise<Check> {
  const { owned } = worker.state();
  return owned.length === 0 ? because("no partition is served here") : fine(`${owned.length} partitions are served`);
}

/** Whoever follows is ready when it is near the tip; whoever stands by is ready to follow. */
export async function followerCheck(lease: Lease, store: Store): Promise<Check> {
  if (lease.epoch() === undefined) return fine("standby");
  const { at, networkTip } = await readCursor(store.sql);
  const behind = networkTip.height - at.height;
  return behind > BEHIND ? because(`${behind} blocks behind the tip`) : fine(`follows, at height ${at.height}`);
}

/** Several processes may have the devnet; one of them runs it. */
export async function devnetCheck(devnet: Devnet): Promise<Check> {
  return devnet.runs() ? fine() : because("the devnet does not run in this process");
}

/** An edge can answer for what somebody serves. */
export async function servedCheck(store: Store): Promise<Check> {
  const { all, served } = await countServedPartitions(store);
  if (all > 0 && served === all) return fine();
  return because(all === 0 ? "no worker was ever here" : `${all - served} of ${all} partitions are served by nobody`);
}

/** Listens on the health port, where there is one. */
export async function healthPort(rooms: Rooms): Promise<Place[]> {
  const { options, store, health, log } = rooms;
  if (options.healthPort === undefined) return [];
  const app = new OpenAPIHono();
  handleErrors(app, log);
  healthRoutes({ health })(app);
  metricsRoutes({ store, log })(app);
  const listener = await listen(rooms, app, {
    service: "the health port",
    port: options.healthPort,
    option: "--health-port",
  });
  return [{ name: "health", at: urlOf(listener) }];
}
