/**
 * A million known actors, of which a tenth are in memory: memory, restart, what operators read, and what deleting old
 * rows costs turns.
 */
import { percentile, table } from "./machine.ts";
import { fillCounters, fillHistory } from "./runtime-fill.ts";
import { type Cluster, startCluster } from "./runtime-cluster.ts";
import { cpuOf, residentMb } from "./runtime-cpu.ts";
import { type Print, ROUND_MS, scale } from "./runtime-measure.ts";
import { prune, RETENTION_HOURS } from "#src/runtime/operations/retention.ts";

/** Prints all of it. */
export async function large(serverUrl: string, postmaster: number, print: Print): Promise<void> {
  const known = Math.round(1_000_000 * Math.min(1, scale));
  const active = known / 10;
  const cluster = await startCluster(serverUrl, "bench_large", 1, { resident: active + 1_000 });
  try {
    await fillHistory(cluster.store, known / 2);
    await memory(cluster, known, active, print);
    await restart(cluster, known, print);
    await reads(cluster, known, postmaster, print);
    await pruning(cluster, print);
  } finally {
    await cluster.stop();
  }
}

const once = (prefix: string, entities: number) => ({ prefix, entities, clients: 64, ms: 0, once: true });

async function memory(cluster: Cluster, known: number, active: number, print: Print): Promise<void> {
  const rows: (string | number)[][] = [];
  const note = async (all: number, there: number) => {
    const [row] = await cluster.store.sql<{ mb: number }[]>`
      select pg_total_relation_size('actor') / 1048576.0::float8 as mb`;
    rows.push([all, there, residentMb(cluster.workers[0]!.pid), row!.mb.toFixed(0)]);
  };
  await note(0, 0);
  await cluster.clients.ask(once("e", active));
  await note(active, active);
  await fillCounters(cluster.store, known - active);
  await cluster.clients.ask(once("e", 1_000));
  await note(known, active);
  print("");
  table(["actors known", "in memory", "worker's resident memory MB", "their rows and indexes MB"], rows)
    .forEach((line) => print(line));
}

/** Kills the worker; then the first commands to actors that are in the database only. */
async function restart(cluster: Cluster, known: number, print: Print): Promise<void> {
  const [old] = cluster.workers.splice(0);
  old!.signal("SIGKILL");
  await old!.exited;
  const begun = performance.now();
  void cluster.addWorker();
  const loaded = await cluster.clients.ask(once("x", 1_000));
  const thousand = performance.now() - begun;
  const first = thousand - loaded.seconds * 1_000 + loaded.first;
  await cluster.settled(1);
  const some = Math.min(20_000, known / 10);
  const cold = await cluster.clients.ask(once("e", some));
  const warm = await cluster.clients.ask(once("e", some));
  print("");
  table(["after kill -9, 64 clients", "actors", "answers/s", "p50 ms", "p99 ms"], [
    [
      "first command to an actor, cold",
      some,
      (some / cold.seconds).toFixed(0),
      cold.p50.toFixed(1),
      cold.p99.toFixed(1),
    ],
    ["next command to it", some, (some / warm.seconds).toFixed(0), warm.p50.toFixed(1), warm.p99.toFixed(1)],
  ]).forEach((line) => print(line));
  print("");
  print(`${known} known: first answer ${first.toFixed(0)} ms after the start, 1,000 after ${thousand.toFixed(0)} ms`);
}

/** What an operator reads, and how often; each `N` is another actor. */
const READS: readonly (readonly [name: string, path: string])[] = [
  ["list, first page", "/actors?limit=100"],
  ["list from the middle, by prefix", "/actors?kind=counter&q=xN&limit=100"],
  ["list by state", "/actors?kind=counter&state=counting&limit=100"],
  ["list of paused ones", "/actors?kind=counter&paused=true&limit=100"],
  ["search by the beginning of an id", "/search?q=xNN"],
  ["one actor", "/actors/counter/xN"],
  ["history of one", "/actors/counter/xN/history"],
  ["counts by kind and state", "/kinds"],
  ["overview", "/overview"],
  ["partitions, with their counts", "/partitions"],
  ["backlogs", "/lags"],
  ["the last hour by minute", "/activity"],
];

async function reads(cluster: Cluster, known: number, postmaster: number, print: Print): Promise<void> {
  const operators = await cluster.add("operators");
  const processes = { operators: [operators.pid], PostgreSQL: [postmaster] };
  const rows: (string | number)[][] = [];
  for (const [name, path] of READS) {
    const times: number[] = [];
    const before = cpuOf(processes);
    for (let i = 0; i < 200; i++) {
      const url = operators.ready.operatorsUrl +
        path.replaceAll("N", () => String((i * 7_919) % Math.floor(known / 2)));
      const begun = performance.now();
      const response = await fetch(url);
      await response.text();
      if (!response.ok) throw new Error(`${path} gave ${response.status}`);
      times.push(performance.now() - begun);
    }
    const after = cpuOf(processes);
    const cpu = (part: keyof typeof processes) => (1e3 * (after[part] - before[part]) / times.length).toFixed(1);
    rows.push([
      name,
      percentile(times, 0.5).toFixed(1),
      percentile(times, 0.99).toFixed(1),
      Math.max(...times).toFixed(0),
      cpu("operators"),
      cpu("PostgreSQL"),
    ]);
  }
  print("");
  table(["operators read", "p50 ms", "p99 ms", "longest ms", "CPU ms", "PostgreSQL CPU ms"], rows)
    .forEach((line) => print(line));
}

/** Deletes rows past their retention beside 64 clients. */
async function pruning(cluster: Cluster, print: Print): Promise<void> {
  const load = (ms: number) => cluster.clients.ask({ prefix: "e", entities: 10_000, clients: 64, ms });
  await load(ROUND_MS);
  const without = await load(2 * ROUND_MS);
  const begun = performance.now();
  const deleting = prune(cluster.store, RETENTION_HOURS).then((pruned) => ({
    rows: pruned.results + pruned.history,
    seconds: (performance.now() - begun) / 1_000,
  }));
  const beside = await load(2 * ROUND_MS);
  const { rows, seconds } = await deleting;
  print("");
  table(
    ["64 clients", "turns/s", "p50 ms", "p99 ms", "longest ms"],
    [["without", without], ["while rows are deleted", beside]]
      .map(([name, loaded]) => {
        const { answered, seconds, p50, p99, longest } = loaded as typeof without;
        return [name as string, (answered / seconds).toFixed(0), p50.toFixed(1), p99.toFixed(1), longest.toFixed(0)];
      }),
  ).forEach((line) => print(line));
  print("");
  print(`${rows} rows deleted in ${seconds.toFixed(1)} s: ${(rows / seconds).toFixed(0)}/s`);
}
