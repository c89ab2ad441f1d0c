/** Faults under load on real servers: PostgreSQL and nats-server with JetStream, each killed in turn. */
import process from "node:process";
import { describe } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { openStore } from "#src/store/store.ts";
import { faultMatrix, type Infrastructure, type InfrastructureFault } from "../support/runtime/faultMatrix.ts";
import {
  hasNatsServer,
  type NatsMember,
  type NatsServer,
  startNatsCluster,
  startNatsServer,
} from "../support/infra/natsServer.ts";
import { findPostgres, type PostgresServer, startInstalledServer } from "../support/infra/postgresServer.ts";

const given = process.env.DATABASE_URL;
const native = given === undefined ? findPostgres() : undefined;
const possible = hasNatsServer() && (given !== undefined || native !== undefined);
if (given !== undefined) {
  console.warn("SKIPPED: the server of DATABASE_URL is not killed. Without it, an installed PostgreSQL is.");
}

const load = { pauseMs: 0, aroundMs: 3_000 };

/** A server for this test, or a separate database on the server of DATABASE_URL. */
async function startDatabase(): Promise<Pick<PostgresServer, "name" | "url" | "stop"> & Partial<PostgresServer>> {
  if (native !== undefined) return await startInstalledServer(native);
  const admin = openStore(given!, { max: 1 });
  const name = `arbor_test_${crypto.randomUUID().replaceAll("-", "")}`;
  await admin.sql.unsafe(`create database ${name}`);
  const [row] = await admin.sql<{ version: string }[]>`select current_setting('server_version') as version`;
  const url = new URL(given!);
  url.pathname = `/${name}`;
  return {
    name: `PostgreSQL ${row!.version}`,
    url: url.href,
    stop: async () => {
      await admin.sql.unsafe(`drop database ${name} with (force)`);
      await admin.close();
    },
  };
}

describe.skipIf(!possible)("on nats-server and PostgreSQL", () => {
  let nats: NatsServer;
  let postgres: Awaited<ReturnType<typeof startDatabase>>;
  const killed = (signal: "SIGQUIT" | "SIGKILL", name: string): InfrastructureFault => ({
    name,
    deafens: false,
    strike: () => postgres.restart!(signal),
  });
  faultMatrix({
    ...load,
    infrastructure: async (): Promise<Infrastructure> => {
      [nats, postgres] = await Promise.all([startNatsServer(), startDatabase()]);
      return {
        name: `nats-server, ${postgres.name}`,
        databaseUrl: postgres.url,
        natsUrl: nats.url,
        jetstream: true,
        stop: async () => {
          await nats.stop();
          await postgres.stop();
        },
      };
    },
    faults: [
      {
        name: "nats-server is killed and comes back",
        deafens: true,
        strike: async () => {
          await nats.kill();
          await sleep(1_000);
          await nats.start();
        },
      },
      ...native === undefined ? [] : [
        killed("SIGQUIT", "PostgreSQL is ended at once and comes back"),
        killed("SIGKILL", "PostgreSQL is killed and comes back"),
        {
          name: "PostgreSQL does not answer for 6 s",
          deafens: false,
          strike: () => postgres.stall!(6_000),
        },
      ],
    ],
  });
});

describe.skipIf(!possible)("on three nats-servers in a cluster, the stream on all of them", () => {
  let nats: readonly NatsMember[];
  let postgres: Awaited<ReturnType<typeof startDatabase>>;
  const killed = (n: number): InfrastructureFault => ({
    name: `server ${n + 1} of three is killed, and comes back later`,
    deafens: true,
    strike: async () => {
      await nats[n]!.kill();
      await sleep(4_000);
      await nats[n]!.start();
    },
  });
  faultMatrix({
    ...load,
    infrastructure: async (): Promise<Infrastructure> => {
      [nats, postgres] = await Promise.all([startNatsCluster(3), startDatabase()]);
      return {
        name: `three nats-servers, ${postgres.name}`,
        databaseUrl: postgres.url,
        natsUrl: nats.map(({ url }) => url).join(","),
        jetstream: true,
        replicas: 3,
        stop: async () => {
          for (const one of nats) await one.stop();
          await postgres.stop();
        },
      };
    },
    faults: [
      killed(0),
      killed(1),
      killed(2),
      ...[0, 1, 2].map((n) => ({
        name: `server ${n + 1} of three is separated from the others for 8 s, with its clients`,
        deafens: true,
        strike: async () => {
          nats[n]!.part();
          await sleep(8_000);
          await nats[n]!.rejoin();
        },
      })),
      {
        name: "server 1 of three answers nothing for 20 s",
        deafens: true,
        strike: async () => {
          nats[0]!.signal("SIGSTOP");
          await sleep(20_000);
          nats[0]!.signal("SIGCONT");
        },
      },
      {
        name: "all three servers are killed, and come back",
        deafens: true,
        strike: async () => {
          await Promise.all(nats.map((one) => one.kill()));
          await sleep(1_000);
          await Promise.all(nats.map((one) => one.start()));
        },
      },
    ],
  });
});
