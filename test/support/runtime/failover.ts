/** Commands to actors while the PostgreSQL servers behind them fail. */
import { expect } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { until } from "../base/until.ts";
import { startEndpointProcess } from "../infra/natsServer.ts";
import { type Clients, expectExactlyOnce, startClients } from "./clients.ts";
import { type Cluster, startCluster } from "./cluster.ts";

/** How long clients run before a fault and after it, in milliseconds. */
export const AROUND_MS = 3_000;

/**
 * Runs clients of actors around a fault of the servers at a URL. Afterwards each acknowledged command has to be applied
 * once on the server that takes writes, and nothing may have been acknowledged for at most `mostMs` longer than the fault.
 */
export async function failoverUnder(
  { name, url, mostMs }: { readonly name: string; readonly url: string; readonly mostMs: number },
  fault: (clients: Clients, cluster: Cluster) => Promise<void>,
): Promise<void> {
  const nats = await startEndpointProcess();
  const { url: natsUrl, token: natsToken, stop } = nats;
  const cluster = await startCluster({ databaseUrl: url, natsUrl, natsToken, stop });
  try {
    const workers = [await cluster.start("worker1"), await cluster.start("worker2")];
    await cluster.settled(workers);
    const clients = startClients(cluster.ask, {
      prefix: "r",
      clients: 16,
      entities: 64,
      pauseMs: 0,
      deadlineMs: 1_000,
    });
    await sleep(AROUND_MS);
    const began = performance.now();
    await fault(clients, cluster);
    const faultMs = Math.round(performance.now() - began);
    const count = clients.answers.size;
    await until("answers come again", async () => clients.answers.size > count + 100, 60_000);
    await sleep(AROUND_MS);
    await clients.stop();
    const counts = await expectExactlyOnce(cluster.store, cluster.ask, clients, "r");
    const [gapMs, worstMs] = [clients.gapMs(), clients.worstMs()];
    console.log(`${name}:`, JSON.stringify({ ...counts, gapMs, faultMs, worstMs }));
    expect(gapMs).toBeLessThan(faultMs + mostMs);
  } finally {
    await cluster.stop();
  }
}
