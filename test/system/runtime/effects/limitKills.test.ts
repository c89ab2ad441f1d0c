/** Limits of effects over worker processes that are killed or suspended. */
import { afterEach, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import type { Respond } from "#src/runtime/bus/bus.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { until } from "../../../support/base/until.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../../support/runtime/cluster.ts";
import { callOf } from "../../../support/runtime/job.ts";

let cluster: Cluster | undefined;
afterEach(async () => {
  await cluster?.stop();
  cluster = undefined;
});

interface Open {
  readonly n: number;
  readonly worker: string;
  readonly respond: Respond | undefined;
}

/** A cluster, and the service that its effects call: it sees how many calls of a key are open. */
async function startJobs(atOnce: number, lastsMs: number | undefined) {
  cluster = await startCluster(await sharedInfra(), { jobs: { atOnce } });
  const { bus, ask, store } = cluster;
  const open = new Map<string, Open[]>();
  const most = new Map<string, number>();
  const starts: { readonly key: string; readonly n: number }[] = [];
  const end = (key: string, one: Open) => {
    open.set(key, open.get(key)!.filter((other) => other !== one));
    one.respond?.(null);
  };
  bus.subscribe("test.call", (body, respond) => {
    const { key, n } = callOf(body);
    const one = { n, worker: (body as { worker: string }).worker, respond };
    starts.push({ key, n });
    open.set(key, [...open.get(key) ?? [], one]);
    most.set(key, Math.max(most.get(key) ?? 0, open.get(key)!.length));
    if (lastsMs !== undefined) setTimeout(() => end(key, one), lastsMs);
  });
  const run = async (key: string, n: number, id = `${key}${n}`) =>
    expect(await ask.ask({ kind: "job", id }, { type: "RUN", key, n })).toEqual({ ok: true, value: null });
  const empty = () =>
    until("the queue is empty", async () => (await store.sql`select 1 from effect_queue limit 1`).length === 0);
  return { cluster, open, most, starts, end, run, empty };
}

test.each([1, 2])(
  "kill -9 of two of three workers: at most %i run at once, and the queue empties in order",
  async (atOnce) => {
    const { cluster, most, starts, run, empty } = await startJobs(atOnce, 20);
    const workers = await Promise.all(["one", "two", "three"].map((id) => cluster.start(id)));
    await cluster.settled(workers);
    const KEYS = ["a", "b", "c"];
    const EACH = 30;
    await Promise.all(KEYS.map(async (key) => {
      for (let n = 0; n < EACH; n++) await run(key, n);
    }));
    for (const [i, worker] of workers.slice(0, 2).entries()) {
      await until("some have run", async () => starts.length >= (i + 1) * EACH);
      worker.signal("SIGKILL");
      await worker.exited;
    }
    await empty();
    expect(Object.fromEntries(most)).toEqual({ a: atOnce, b: atOnce, c: atOnce });
    for (const key of KEYS) {
      const numbers = starts.filter((one) => one.key === key).map(({ n }) => n);
      const first = [...new Set(numbers)];
      expect(first.toSorted((a, b) => a - b)).toEqual(Array.from({ length: EACH }, (_, n) => n));
      // With one at once the order is exact.
      for (const [i, n] of first.entries()) expect(Math.abs(i - n)).toBeLessThan(atOnce);
      // Only what a killed worker ran is run again.
      expect(numbers.length - EACH).toBeLessThanOrEqual(2 * atOnce);
    }
    const rows = await cluster.store.sql<{ done: number[] }[]>`select snapshot->'context'->'done' as done from actor`;
    expect(rows.map(({ done }) => done.length)).toEqual(Array(KEYS.length * EACH).fill(1));
  },
);

/** The id of a job that a worker owns. */
async function jobOf(worker: WorkerProcess): Promise<string> {
  const { owned } = await worker.state();
  for (let i = 0;; i++) if (owned.includes(partitionOf({ kind: "job", id: `s${i}` }, 16))) return `s${i}`;
}

test("a suspended worker that lost its leases exceeds the limit by what it runs, and its outcome is not applied", async () => {
  const { cluster, open, most, starts, end, run, empty } = await startJobs(1, undefined);
  const [one, two] = await Promise.all([cluster.start("one"), cluster.start("two")]);
  await cluster.settled([one!, two!]);
  await run("k", 1, await jobOf(one!));
  await until("it runs", async () => open.get("k")?.length === 1);
  await run("k", 2, await jobOf(two!));
  one!.signal("SIGSTOP");
  // First the effect of the suspended worker, at the next owner of its actor: it is the first in the queue.
  await until("its effect runs at the other worker", async () => open.get("k")?.length === 2);
  expect(open.get("k")!.map(({ n, worker }) => [n, worker])).toEqual([[1, "one"], [1, "two"]]);
  const [first, second] = open.get("k")!;
  end("k", second!);
  await until("the next one runs", async () => starts.length === 3);
  one!.signal("SIGCONT");
  end("k", first!);
  await sleep(100);
  expect(open.get("k")!.map(({ n }) => n)).toEqual([2]);
  end("k", open.get("k")![0]!);
  await empty();
  expect(most.get("k")).toBe(2);
  const rows = await cluster.store.sql<{ done: number[] }[]>`select snapshot->'context'->'done' as done from actor`;
  expect(rows.map(({ done }) => done.length)).toEqual([1, 1]);
});
