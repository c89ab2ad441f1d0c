/** Durable commands a second through two worker processes: fence, dedupe, snapshot, own table, outbox, publishing. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres.ts";
import { load } from "../support/load.ts";
import { startCluster } from "../support/runtime.ts";

/** Prints turns a second and latencies for 1, 64 and 256 clients on a thousand entities, and for one hot entity. */
export async function benchRuntime(print: (line: string) => void = console.log): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const log = createLog("warn");
  const server = await startPostgres({ folder, log });
  const token = randomBytes(16).toString("hex");
  const nats = await startNatsEndpoint({ port: 0, token, log });
  const infra = { databaseUrl: server.url, natsUrl: nats.url, natsToken: token, stop: async () => {} };
  const cluster = await startCluster(infra, { plain: true });
  try {
    await cluster.settled(await Promise.all([cluster.start("one"), cluster.start("two")]));
    const [set] = await cluster.store.sql<{ fsync: string; sync: string; version: string }[]>`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as sync,
        current_setting('server_version') as version`;
    print(
      `runtime: 2 workers, embedded NATS, PostgreSQL ${set!.version}, fsync ${set!.fsync}, ` +
        `synchronous_commit ${set!.sync}, ${cpus().length} × ${cpus()[0]?.model.trim()}`,
    );
    print("clients  entities  turns/s    p50 ms    p99 ms  failed");
    const scale = Number(process.env.ARBOR_BENCH_SCALE ?? 1);
    await load(cluster.ask, { prefix: "warm", count: 2_000 * scale, clients: 32, entities: 1_000 });
    const rows: [clients: number, entities: number, count: number][] = [
      [1, 1_000, 1_000],
      [64, 1_000, 20_000],
      [256, 1_000, 30_000],
      [64, 1, 10_000],
      [256, 1, 20_000],
    ];
    for (const [clients, entities, count] of rows) {
      const r = await load(cluster.ask, {
        prefix: `c${clients}e${entities}-`,
        count: count * scale,
        clients,
        entities,
      });
      const cells = [clients, entities, r.turnsPerSecond.toFixed(0), r.p50.toFixed(2), r.p99.toFixed(2), r.failed];
      print([7, 10, 9, 10, 10, 8].map((width, i) => String(cells[i]).padStart(width)).join(""));
    }
    const [check] = await cluster.store.sql<{ versions: bigint; results: bigint; events: bigint }[]>`
      select (select sum(version)::bigint from actor) as versions, (select count(*) from command_result) as results,
        (select count(*) from outbox) as events`;
    print(`applied ${check!.versions}, results ${check!.results}, events ${check!.events}`);
  } finally {
    await cluster.stop();
    await nats.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
