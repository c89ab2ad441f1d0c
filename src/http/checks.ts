/** Readiness checks of what every service depends on: the database, NATS, the workers. */
import type { Check } from "#src/http/health.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { countServedPartitions } from "#src/runtime/operations/counts.ts";
import { probeWrites } from "#src/store/server.ts";
import type { Store } from "#src/store/store.ts";

/** Whether the database answers and can be written. */
export async function databaseCheck(store: Store): Promise<Check> {
  await probeWrites(store);
  return { ready: true };
}

/** Whether the NATS server answers. */
export async function busCheck(bus: Bus): Promise<Check> {
  await bus.flush(1_000);
  return { ready: true };
}

/** Whether every partition has an owner: without it an edge is not ready. */
export async function partitionsCheck(store: Store): Promise<Check> {
  const { all, served } = await countServedPartitions(store);
  if (all > 0 && served === all) return { ready: true };
  const why = all === 0 ? "no worker has started yet" : `${all - served} of ${all} partitions have no worker`;
  return { ready: false, why };
}
