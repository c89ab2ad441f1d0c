/** A primary with a synchronous replica, and what happens to them: kills, partitions, promotions, returns. */
import { openStore, type Store } from "#src/store/store.ts";
import { until } from "../base/until.ts";
import { type InstalledServer, startInstalledServer, startReplica } from "./postgresServer.ts";
import { type Proxy, startProxy } from "./tcpProxy.ts";

export interface PostgresPair {
  readonly name: string;
  /** Both servers, the first primary first. */
  readonly url: string;
  /** Each of them alone. */
  readonly primary: InstalledServer;
  readonly replica: InstalledServer;
  /** Between clients and the first primary, and between the replica and it. */
  readonly toPrimary: Proxy;
  readonly replication: Proxy;
  /** Has the replica take writes; it waits for no other server then. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const withPort = (url: string, port: number) => url.replace(/:\d+\/postgres$/, `:${port}/postgres`);

/** Runs statements on one server. */
export async function onServer<T>(
  { url }: { readonly url: string },
  work: (sql: Store["sql"]) => Promise<T>,
): Promise<T> {
  const store = openStore(url, { max: 2, application: "test alone" });
  try {
    return await work(store.sql);
  } finally {
    await store.close();
  }
}

/** Starts both; resolves when each commit waits for the replica. */
export async function startPair(native: string): Promise<PostgresPair> {
  const primary = await startInstalledServer(native, ["max_connections=200"]);
  const to = { host: "127.0.0.1", port: primary.port };
  const [toPrimary, replication] = await Promise.all([startProxy(to), startProxy(to)]);
  const replica = await startReplica(native, { url: withPort(primary.url, replication.port) }, ["max_connections=200"]);
  await onServer(primary, async (sql) => {
    await sql.unsafe("alter system set synchronous_standby_names = '*'");
    await sql.unsafe("select pg_reload_conf()");
    await until("the replica is synchronous", async () => {
      const rows = await sql`select from pg_stat_replication where sync_state = 'sync'`;
      return rows.length === 1;
    });
  });
  return {
    name: `${primary.name} with a synchronous replica`,
    url: primary.url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${toPrimary.port},127.0.0.1:${replica.port}`),
    primary,
    replica,
    toPrimary,
    replication,
    promote: () => onServer(replica, async (sql) => void await sql`select pg_promote()`),
    stop: async () => {
      await Promise.all([toPrimary.cut(), replication.cut()]);
      await replica.stop();
      await primary.stop();
    },
  };
}
