/** A pooler in front of PostgreSQL: one that lends connections for a session works, others are refused at the start. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkServer } from "#src/store/server.ts";
import { openStore } from "#src/store/store.ts";
import { openLookupStore } from "#src/store/readPool.ts";
import { startEndpointProcess } from "../support/infra/natsServer.ts";
import { findPgbouncer, startPgbouncer } from "../support/infra/pgbouncer.ts";
import { findPostgres, type PostgresServer, startInstalledServer } from "../support/infra/postgresServer.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { expectExactlyOnce, startClients } from "../support/runtime/clients.ts";
import { startCluster } from "../support/runtime/cluster.ts";
import { load } from "../support/runtime/load.ts";
import { until } from "../support/base/until.ts";
import { Arbor } from "../support/service/arbor.ts";

const native = findPostgres();
const version = findPgbouncer();

describe.skipIf(native === undefined || version === undefined)("pgbouncer", () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startInstalledServer(native!)));
  afterAll(() => server?.stop());

  test.each(["transaction", "statement"] as const)(
    "in %s mode is refused at the start, also when it is busy",
    async (mode) => {
      const pooler = await startPgbouncer(server.url, mode);
      const others = openStore(pooler.url, { max: 20 });
      try {
        await Promise.all(Array.from({ length: 40 }, () => others.sql.unsafe("select pg_sleep(0.05)")));
        const store = openStore(pooler.url, { max: 4 });
        expect(await checkServer(store)).toMatchObject({
          ok: false,
          error: { code: "pooler_mode", message: expect.stringContaining("pool_mode = session") },
        });
        await store.close();
        const infra = await sharedInfra();
        await expect(Arbor.start({ infra: { ...infra, databaseUrl: pooler.url } })).rejects.toThrow(
          "pool_mode = session",
        );
        await infra.stop();
      } finally {
        await others.close();
        await pooler.stop();
      }
    },
  );

  test("in session mode keeps each connection's settings, and applies each command once", async () => {
    const pooler = await startPgbouncer(server.url, "session");
    const store = openStore(pooler.url, { max: 2 });
    expect(await checkServer(store)).toEqual({ ok: true, value: [] });
    const [row] = await openLookupStore(store).sql<{ jit: string; scans: string }[]>`
      select current_setting('jit') as jit, current_setting('enable_seqscan') as scans`;
    expect(row).toEqual({ jit: "off", scans: "off" });
    await store.close();
    const nats = await startEndpointProcess();
    const cluster = async (databaseUrl: string) =>
      await startCluster({ databaseUrl, natsUrl: nats.url, natsToken: nats.token, stop: async () => {} }, {
        plain: true,
      });
    /** Commands of 64 clients on 1,000 accounts. */
    const measured = async (databaseUrl: string, prefix: string) => {
      const { start, settled, ask, stop } = await cluster(databaseUrl);
      await settled([await start(`worker-${prefix}`)]);
      await load(ask, { prefix, count: 2_000, clients: 64, entities: 1_000 });
      const { turnsPerSecond, p50 } = await load(ask, { prefix, count: 10_000, clients: 64, entities: 1_000 });
      await stop();
      return `${Math.round(turnsPerSecond)} turns/s, p50 ${p50.toFixed(1)} ms`;
    };
    const rounds = ["a", "b"].map((name) => async () =>
      console.log(
        `${version}: session mode ${await measured(pooler.url, `pooled${name}`)}; ` +
          `without it ${await measured(server.url, `direct${name}`)}`,
      )
    );
    for (const round of rounds) await round();

    const { start, settled, ask, store: rows, stop } = await cluster(pooler.url);
    const workers = [await start("one"), await start("two")];
    await settled(workers);
    const clients = startClients(ask, { prefix: "p", clients: 16, entities: 64, pauseMs: 0, deadlineMs: 5_000 });
    await until("answers", async () => clients.answers.size > 500);
    await clients.stop();
    expect((await expectExactlyOnce(rows, ask, clients, "p")).acknowledged).toBeGreaterThan(500);
    await stop();
    await nats.stop();
    await pooler.stop();
  });
});
