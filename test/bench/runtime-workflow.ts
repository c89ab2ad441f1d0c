/**
 * A workflow of three durable steps, each a function that returns at once, beside the peers; and what Arbor's other
 * parts cost: effects, reminders, builds.
 */
import { table } from "./machine.ts";
import type { Load, Question } from "./runtime-clients.ts";
import {
  bestOf,
  CPU_COLUMNS,
  cpuColumns,
  type Figure,
  measure,
  type Print,
  ROUND_MS,
  type Scenario,
  scenariosOf,
  type Systems,
} from "./runtime-measure.ts";

const STEPS = 3;
/** So many that each request starts a workflow of its own. */
const MANY = 1_000_000_007;

/** Prints rate and latency of workflows at 1, 64 and 256 clients, the overhead of a step, and the CPU of a workflow. */
export async function workflows(systems: Systems, print: Print): Promise<void> {
  const { cluster } = systems;
  const scenarios = scenariosOf(systems);
  const load = ({ name, url }: Scenario, clients: number, steps: number, round: number): Load => {
    const prefix = `${name.replaceAll(/\W/g, "")}-${clients}-${steps}-${round}-`;
    const question = { kind: "workflow", event: { type: "RUN", steps } };
    const http = url === undefined ? { question } : { url: url("workflow"), body: JSON.stringify({ steps }) };
    return { ...http, prefix, entities: MANY, clients, ms: ROUND_MS };
  };
  for (const one of scenarios) await measure(cluster, one, load(one, 64, STEPS, -1));
  const at = (clients: number, steps: number) =>
    bestOf(cluster, scenarios, (one, round) => load(one, clients, steps, round));
  const none = await at(1, 0);
  const runs = new Map<number, Map<Scenario, Figure>>();
  for (const clients of [1, 64, 256]) runs.set(clients, await at(clients, STEPS));
  const [alone, spread] = [runs.get(1)!, runs.get(64)!];
  print("");
  table(
    [
      "a workflow of 3 steps",
      "p50 ms",
      "without steps",
      "overhead of a step",
      "/s, 1",
      "/s, 64",
      "/s, 256",
      "p50, p99 ms, 64",
      "failed",
    ],
    scenarios.map((one) => {
      const [whole, empty] = [alone.get(one)!.loaded.p50, none.get(one)!.loaded.p50];
      const { p50, p99 } = spread.get(one)!.loaded;
      return [
        one.name,
        whole.toFixed(2),
        empty.toFixed(2),
        ((whole - empty) / STEPS).toFixed(2),
        ...[...runs.values()].map((figures) => figures.get(one)!.rate.toFixed(0)),
        `${p50.toFixed(1)}, ${p99.toFixed(1)}`,
        [...runs.values()].reduce((sum, figures) => sum + figures.get(one)!.loaded.failed, 0),
      ];
    }),
  ).forEach((line) => print(line));
  print("");
  table(
    ["CPU µs a workflow, 64 clients", ...CPU_COLUMNS],
    scenarios.map((one) => [
      one.name,
      ...cpuColumns(one, spread.get(one)!),
    ]),
  ).forEach((line) => print(line));
}

/** Each is answered when all of it has happened. */
const OTHERS: readonly (readonly [name: string, question: Question])[] = [
  ["a command", { kind: "counter", event: { type: "ADD", amount: 1 } }],
  ["a command, an effect, its outcome", { kind: "workflow", event: { type: "RUN", steps: 1 } }],
  ["a reminder set, due at once, fired", { kind: "alarm", event: { type: "SET" } }],
  ["a build", { kind: "counter", build: "sum" }],
];

/** Prints what effects, reminders and builds cost over NATS. */
export async function effects({ cluster, ...systems }: Systems, print: Print): Promise<void> {
  const [scenario] = scenariosOf({ cluster, ...systems }) as [Scenario];
  const rows: (string | number)[][] = [];
  for (const [name, question] of OTHERS) {
    const load = (clients: number): Load => ({
      question,
      prefix: "other-",
      entities: 1_000,
      clients,
      ms: ROUND_MS,
    });
    await measure(cluster, scenario, load(64));
    const alone = (await bestOf(cluster, [scenario], () => load(1))).get(scenario)!;
    const figure = (await bestOf(cluster, [scenario], () => load(64))).get(scenario)!;
    const { p50, p99, failed } = figure.loaded;
    rows.push([
      name,
      alone.loaded.p50.toFixed(2),
      figure.rate.toFixed(0),
      `${p50.toFixed(1)}, ${p99.toFixed(1)}`,
      failed,
      ...["client", "bus", "worker", "PostgreSQL"].map((part) => figure.cpu[part]!.toFixed(0)),
      cpuColumns(scenario, figure).at(-1)!,
    ]);
  }
  print("");
  table(
    [
      "answered at its end, NATS",
      "p50 ms, 1 client",
      "/s, 64",
      "p50, p99 ms, 64",
      "failed",
      "CPU µs: client",
      "bus",
      "worker",
      "PostgreSQL",
      "cores used",
    ],
    rows,
  ).forEach((line) => print(line));
}
