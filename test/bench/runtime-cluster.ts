/** The benchmarked system as processes: a bus, workers, an edge, and the clients, on a database of its own. */
import { randomBytes } from "node:crypto";
import { sleep } from "#src/base/clock.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { type Child, startChild } from "./runtime-child.ts";
import type { ClientSettings, Load, Loaded } from "./runtime-clients.ts";
import type { Call } from "./runtime-peers.ts";
import type { HostReady, HostSettings, Stages } from "./runtime-host.ts";

export type Host = Child<HostReady, null, Stages>;

export interface Cluster {
  readonly store: Store;
  readonly bus: Host;
  readonly edge: Host;
  readonly workers: Host[];
  readonly clients: Child<null, Load, Loaded>;
  readonly natsUrl: string;
  readonly natsToken: string;
  /** URL of a call over HTTP; `ID` stands for an entity's id. */
  readonly url: (call: Call) => string;
  /** Starts one more worker. */
  addWorker(): Promise<Host>;
  /** Starts one more process of another role. */
  add(role: "edge" | "operators"): Promise<Host>;
  /** Waits until the given number of workers share all partitions. */
  settled(workers: number): Promise<void>;
  stop(): Promise<void>;
}

export const PARTITIONS = 64;

/**
 * Starts everything on a new database of a server; resolves when it answers. Bus, edge and worker are separate
 * processes, or with 0 workers one process with all roles.
 */
export async function startCluster(
  serverUrl: string,
  name: string,
  workers: number,
  { resident }: Pick<HostSettings, "resident"> = {},
): Promise<Cluster> {
  const admin = openStore(serverUrl, { max: 1 });
  await admin.sql.unsafe(`create database ${name}`);
  await admin.close();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const databaseUrl = url.href;
  const store = openStore(databaseUrl, { max: 2, application: "bench" });
  await migrate(store, migrationsOf("runtime", "chain"));
  const natsToken = randomBytes(16).toString("hex");
  const host = (settings: Omit<HostSettings, "databaseUrl" | "natsToken">) =>
    startChild<HostReady, null, Stages>(
      "./runtime-host.ts",
      { databaseUrl, natsToken, ...settings } satisfies HostSettings,
    );
  const bus = await host(
    workers > 0 ? { roles: ["nats"], id: "bus" } : { roles: ["nats", "worker", "edge"], id: "all" },
  );
  const { natsUrl } = bus.ready;
  let count = 0;
  const running: Host[] = workers > 0 ? [] : [bus];
  const addWorker = async () => {
    const worker = await host({
      roles: ["worker"],
      id: `w${++count}`,
      natsUrl,
      ...(resident === undefined ? {} : { resident }),
    });
    running.push(worker);
    return worker;
  };
  for (let i = 0; i < workers; i++) await addWorker();
  const others: Host[] = [];
  const add = async (role: "edge" | "operators") => {
    const one = await host({ roles: [role], id: `${role}${others.length}`, natsUrl });
    others.push(one);
    return one;
  };
  const edge = workers > 0 ? await add("edge") : bus;
  const clients = await startChild<null, Load, Loaded>(
    "./runtime-clients.ts",
    { databaseUrl, natsUrl, natsToken } satisfies ClientSettings,
  );
  const settled = async (share: number) => {
    for (let tries = 0; tries < 600; tries++) {
      const rows = await store.sql<{ n: number }[]>`
        select count(*)::int as n from partition where owner is not null and expires > now() group by owner`;
      const counts = rows.map(({ n }) => n);
      if (counts.length === share && counts.reduce((sum, n) => sum + n, 0) === PARTITIONS) return;
      await sleep(50);
    }
    throw new Error("the workers do not share the partitions");
  };
  await settled(running.length);
  return {
    store,
    bus,
    edge,
    workers: running,
    clients,
    natsUrl,
    natsToken,
    url: (call) => `${edge.ready.edgeUrl}${call === "workflow" ? "/workflow/ID/run" : "/counter/ID/add"}`,
    addWorker,
    add,
    settled,
    stop: async () => {
      await store.close();
      for (const child of new Set([clients, ...others, ...running, bus])) child.signal("SIGKILL");
    },
  };
}
