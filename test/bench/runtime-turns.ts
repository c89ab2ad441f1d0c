/** Durable turns: one counter each or one for all, over NATS and HTTP, beside the peers. */
import { table } from "./machine.ts";
import type { Load } from "./runtime-clients.ts";
import {
  bestOf,
  CPU_COLUMNS,
  cpuColumns,
  measure,
  type Print,
  ROUND_MS,
  type Scenario,
  scenariosOf,
  SINGLE,
  type Systems,
} from "./runtime-measure.ts";

/** Prints rate, latency and CPU of turns at 1, 64 and 256 clients. */
export async function turns(systems: Systems, print: Print): Promise<void> {
  const { cluster, peers } = systems;
  const scenarios = scenariosOf(systems);
  const load = ({ url }: Scenario, clients: number, entities: number): Load => {
    const http = url === undefined ? {} : { url: url("counter"), body: '{"amount":1}' };
    return { ...http, prefix: `e${entities}-`, entities, clients, ms: ROUND_MS };
  };
  for (const one of scenarios) await measure(cluster, one, load(one, 64, 1_000));
  const rows: (string | number)[][] = [];
  const spent: (string | number)[][] = [];
  const at64 = new Map<string, { spread: number; hot: number }>();
  for (const [clients, entities] of [[1, 1_000], [64, 1_000], [256, 1_000], [64, 1], [256, 1]] as const) {
    for (const [one, figure] of await bestOf(cluster, scenarios, (one) => load(one, clients, entities))) {
      const { loaded: { p50, p99, failed }, rate } = figure;
      const { name } = one;
      rows.push([
        name,
        clients,
        entities,
        rate.toFixed(0),
        p50.toFixed(2),
        p99.toFixed(1),
        failed,
        figure.load.toFixed(1),
      ]);
      if (clients !== 64) continue;
      const before = at64.get(name) ?? { spread: 0, hot: 0 };
      at64.set(name, { ...before, [entities === 1 ? "hot" : "spread"]: rate });
      if (entities > 1) spent.push([name, ...cpuColumns(one, figure)]);
    }
  }
  print("");
  table(["asked", "clients", "entities", "turns/s", "p50 ms", "p99 ms", "failed", "load"], rows).forEach((line) =>
    print(line)
  );
  print("");
  table(["CPU µs a turn, 64 clients", ...CPU_COLUMNS], spent).forEach((line) => print(line));
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
