/** The devnet that benchmarks measure: in this process, without scripts, with blocks on request. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBuilders } from "#src/app/threads/builders.ts";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions, DevnetSettings } from "#src/devnet/options.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import type { Builders } from "#src/threads/builders.ts";
import { devnetStore } from "../support/devnet/devnet.ts";

/** Starts a devnet of a database. */
export async function benchDevnetOf(
  { store, bus, ...options }: Pick<DevnetSettings, "store" | "bus"> & DevnetOptions,
): Promise<Devnet> {
  const started = await startDevnet({
    store,
    bus,
    evaluate: () => Promise.reject(new Error("no script was expected")),
    log: silentLog,
    clock: new VirtualClock(Date.now()),
    options: { blockMs: 0, ...options },
  });
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

/** A devnet with what it needs. */
export interface BenchDevnet {
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Bus;
  /** Threads, which are warm. */
  readonly builders: Builders;
  /** Ends all of it, and removes its data. */
  stop(): Promise<void>;
}

/** Starts a devnet with room for many transactions, on a PostgreSQL and a NATS of its own. */
export async function startBenchDevnet(): Promise<BenchDevnet> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const nats = await startNatsEndpoint({ port: 0, token: "bench", log: silentLog });
  const store = await devnetStore(postgres.url);
  const bus = await connectBus({ url: nats.url, token: "bench" });
  const builders = startBuilders({ log: silentLog });
  await builders.warm();
  const devnet = await benchDevnetOf({ store, bus, mempoolBytes: 100_000_000 });
  const stop = async () => {
    await devnet.stop();
    await builders.stop();
    await bus.close();
    await store.close();
    await nats.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { devnet, store, bus, builders, stop };
}
