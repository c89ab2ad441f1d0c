/** Placement on rows in memory. */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { renewLeases, takeLeases } from "#src/runtime/placement/leaseRows.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { startPlacement } from "#src/runtime/placement/placement.ts";
import { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { memoryStore, serverOf } from "#src/runtime/testing/memory/store.ts";
import { until } from "../../../support/base/until.ts";

const bus = { subscribe: () => () => {}, publish: () => {} } as Partial<Bus> as Bus;
const leaseMs = 60_000;

test("a worker takes again what is its own by the rows and it does not know of", async () => {
  const store = memoryStore(serverOf(new MemoryDatabase(Date.now)));
  await createPartitions(store, 4);
  const take = (worker: string, most: number) =>
    takeLeases(store, { worker, leaseMs, kinds: {}, most, which: "free", held: [], others: [], gone: [] });
  // Two workers count two partitions for "b", whose taking was not answered: no other leaves it fewer.
  for (const [worker, most] of [["a", 1], ["c", 1], ["b", 2]] as const) {
    await renewLeases(store, { worker, leaseMs, kinds: {}, held: [] });
    expect(await take(worker, most)).toHaveLength(most);
  }
  const served = Promise.resolve();
  const options = { store, bus, worker: "b", kinds: {}, partitions: 4, leaseMs, log: silentLog };
  const placement = startPlacement({ ...options, onTaken: () => served, onServed: () => {}, onLeft: () => served });
  await until("b serves both", async () => placement.owned().length === 2);
  await placement.stop();
});
