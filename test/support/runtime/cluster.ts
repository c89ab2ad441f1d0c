/** Several worker processes on one database and one bus, for tests of the runtime. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { createPartitions, partitionOf } from "#src/runtime/placement/partitions.ts";
import type { EffectLimit, EntityRef, WorkerStage } from "#src/runtime/types.ts";
import type { WorkerState } from "#src/runtime/operations/control.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../infra/migrationsOf.ts";
import { accountMigrations } from "./account.ts";
import { endChild, runScript } from "../base/processes.ts";
import type { Infra } from "../infra/infra.ts";
import { until } from "../base/until.ts";

/** Makes a worker send itself a signal at a step of a turn or an effect whose cause contains a text; once. */
export interface Fault {
  readonly at: WorkerStage["at"];
  readonly cause: string;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

export interface WorkerSettings {
  readonly id: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly natsToken: string | undefined;
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly plain: boolean;
  readonly partitions: number;
  /** How far the worker's clock is ahead, in milliseconds. */
  readonly skewMs: number;
  readonly level?: "debug" | "info" | "warn" | "error";
  /** Runs jobs with this limit instead of accounts; each call is a request to `test.call`. */
  readonly jobs?: Omit<EffectLimit, "key">;
}

export interface WorkerProcess {
  readonly id: string;
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM"): void;
  state(): Promise<WorkerState>;
  /** Makes the worker send itself a signal, once. */
  arm(fault: Fault): Promise<void>;
  /** Resolves once the process has ended. */
  readonly exited: Promise<void>;
}

export interface Cluster {
  readonly store: Store;
  readonly bus: Bus;
  readonly ask: Ask;
  readonly natsUrl: string;
  /**
   * Starts a worker process; resolves when it serves partitions. Its connection to the bus may use another URL, and its
   * clock may be wrong.
   */
  start(id: string, natsUrl?: string, skewMs?: number): Promise<WorkerProcess>;
  /** Waits until each of some workers serves its share of the partitions, and no other worker serves any. */
  settled(workers: readonly WorkerProcess[]): Promise<void>;
  /** Waits until a fault has happened. */
  struck(cause: string): Promise<void>;
  /** An entity of a partition that a worker serves, different each time. */
  ownedBy(worker: WorkerProcess): Promise<EntityRef>;
  stop(): Promise<void>;
}

export const LEASE_MS = 1_000;

export interface ClusterOptions {
  /** Uses workers without faults, which run faster. */
  readonly plain?: boolean;
  /** Default: 16. */
  readonly partitions?: number;
  /** Default: `LEASE_MS`. */
  readonly leaseMs?: number;
  readonly jobs?: WorkerSettings["jobs"];
}

/** Starts a cluster on a database and an endpoint. */
export async function startCluster(infra: Infra, options: ClusterOptions = {}): Promise<Cluster> {
  const { plain = false, partitions = 16, leaseMs = LEASE_MS, jobs } = options;
  const store = openStore(infra.databaseUrl, { max: 6, application: "test" });
  await migrate(store, [...migrationsOf("runtime"), ...accountMigrations]);
  await createPartitions(store, partitions);
  const bus = await connectBus({
    url: infra.natsUrl,
    ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }),
  });
  const ask = createAsk({ bus, store });
  const children: ChildProcess[] = [];
  const struck = new Set<string>();
  bus.subscribe("test.struck", (body) => void struck.add((body as { cause: string }).cause));
  let counter = 0;
  const start = async (id: string, natsUrl = infra.natsUrl, skewMs = 0): Promise<WorkerProcess> => {
    const settings: WorkerSettings = {
      id,
      databaseUrl: infra.databaseUrl,
      natsUrl,
      natsToken: infra.natsToken,
      leaseMs,
      sweepMs: 300,
      plain,
      partitions,
      skewMs,
      ...(jobs === undefined ? {} : { jobs }),
      level: (process.env.ARBOR_TEST_LOG as WorkerSettings["level"]) ?? "error",
    };
    const child = runScript("runtime/workerProcess.ts", "ARBOR_TEST_WORKER", settings);
    children.push(child);
    const exited = once(child, "exit").then(() => {});
    const state = async () => await bus.request(`test.state.${id}`, null, 2_000) as unknown as WorkerState;
    await until(`${id} serves partitions`, async () => (await state().catch(() => undefined))?.owned.length ?? 0);
    const arm = async (fault: Fault) => void await bus.request(`test.arm.${id}`, { ...fault }, 2_000);
    return { id, arm, signal: (name) => void process.kill(child.pid!, name), state, exited };
  };
  return {
    store,
    bus,
    ask,
    natsUrl: infra.natsUrl,
    start,
    settled: async (workers) => {
      await until("all partitions are served", async () => {
        const states = await Promise.all(workers.map((worker) => worker.state().catch(() => undefined)));
        const counts = states.map((state) => state?.owned.length ?? 0);
        return counts.reduce((sum, n) => sum + n, 0) === partitions && Math.max(...counts) - Math.min(...counts) <= 1;
      });
    },
    struck: async (cause) => {
      await until(`a fault at ${cause}`, async () => struck.has(cause));
    },
    ownedBy: async (worker) => {
      const { owned } = await worker.state();
      for (;;) {
        const entity = { kind: "account", id: `acc${++counter}` };
        if (owned.includes(partitionOf(entity, partitions))) return entity;
      }
    },
    stop: async () => {
      await Promise.all(children.map((child) => endChild(child, "SIGKILL")));
      ask.close();
      await bus.close();
      await store.close();
      await infra.stop();
    },
  };
}
