/**
 * The runtime's throughput compared with its peers, in one run on one machine: durable turns over NATS and over HTTP,
 * transitions at a subscriber, the loss of a worker as seen by clients, memory, and restarts.
 *
 * Everything measured runs in separate processes: a bus, an edge, one worker by default, the clients; and once more
 * with bus, edge and worker in one process, like `deno task start`. Over HTTP all systems get the same requests from
 * the same clients for a counter each, and none answers before its answer is durable.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { table } from "./machine.ts";
import { endChildren } from "./runtime-child.ts";
import type { Loaded } from "./runtime-clients.ts";
import { type Cluster, startCluster } from "./runtime-cluster.ts";
import { cpuOf } from "./runtime-cpu.ts";
import { measureFaults } from "./runtime-faults.ts";
import { type Peer, startPeers } from "./runtime-peers.ts";
import { measureSizes } from "./runtime-size.ts";
import { measureStages, STAGES, timeFlushes } from "./runtime-stages.ts";

type Print = (line: string) => void;

/** `--quick`, or a share of the usual time in ARBOR_BENCH_SCALE, makes it shorter and less precise. */
const scale = Number(process.env.ARBOR_BENCH_SCALE ?? (process.argv.includes("--quick") ? 0.3 : 1));
const workers = Number(process.env.ARBOR_BENCH_WORKERS ?? 1);
/** How often each measurement is repeated; the best counts, for all systems, because of other load on the machine. */
const ROUNDS = scale < 1 ? 1 : 3;
const ROUND_MS = 2_500 * Math.min(1, 2 * scale);

/** Prints the results as tables. */
export async function benchRuntime(print: Print = console.log): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const server = await startPostgres({ folder, log: createLog("warn") });
  const postmaster = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  const peers: Peer[] = [];
  try {
    const admin = openStore(server.url, { max: 1 });
    const [set] = await admin.sql<{ fsync: string; sync: string; version: string }[]>`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as sync,
        current_setting('server_version') as version`;
    await timeFlushes(admin);
    await admin.close();
    print(
      `${workers} worker(s), one edge, an embedded bus, PostgreSQL ${set!.version} with fsync ${set!.fsync} and ` +
        `synchronous_commit ${set!.sync}; best of ${ROUNDS} rounds of ${ROUND_MS / 1_000} s`,
    );
    peers.push(...await startPeers(server.url, print));
    const cluster = await startCluster(server.url, "bench_turns", workers);
    try {
      const single = await startCluster(server.url, "bench_single", 0);
      await throughput(cluster, single, peers, postmaster, print);
      await single.stop();
      for (const peer of peers.splice(0)) await peer.stop();
      await stages(cluster, print);
      await transitions(cluster, print);
    } finally {
      await cluster.stop();
    }
    await faults(server.url, print);
    await sizes(server.url, print);
  } finally {
    for (const peer of peers) await peer.stop();
    endChildren();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const SINGLE = "Arbor in one process, HTTP";

/** A system under test, and its processes. */
interface Scenario {
  readonly name: string;
  readonly url?: string;
  readonly processes: Readonly<Record<string, readonly number[]>>;
}

/** A measurement of one of them, with the CPU that each part used per turn, in microseconds. */
interface Figure {
  readonly loaded: Loaded;
  readonly rate: number;
  readonly cpu: Readonly<Record<string, number>>;
  readonly load: number;
}

async function throughput(
  cluster: Cluster,
  single: Cluster,
  peers: readonly Peer[],
  postmaster: number,
  print: Print,
): Promise<void> {
  const shared = { client: [cluster.clients.pid], PostgreSQL: [postmaster] };
  const processes = { ...shared, bus: [cluster.bus.pid], worker: cluster.workers.map(({ pid }) => pid) };
  const scenarios: Scenario[] = [
    { name: "Arbor, NATS", processes: processes },
    { name: "Arbor, HTTP", url: cluster.url, processes: { ...processes, edge: [cluster.edge.pid] } },
    { name: SINGLE, url: single.url, processes: { ...shared, [SINGLE]: [single.edge.pid] } },
    ...peers.map(({ name, url, pids }) => ({ name: `${name}, HTTP`, url, processes: { ...shared, [name]: pids } })),
  ];
  const measure = async (
    { url, processes }: Scenario,
    clients: number,
    entities: number,
    ms: number,
  ): Promise<Figure> => {
    const before = cpuOf(processes);
    const http = url === undefined ? {} : { url, body: '{"amount":1}' };
    const loaded = await cluster.clients.ask({ ...http, prefix: `e${entities}-`, entities, clients, ms });
    const after = cpuOf(processes);
    const cpu = Object.fromEntries(
      Object.keys(processes).map((name) => [name, 1e6 * (after[name]! - before[name]!) / loaded.answered]),
    );
    return { loaded, rate: loaded.answered / loaded.seconds, cpu, load: loadavg()[0]! };
  };
  for (const one of scenarios) await measure(one, 64, 1_000, ROUND_MS);
  const rows: (string | number)[][] = [];
  const spent: (string | number)[][] = [];
  const at64 = new Map<string, { spread: number; hot: number }>();
  for (const [clients, entities] of [[1, 1_000], [64, 1_000], [256, 1_000], [64, 1], [256, 1]] as const) {
    const best = new Map<Scenario, Figure>();
    // In turn, so that other load on the machine affects all of them.
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of scenarios) {
        const figure = await measure(one, clients, entities, ROUND_MS);
        if (figure.rate > (best.get(one)?.rate ?? 0)) best.set(one, figure);
      }
    }
    for (const [{ name }, { loaded, rate, cpu, load }] of best) {
      rows.push([
        name,
        clients,
        entities,
        rate.toFixed(0),
        loaded.p50.toFixed(2),
        loaded.p99.toFixed(1),
        loaded.failed,
        load.toFixed(1),
      ]);
      if (clients !== 64) continue;
      const before = at64.get(name) ?? { spread: 0, hot: 0 };
      at64.set(name, { ...before, [entities === 1 ? "hot" : "spread"]: rate });
      if (entities === 1) continue;
      const together = Object.values(cpu).reduce((sum, us) => sum + us, 0);
      const parts = ["client", "edge", "bus", "worker", "PostgreSQL"].map((part) => cpu[part]?.toFixed(0) ?? "");
      const own = Object.entries(cpu).find(([part]) => name.startsWith(part));
      spent.push([name, ...parts, own?.[1].toFixed(0) ?? "", together.toFixed(0), (together * rate / 1e6).toFixed(2)]);
    }
  }
  print("");
  table(["asked", "clients", "entities", "turns/s", "p50 ms", "p99 ms", "failed", "load"], rows).forEach((line) =>
    print(line)
  );
  print("");
  table(
    [
      "CPU µs a turn, 64 clients",
      "client",
      "edge",
      "bus",
      "worker",
      "PostgreSQL",
      "one process, peer",
      "together",
      "cores used",
    ],
    spent,
  ).forEach((line) => print(line));
  print("");
  const [better] = peers.map(({ name }) => ({ name, rate: at64.get(`${name}, HTTP`)?.spread ?? 0 }))
    .sort((a, b) => b.rate - a.rate);
  for (const name of ["Arbor, NATS", "Arbor, HTTP", SINGLE]) {
    const { spread, hot } = at64.get(name)!;
    const times = better === undefined
      ? "no peer to compare with; "
      : `${(spread / better.rate).toFixed(1)} times the better peer, ${better.name}; `;
    print(`${name}, 64 clients: ${times}one hot entity ${(hot / spread).toFixed(2)} of the spread case`);
  }
}

/** The waits of a turn, stage by stage. */
async function stages(cluster: Cluster, print: Print): Promise<void> {
  const columns: { name: string; spent: Awaited<ReturnType<typeof measureStages>> }[] = [];
  for (const clients of [1, 64]) {
    for (const [name, http] of [["NATS", {}], ["HTTP", { url: cluster.url, body: '{"amount":1}' }]] as const) {
      const load = () => cluster.clients.ask({ ...http, prefix: "e1000-", entities: 1_000, clients, ms: 2 * ROUND_MS });
      await load();
      const spent = await measureStages(cluster, load, name === "HTTP");
      columns.push({ name: `${clients} client${clients === 1 ? "" : "s"}, ${name}`, spent });
    }
  }
  const row = (what: string, value: (spent: (typeof columns)[number]["spent"]) => string) => [
    what,
    ...columns.map(({ spent }) => value(spent)),
  ];
  print("");
  table(["mean µs of a command's way", ...columns.map(({ name }) => name)], [
    ...STAGES.map((stage, i) => row(stage, (spent) => spent.stages[i]!.toFixed(0))),
    row("together", (spent) => spent.stages.reduce((a, b) => a + b).toFixed(0)),
    row("turns a statement", (spent) => spent.turnsPerStatement.toFixed(1)),
    row("flushes a turn", (spent) => spent.flushesPerTurn.toFixed(2)),
  ]).forEach((line) => print(line));
}

/** Transitions per second at a subscriber without a token, under 64 clients. */
async function transitions(cluster: Cluster, print: Print): Promise<void> {
  const bus = await connectBus({ url: cluster.natsUrl });
  const heard = new Set<string>();
  let repeated = 0;
  let last = 0;
  bus.subscribe("arbor.event.counter.>", (body) => {
    const { id } = body as unknown as { id: string };
    if (!id.startsWith("counter/told-")) return;
    if (heard.has(id)) repeated++;
    heard.add(id);
    last = performance.now();
  });
  await bus.flush();
  const begun = performance.now();
  const { answered } = await cluster.clients.ask({ prefix: "told-", entities: 1_000, clients: 64, ms: 2 * ROUND_MS });
  const ended = performance.now();
  for (let tries = 0; tries < 100 && heard.size < answered; tries++) await sleep(50);
  await bus.close();
  print("");
  print(
    `Transitions: ${(heard.size / ((last - begun) / 1_000)).toFixed(0)}/s to a subscriber, ${heard.size} heard of ` +
      `${answered} answered, ${repeated} repeated, the last ${
        Math.max(0, last - ended).toFixed(0)
      } ms after the last answer`,
  );
}

async function faults(serverUrl: string, print: Print): Promise<void> {
  const rows = await measureFaults(serverUrl, 3_000 * Math.min(1, 2 * scale));
  print("");
  table(
    [
      "one of two workers, 32 clients over HTTP",
      "longest wait ms",
      "p99 ms",
      "drain ms",
      "answered",
      "failed",
      "counted",
    ],
    rows.map(({ what, stall, usual, drain, answered, failed, counted }) => [
      what,
      stall.toFixed(0),
      usual.toFixed(1),
      drain?.toFixed(0) ?? "",
      answered,
      failed,
      counted,
    ]),
  ).forEach((line) => print(line));
}

async function sizes(serverUrl: string, print: Print): Promise<void> {
  const few = scale < 1 ? 2_000 : 10_000;
  const { sizes, restarts } = await measureSizes(serverUrl, few, 10 * few);
  print("");
  table(
    ["entities known", "active in the worker", "its resident memory MB", "their rows and indexes MB"],
    sizes.map(({ known, active, memory, rows }) => [known, active, memory, rows.toFixed(1)]),
  ).forEach((line) => print(line));
  print("");
  table(
    ["all workers restart, entities known", "they went by", "first answer ms", "1,000 entities answered ms"],
    restarts.map(({ known, after, first, thousand }) => [known, after, first.toFixed(0), thousand.toFixed(0)]),
  ).forEach((line) => print(line));
}
