/** The loss of a worker as seen by clients: the longest wait for an answer, and how long an orderly shutdown takes. */
import { sleep } from "#src/base/clock.ts";
import { startCluster } from "./runtime-cluster.ts";

export interface Gone {
  readonly what: string;
  /** Milliseconds. */
  readonly stall: number;
  readonly usual: number;
  /** From the signal to the end of the process, in milliseconds; undefined after a kill. */
  readonly drain: number | undefined;
  readonly answered: number;
  readonly failed: number;
  readonly counted: number;
}

/** Kills one of two workers, and then stops one orderly, under 32 clients. */
export async function measureFaults(serverUrl: string, ms: number): Promise<Gone[]> {
  const cluster = await startCluster(serverUrl, "bench_faults", 2);
  const gone: Gone[] = [];
  const load = (prefix: string, some: number) =>
    cluster.clients.ask({
      url: cluster.url("counter"),
      body: '{"amount":1}',
      prefix,
      entities: 200,
      clients: 32,
      ms: some,
    });
  try {
    await load("warm", ms);
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const prefix = `${signal.toLowerCase()}-`;
      await cluster.settled(2);
      const loaded = load(prefix, 2 * ms + 4_000);
      await sleep(ms);
      const worker = cluster.workers.shift()!;
      const startedAt = performance.now();
      worker.signal(signal);
      await worker.exited;
      const drain = performance.now() - startedAt;
      const { answered, failed, longest, p99 } = await loaded;
      const [row] = await cluster.store.sql<{ n: bigint }[]>`
        select coalesce(sum((snapshot->'context'->>'count')::bigint), 0)::bigint as n from actor
        where kind = 'counter' and starts_with(id, ${prefix})`;
      gone.push({
        what: signal === "SIGKILL" ? "kill -9" : "SIGTERM",
        stall: longest,
        usual: p99,
        drain: signal === "SIGTERM" ? drain : undefined,
        answered,
        failed,
        counted: Number(row!.n),
      });
      await cluster.addWorker();
    }
    return gone;
  } finally {
    await cluster.stop();
  }
}
