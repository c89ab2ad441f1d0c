/** `kill -9` of what holds the state, and its start: how soon clients get answers again. */
import { table } from "./machine.ts";
import { type Print, scenariosOf, type Systems } from "./runtime-measure.ts";

/** Prints the first answer, and 1,000 of them, after a kill of Arbor's worker, Restate's server, DBOS's process. */
export async function restarts(systems: Systems, print: Print): Promise<void> {
  const { cluster, peers } = systems;
  const rows: string[][] = [];
  for (const { name, url } of scenariosOf(systems)) {
    const peer = peers.find((one) => name.startsWith(one.name));
    if (peer === undefined && name !== "Arbor, HTTP") continue;
    const begun = performance.now();
    await (peer ?? { restart: () => killWorkers(systems) }).restart();
    const load = { url: url!("counter"), body: '{"amount":1}', prefix: "e1000-", entities: 1_000, clients: 64, ms: 0 };
    const loaded = await cluster.clients.ask({ ...load, once: true });
    const thousand = performance.now() - begun;
    const first = thousand - loaded.seconds * 1_000 + loaded.first;
    rows.push([name, first.toFixed(0), thousand.toFixed(0)]);
    if (peer === undefined) await cluster.settled(cluster.workers.length);
  }
  print("");
  table(["kill -9 and start", "first answer ms", "1,000 entities answered ms"], rows).forEach((line) => print(line));
}

async function killWorkers({ cluster }: Systems): Promise<void> {
  const old = cluster.workers.splice(0);
  for (const worker of old) worker.signal("SIGKILL");
  await Promise.all(old.map((worker) => worker.exited));
  for (const _ of old) void cluster.addWorker();
}
