/** Timers that are all due at the same moment: how fast they are set, and when the last one has fired. */
import { sleep } from "#src/base/clock.ts";
import { table } from "./machine.ts";
import type { Load } from "./runtime-clients.ts";
import {
  type Figure,
  measure,
  type Print,
  scale,
  type Scenario,
  scenariosOf,
  type Systems,
} from "./runtime-measure.ts";
import type { Fired } from "./runtime-peers.ts";
import { cpuOf } from "./runtime-cpu.ts";

/** Timers that are set first, for a day later, to know how long setting all of them takes. */
const TRIAL = 2_000;
const DAY_MS = 86_400_000;

/** Prints how long the timers of each system take; DBOS, which is slower to set them, gets a tenth. */
export async function timers(systems: Systems, print: Print): Promise<void> {
  const { cluster, peers } = systems;
  const many = Math.round(100_000 * Math.min(1, scale));
  const rows: string[][] = [];
  for (const scenario of scenariosOf(systems)) {
    const { name } = scenario;
    if (name.startsWith("Arbor") && scenario.url !== undefined) continue;
    const peer = peers.find((one) => name.startsWith(one.name));
    const count = peer?.name === "DBOS" ? many / 10 : many;
    const load = (at: number, prefix: string, entities: number): Load => ({
      ...(peer === undefined
        ? { question: { kind: "alarm", event: { type: "SET", at } } }
        : { url: peer.url("alarm"), body: peer.alarm(at), at }),
      ...{ prefix, entities, clients: 256, ms: 0, once: true },
    });
    const trial = await cluster.clients.ask(load(Date.now() + DAY_MS, "trial-", TRIAL));
    const at = Math.round(Date.now() + 5_000 + 1_500 * trial.seconds * count / TRIAL);
    const set = await measure(cluster, scenario, load(at, "alarm-", count));
    if (Date.now() > at) print(`${name} did not set its timers in time; the last ones were due at once.`);
    const fired = peer === undefined ? () => firedHere(systems, at) : () => peer.fired();
    rows.push(await waited(scenario, set, at, count, fired));
  }
  print("");
  table(["timers", "due at once", "set/s", "all fired after s", "fired/s", "CPU µs each: set", "fired"], rows)
    .forEach((line) => print(line));
}

/** Waits until all timers have fired. */
async function waited(
  { name, processes }: Scenario,
  set: Figure,
  at: number,
  count: number,
  fired: () => Promise<Fired>,
): Promise<string[]> {
  await sleep(Math.max(0, at - 200 - Date.now()));
  const before = cpuOf(processes);
  let now = await fired();
  while (now.count < count && Date.now() < at + 300_000) {
    await sleep(200);
    now = await fired();
  }
  const after = cpuOf(processes);
  const used = Object.keys(processes).reduce((sum, part) => sum + after[part]! - before[part]!, 0);
  const seconds = (now.last - at) / 1_000;
  return [
    name,
    now.count === count ? String(count) : `${now.count} of ${count}`,
    set.rate.toFixed(0),
    seconds.toFixed(1),
    (now.count / seconds).toFixed(0),
    Object.values(set.cpu).reduce((sum, us) => sum + us, 0).toFixed(0),
    (1e6 * used / now.count).toFixed(0),
  ];
}

/** Arbor's: reminders are rows until the turn that applies them. */
async function firedHere({ cluster: { store } }: Systems, at: number): Promise<Fired> {
  const [open] = await store.sql`select 1 from reminder where at <= ${new Date(at)} limit 1`;
  if (open !== undefined) return { count: 0, last: at };
  const [row] = await store.sql<{ count: number; last: Date }[]>`
    select count(*)::int as count, max(created) as last from outbox where kind = 'alarm' and type = 'RANG' and created >= ${new Date(
    at - 1_000,
  )}`;
  return { count: row!.count, last: row!.last.getTime() };
}
