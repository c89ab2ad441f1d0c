/** Ten thousand readers of the operators' event stream over two edges: memory, delay, losses. */
import { sleep } from "#src/base/clock.ts";
import { percentile, table } from "./machine.ts";
import { startChild } from "./runtime-child.ts";
import { startCluster } from "./runtime-cluster.ts";
import { cpuOf, residentMb } from "./runtime-cpu.ts";
import { type Print, scale } from "./runtime-measure.ts";
import type { ReaderQuestion, ReaderSettings, Received } from "./runtime-readers-child.ts";

const EDGES = 2;
/** Events that are sent one by one, and then at once. */
const EVENTS = { single: 10, burst: 20 };

/** Prints what the readers cost and when each event has reached all of them. */
export async function readers(serverUrl: string, postmaster: number, print: Print): Promise<void> {
  const each = Math.round(5_000 * Math.min(1, scale));
  const cluster = await startCluster(serverUrl, "bench_readers", 1);
  try {
    const edges = await Promise.all(Array.from({ length: EDGES }, () => cluster.add("operators")));
    const processes = { edges: edges.map(({ pid }) => pid), PostgreSQL: [postmaster] };
    const resident = () => edges.reduce((sum, { pid }) => sum + residentMb(pid), 0);
    for (const { ready } of edges) await (await fetch(`${ready.operatorsUrl}/kinds`)).text();
    const empty = resident();
    const begun = performance.now();
    const clients = await Promise.all(
      edges.map(({ ready }) =>
        startChild<null, ReaderQuestion, Received>(
          "./runtime-readers-child.ts",
          { url: ready.operatorsUrl!, readers: each } satisfies ReaderSettings,
        )
      ),
    );
    const connected = (performance.now() - begun) / 1_000;
    const idle = resident();
    const quiet = cpuOf(processes);
    await sleep(5_000);
    const rested = cpuOf(processes);
    const send = (entities: number, prefix: string) =>
      cluster.clients.ask({ prefix, entities, clients: 1, ms: 0, once: true });
    const arrived = async (count: number) => {
      const times = await Promise.all(clients.map((one) => one.ask({ count })));
      return { last: Math.max(...times.map(({ last }) => last)), lost: times.reduce((sum, { lost }) => sum + lost, 0) };
    };
    const delays: number[] = [];
    let lost = 0;
    const before = cpuOf(processes);
    for (let i = 1; i <= EVENTS.single; i++) {
      const sent = Date.now();
      await send(1, `single${i}-`);
      const all = await arrived(i);
      delays.push(all.last - sent);
      lost += all.lost;
    }
    const sent = Date.now();
    await send(EVENTS.burst, "burst-");
    const all = await arrived(EVENTS.single + EVENTS.burst);
    const after = cpuOf(processes);
    const deliveries = EDGES * each * (EVENTS.single + EVENTS.burst);
    const us = (part: keyof typeof processes) => (1e6 * (after[part] - before[part]) / deliveries).toFixed(1);
    print("");
    table(["readers of /events over two edges", ""], [
      ["readers", EDGES * each],
      ["all connected after", `${connected.toFixed(1)} s`],
      ["memory of both edges: empty, idle, after the events", `${empty}, ${idle}, ${resident()} MB`],
      ["memory of a reader", `${(1_024 * (idle - empty) / (EDGES * each)).toFixed(1)} KiB`],
      ["CPU of both edges without events", `${(20 * (rested.edges - quiet.edges)).toFixed(1)} % of a core`],
      ["one event, until it reached all: median, longest", `${percentile(delays, 0.5)}, ${Math.max(...delays)} ms`],
      [`${EVENTS.burst} events, until they reached all`, `${all.last - sent} ms`],
      ["CPU of a delivery: edges, PostgreSQL", `${us("edges")}, ${us("PostgreSQL")} µs`],
      ["events lost, repeated or out of order", lost + all.lost],
    ]).forEach((line) => print(line));
    for (const one of clients) one.signal("SIGKILL");
  } finally {
    await cluster.stop();
  }
}
