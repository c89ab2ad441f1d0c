/** The devnet that benchmarks measure: in this process, without scripts, with blocks on request. */
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions, DevnetSettings } from "#src/devnet/options.ts";

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
