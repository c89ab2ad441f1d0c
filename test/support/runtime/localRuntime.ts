/** A runtime whose workers run in the test's process. */
import { silentLog } from "#src/base/log.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { startWorker, type Worker, type WorkerOptions } from "#src/runtime/worker.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { until } from "../base/until.ts";
import { sharedInfra } from "../infra/infra.ts";
import { migrationsOf } from "../infra/migrationsOf.ts";

export interface LocalRuntime {
  readonly store: Store;
  readonly bus: Bus;
  readonly ask: Ask;
  /** Starts a worker; resolves when it serves partitions. */
  start(kinds: readonly ActorKind[], more?: Partial<WorkerOptions>): Promise<Worker>;
  /** The running workers, in the order of their starts. */
  workers(): readonly Worker[];
  /** Stops all workers. */
  stopWorkers(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLocalRuntime(): Promise<LocalRuntime> {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl, { max: 8 });
  await migrate(store, migrationsOf("runtime"));
  const bus = await connectBus({
    url: infra.natsUrl,
    ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }),
  });
  const ask = createAsk({ bus, store });
  const workers: Worker[] = [];
  let number = 0;
  const stopWorkers = async () => void await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  return {
    store,
    bus,
    ask,
    start: async (kinds, more = {}) => {
      const id = `w${++number}`;
      const options = { id, store, bus, kinds, log: silentLog, partitions: 8, leaseMs: 600, sweepMs: 50, ...more };
      const worker = await startWorker(options);
      workers.push(worker);
      await until("it serves", async () => worker.state().owned.length > 0);
      return worker;
    },
    workers: () => workers,
    stopWorkers,
    stop: async () => {
      await stopWorkers();
      ask.close();
      await bus.close();
      await store.close();
      await infra.stop();
    },
  };
}
