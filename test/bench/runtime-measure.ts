/** Measurements of the systems under test, in turn: rate, latency, and the CPU that each part used. */
import { loadavg } from "node:os";
import process from "node:process";
import type { Load, Loaded } from "./runtime-clients.ts";
import type { Cluster } from "./runtime-cluster.ts";
import { cpuOf } from "./runtime-cpu.ts";
import type { Call, Peer } from "./runtime-peers.ts";

export type Print = (line: string) => void;

/** `--quick`, or a share of the usual time in ARBOR_BENCH_SCALE, makes it shorter and less precise. */
export const scale = Number(process.env.ARBOR_BENCH_SCALE ?? (process.argv.includes("--quick") ? 0.3 : 1));
/** How often each measurement is repeated; the best counts, for all systems, because of other load on the machine. */
export const ROUNDS = scale < 1 ? 1 : 3;
export const ROUND_MS = 2_500 * Math.min(1, 2 * scale);

export const SINGLE = "Arbor in one process, HTTP";

/** A system under test, and its processes. */
export interface Scenario {
  readonly name: string;
  /** URL of a call over HTTP; without it, NATS is used. */
  readonly url?: (call: Call) => string;
  readonly processes: Readonly<Record<string, readonly number[]>>;
}

/** The systems that run side by side. */
export interface Systems {
  readonly cluster: Cluster;
  readonly single: Cluster;
  readonly peers: readonly Peer[];
  /** Process id of the PostgreSQL that they share. */
  readonly postmaster: number;
}

/** A measurement of one of them, with the CPU that each part used per answer, in microseconds. */
export interface Figure {
  readonly loaded: Loaded;
  readonly rate: number;
  readonly cpu: Readonly<Record<string, number>>;
  readonly load: number;
}

/** All ways to ask: Arbor over NATS and HTTP, apart and in one process, and the peers. */
export function scenariosOf({ cluster, single, peers, postmaster }: Systems): Scenario[] {
  const shared = { client: [cluster.clients.pid], PostgreSQL: [postmaster] };
  const processes = { ...shared, bus: [cluster.bus.pid], worker: cluster.workers.map(({ pid }) => pid) };
  return [
    { name: "Arbor, NATS", processes },
    { name: "Arbor, HTTP", url: cluster.url, processes: { ...processes, edge: [cluster.edge.pid] } },
    { name: SINGLE, url: single.url, processes: { ...shared, [SINGLE]: [single.edge.pid] } },
    ...peers.map(({ name, url, pids }) => ({ name: `${name}, HTTP`, url, processes: { ...shared, [name]: pids() } })),
  ];
}

/** Puts a load on a system. */
export async function measure(cluster: Cluster, { processes }: Scenario, load: Load): Promise<Figure> {
  const before = cpuOf(processes);
  const loaded = await cluster.clients.ask(load);
  const after = cpuOf(processes);
  const cpu = Object.fromEntries(
    Object.keys(processes).map((name) => [name, 1e6 * (after[name]! - before[name]!) / loaded.answered]),
  );
  return { loaded, rate: loaded.answered / loaded.seconds, cpu, load: loadavg()[0]! };
}

/** The best of some rounds of each system, in turn, so that other load on the machine affects all of them. */
export async function bestOf(
  cluster: Cluster,
  scenarios: readonly Scenario[],
  load: (scenario: Scenario, round: number) => Load,
): Promise<Map<Scenario, Figure>> {
  const best = new Map<Scenario, Figure>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of scenarios) {
      const figure = await measure(cluster, one, load(one, round));
      if (figure.rate > (best.get(one)?.rate ?? 0)) best.set(one, figure);
    }
  }
  return best;
}

/** The columns of `cpuColumns`. */
export const CPU_COLUMNS = [
  "client",
  "edge",
  "bus",
  "worker",
  "PostgreSQL",
  "one process, peer",
  "together",
  "cores used",
];

/** The CPU of an answer by part, in microseconds, and the cores that were used. */
export function cpuColumns({ name }: Scenario, { cpu, rate }: Figure): string[] {
  const together = Object.values(cpu).reduce((sum, us) => sum + us, 0);
  const parts = ["client", "edge", "bus", "worker", "PostgreSQL"].map((part) => cpu[part]?.toFixed(0) ?? "");
  const own = Object.entries(cpu).find(([part]) => name.startsWith(part));
  return [...parts, own?.[1].toFixed(0) ?? "", together.toFixed(0), (together * rate / 1e6).toFixed(2)];
}
