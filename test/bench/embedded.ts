/** Benchmarks of the embedded parts: the throughput of the NATS endpoint, and the start time of PostgreSQL. */
import { mkdtemp, rm } from "node:fs/promises";
import { arch, availableParallelism, cpus, loadavg, platform, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { connect, type NatsConnection } from "nats";
import { silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { openStore } from "#src/store/store.ts";

const TOKEN = "bench";
const BODY = new Uint8Array(128).fill(120);

type Row = [what: string, figure: string];

/** The quantile of a sorted list. */
function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

/** Requests of 128 bytes and their responses, `width` at a time, for about `ms` milliseconds. */
async function requests(client: NatsConnection, width: number, ms: number): Promise<Row> {
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(Array.from({ length: width }, async () => {
    for (let now = performance.now(); now - began < ms;) {
      await client.request("bench.echo", BODY, { timeout: 10_000 });
      const after = performance.now();
      times.push(after - now);
      now = after;
    }
  }));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const rate = Math.round(times.length / seconds).toLocaleString("en");
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(2));
  return [`NATS request and reply, c=${width}`, `${rate}/s, p50 ${p50} ms, p99 ${p99} ms`];
}

/** Messages of 128 bytes from one publisher to some subscribers, counted by the subscribers. */
async function messages(
  endpoint: NatsEndpoint,
  publisher: NatsConnection,
  subscribers: number,
  ms: number,
): Promise<Row> {
  let heard = 0;
  const clients = await Promise.all(
    Array.from({ length: subscribers }, () => connect({ servers: endpoint.url, token: TOKEN })),
  );
  for (const client of clients) {
    client.subscribe("bench.flow.>", { callback: () => void heard++ });
    await client.flush();
  }
  const began = performance.now();
  let sent = 0;
  while (performance.now() - began < ms) {
    for (let i = 0; i < 500; i++) publisher.publish(`bench.flow.${sent++ % 100}`, BODY);
    await publisher.flush();
  }
  await Promise.all(clients.map((client) => client.flush()));
  const seconds = (performance.now() - began) / 1000;
  await Promise.all(clients.map((client) => client.close()));
  const rate = (count: number) => Math.round(count / seconds).toLocaleString("en");
  if (heard !== sent * subscribers) throw new Error(`${sent * subscribers - heard} messages were lost`);
  return [`NATS publish, ${subscribers} subscriber(s)`, `${rate(sent)} sent/s, ${rate(heard)} received/s`];
}

async function natsRows(ms: number): Promise<Row[]> {
  const endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog });
  const [asker, answerer] = await Promise.all(
    [1, 2].map(() => connect({ servers: endpoint.url, token: TOKEN })),
  ) as [NatsConnection, NatsConnection];
  answerer.subscribe("bench.echo", { callback: (_error, message) => void message.respond(message.data) });
  await answerer.flush();
  await requests(asker, 16, ms / 4);
  const rows = [
    await requests(asker, 1, ms),
    await requests(asker, 64, ms),
    await messages(endpoint, asker, 1, ms),
    await messages(endpoint, asker, 4, ms),
  ];
  await Promise.all([asker.close(), answerer.close()]);
  await endpoint.stop();
  return rows;
}

/** Start times until the first answer to a query: on a new folder, and then on an existing one. */
async function postgresRows(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const start = async () => {
    const began = performance.now();
    const server = await startPostgres({ folder: join(folder, "postgres"), log: silentLog });
    const store = openStore(server.url, { max: 1 });
    await store.sql`select 1`;
    const ready = performance.now() - began;
    await store.close();
    const stopping = performance.now();
    await server.stop();
    return { ready, stopped: performance.now() - stopping };
  };
  const cold = await start();
  const warm = [];
  for (let i = 0; i < 5; i++) warm.push(await start());
  await rm(folder, { recursive: true, force: true });
  const median = (values: number[]) => quantile(values.sort((a, b) => a - b), 0.5).toFixed(0);
  return [
    ["PostgreSQL to the first answer, cold", `${cold.ready.toFixed(0)} ms`],
    ["PostgreSQL to the first answer, warm (median of 5)", `${median(warm.map(({ ready }) => ready))} ms`],
    ["PostgreSQL stop (median of 5)", `${median(warm.map(({ stopped }) => stopped))} ms`],
  ];
}

/** Measures and prints a table; `ms` is the duration of each throughput measurement. */
export async function embeddedBench(ms = 3_000): Promise<void> {
  const rows = [...await natsRows(ms), ...await postgresRows()];
  const runtime = "Deno" in globalThis
    ? `Deno ${(globalThis as unknown as { Deno: { version: { deno: string } } }).Deno.version.deno}`
    : `Node ${process.versions.node}`;
  const load = loadavg()[0]!.toFixed(1);
  console.log(
    `\n${runtime}, ${platform()}-${arch()}, ${availableParallelism()} × ${cpus()[0]?.model}, load ${load}; ` +
      "endpoint and clients in one process, fsync on\n",
  );
  console.log("| what | figure |\n| --- | --- |");
  for (const [what, figure] of rows) console.log(`| ${what} | ${figure} |`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await embeddedBench();
  process.exit(0);
}
