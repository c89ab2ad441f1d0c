/**
 * `deno task bench runtime [--part turns|workflow|effects|timers|restart|stages|transitions|faults|sizes|large|readers]… [--quick]`: the runtime
 * compared with its peers, in one run on one machine: durable turns over NATS and over HTTP, workflows, timers, restarts,
 * transitions at a subscriber, the loss of a worker as seen by clients, memory.
 *
 * Everything measured runs in separate processes: a bus, an edge, one worker by default, the clients; and once more
 * with bus, edge and worker in one process, like `deno task start`. Over HTTP all systems get the same requests from
 * the same clients for a counter each, and none answers before its answer is durable.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { table } from "./machine.ts";
import { endChildren } from "./runtime-child.ts";
import { type Cluster, startCluster } from "./runtime-cluster.ts";
import { measureFaults } from "./runtime-faults.ts";
import { large } from "./runtime-large.ts";
import { type Print, ROUND_MS, ROUNDS, scale } from "./runtime-measure.ts";
import { type Peer, startPeers } from "./runtime-peers.ts";
import { readers } from "./runtime-readers.ts";
import { restarts } from "./runtime-restart.ts";
import { measureSizes } from "./runtime-size.ts";
import { measureStages, STAGES, timeFlushes } from "./runtime-stages.ts";
import { timers } from "./runtime-timers.ts";
import { turns } from "./runtime-turns.ts";
import { effects, workflows } from "./runtime-workflow.ts";

/** The parts that run beside the peers. */
const BESIDE = { turns, workflow: workflows, effects, timers, restart: restarts } as const;
const PARTS = [...Object.keys(BESIDE), "stages", "transitions", "faults", "sizes", "large", "readers"];

const workers = Number(process.env.ARBOR_BENCH_WORKERS ?? 1);

/** The parts that the command line names; all by default. */
function wantedParts(): (part: string) => boolean {
  const { values: { part } } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: { part: { type: "string", multiple: true } },
  });
  const chosen = (part ?? PARTS) as readonly string[];
  const unknown = chosen.filter((one) => !PARTS.includes(one));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}; there are ${PARTS.join(", ")}.`);
  return (one) => chosen.includes(one);
}

/** Prints the results as tables. */
export async function benchRuntime(print: Print = console.log): Promise<void> {
  const wanted = wantedParts();
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
    const beside = Object.entries(BESIDE).filter(([part]) => wanted(part));
    if (beside.length > 0) peers.push(...await startPeers(server.url, print));
    if (beside.length > 0 || wanted("stages") || wanted("transitions")) {
      const cluster = await startCluster(server.url, "bench_turns", workers);
      try {
        if (beside.length > 0) {
          const single = await startCluster(server.url, "bench_single", 0);
          for (const [, run] of beside) await run({ cluster, single, peers, postmaster }, print);
          await single.stop();
          for (const peer of peers.splice(0)) await peer.stop();
        }
        if (wanted("stages")) await stages(cluster, print);
        if (wanted("transitions")) await transitions(cluster, print);
      } finally {
        await cluster.stop();
      }
    }
    if (wanted("faults")) await faults(server.url, print);
    if (wanted("sizes")) await sizes(server.url, print);
    if (wanted("large")) await large(server.url, postmaster, print);
    if (wanted("readers")) await readers(server.url, postmaster, print);
  } finally {
    for (const peer of peers) await peer.stop();
    endChildren();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The waits of a turn, stage by stage. */
async function stages(cluster: Cluster, print: Print): Promise<void> {
  const columns: { name: string; spent: Awaited<ReturnType<typeof measureStages>> }[] = [];
  for (const clients of [1, 64]) {
    for (
      const [name, http] of [["NATS", {}], ["HTTP", { url: cluster.url("counter"), body: '{"amount":1}' }]] as const
    ) {
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
    row("bytes of WAL a turn", (spent) => spent.walPerTurn.toFixed(0)),
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
