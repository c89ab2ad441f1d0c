/**
 * Three workers on 64 partitions, 200 accounts, 32 clients, and one fault after the other: whatever process dies, every
 * acknowledged command was applied exactly once, versions have no gaps, and every transition is published. (A follower
 * that is killed in the middle of a block has tests of its own with the tokens.)
 */
import { connect } from "nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { eventRoutes } from "#src/operators/http/events.ts";
import { createEventLog, type EventLog } from "#src/runtime/events/eventLog.ts";
import { STREAM } from "#src/runtime/events/jetStream.ts";
import { accountMachine } from "./account.ts";
import { type Clients, expectExactlyOnce, startClients } from "./clients.ts";
import { expectAllReceived, subscribeCore, type Subscriber, subscribeSse, subscribeStream } from "./subscribers.ts";
import { serveParts } from "./operatorParts.ts";
import { type Cluster, startCluster, type WorkerProcess } from "./cluster.ts";
import { until } from "../base/until.ts";

/** The services that the workers depend on. */
export interface Infrastructure {
  /** Description, for the lines of output. */
  readonly name: string;
  readonly databaseUrl: string;
  /** One URL, or several separated by commas. */
  readonly natsUrl: string;
  readonly natsToken?: string;
  /** Whether a JetStream stream stores the transitions; its subscriber is then checked as well. */
  readonly jetstream: boolean;
  /** Number of replicas of that stream. */
  readonly replicas?: number;
  stop(): Promise<void>;
}

/** A fault of the infrastructure. */
export interface InfrastructureFault {
  readonly name: string;
  /** Whether it may lose messages, so that a subscriber of core NATS alone may miss some. */
  readonly deafens: boolean;
  /** Starts the fault, and ends it. */
  strike(): Promise<void>;
}

export interface MatrixOptions {
  /** Milliseconds between an answer and the client's next request. */
  readonly pauseMs: number;
  /** How long clients run before a fault and after it, in milliseconds. */
  readonly aroundMs: number;
  readonly infrastructure: () => Promise<Infrastructure>;
  /** Faults of the infrastructure; they act on what `ground` has started. */
  readonly faults: readonly InfrastructureFault[];
}

const WORKERS = 3;
const ENTITIES = 200;
const CLIENTS = 32;
const LEASE_MS = 2_000;
const STOPPED_MS = 6_000;

/** The number of replicas of the stream of transitions; undefined before it exists. */
async function replicasOf(natsUrl: string): Promise<number | undefined> {
  const connection = await connect({ servers: natsUrl.split(",") });
  try {
    const manager = await connection.jetstreamManager();
    return (await manager.streams.info(STREAM)).config.num_replicas;
  } catch {
    return undefined;
  } finally {
    await connection.close();
  }
}

/** Declares the tests. */
export function faultMatrix(options: MatrixOptions): void {
  let infrastructure: Infrastructure;
  let cluster: Cluster;
  let events: EventLog;
  let service: Awaited<ReturnType<typeof serveParts>>;
  let sse: Subscriber;
  let stream: Subscriber | undefined;
  let workers: WorkerProcess[] = [];
  let born = 0;
  let number = 0;

  const join = async () => void workers.push(await cluster.start(`worker${++born}`));
  const gone = (worker: WorkerProcess) => workers = workers.filter((one) => one !== worker);

  beforeAll(async () => {
    infrastructure = await options.infrastructure();
    const { databaseUrl, natsUrl, natsToken } = infrastructure;
    cluster = await startCluster({ databaseUrl, natsUrl, natsToken, stop: infrastructure.stop }, {
      partitions: 64,
      leaseMs: LEASE_MS,
    });
    events = createEventLog({ store: cluster.store, bus: cluster.bus, log: silentLog });
    service = await serveParts(eventRoutes({ events, kinds: [{ kind: "account", machine: accountMachine }] }));
    sse = subscribeSse(service.url);
    await Promise.all(Array.from({ length: WORKERS }, join));
    await cluster.settled(workers);
    if (!infrastructure.jetstream) return;
    // The first transition creates it.
    await cluster.ask.ask({ kind: "account", id: "first" }, { type: "ADD", amount: 1 }, { deadlineMs: 20_000 });
    await until("the stream", async () => await replicasOf(natsUrl) === (infrastructure.replicas ?? 1));
    stream = await subscribeStream(natsUrl, natsToken);
  });
  afterAll(async () => {
    await sse?.stop();
    await stream?.stop();
    events?.close();
    await service?.stop();
    await (cluster ?? infrastructure)?.stop();
  });

  /** Runs clients before, during and after a fault; then checks everything. */
  async function under(
    name: string,
    deafens: boolean,
    fault: (clients: Clients, prefix: string) => Promise<string | void>,
  ) {
    while (workers.length < WORKERS) await join();
    await cluster.settled(workers);
    const prefix = `m${++number}x`;
    const core = deafens ? undefined : await subscribeCore(cluster.natsUrl, infrastructure.natsToken);
    const { pauseMs, aroundMs } = options;
    const clients = startClients(cluster.ask, {
      prefix,
      clients: CLIENTS,
      entities: ENTITIES,
      pauseMs,
      deadlineMs: 1_000,
    });
    await sleep(aroundMs);
    await until("clients are answered", async () => clients.answers.size > CLIENTS);
    const began = performance.now();
    const said = await fault(clients, prefix);
    await cluster.settled(workers);
    const settledMs = Math.round(performance.now() - began);
    await sleep(aroundMs);
    // Every client gets answers again.
    const now = clients.answers.size;
    await until("answers come again", async () => clients.answers.size > now + CLIENTS);
    await clients.stop();
    const counts = await expectExactlyOnce(cluster.store, cluster.ask, clients, prefix);
    const heard = {
      sse: await expectAllReceived(cluster.store, sse, { prefix: `account/${prefix}` }),
      ...(core === undefined
        ? {}
        : { core: await expectAllReceived(cluster.store, core, { prefix: `account/${prefix}` }) }),
      ...(stream === undefined
        ? {}
        : { stream: await expectAllReceived(cluster.store, stream, { prefix: `account/${prefix}` }) }),
    };
    for (const n of Object.values(heard)) expect(n).toBe(counts.applied);
    await core?.stop();
    const states = await Promise.all(workers.map((worker) => worker.state()));
    const fenced = states.reduce((sum, state) => sum + state.fenced, 0);
    const words = { ...counts, heard, fenced, worstMs: clients.worstMs(), gapMs: clients.gapMs(), settledMs };
    console.log(`${infrastructure.name}: ${name}:`, JSON.stringify(words), said ?? "");
  }

  test("kill -9 of a worker", () =>
    under("kill -9 of a worker", false, async () => {
      const [victim] = workers;
      victim!.signal("SIGKILL");
      await victim!.exited;
      gone(victim!);
    }));

  test("a worker is stopped for 6 s in the middle of a turn: its later writes are fenced", () =>
    under("SIGSTOP 6 s, SIGCONT", false, async (_, prefix) => {
      const [victim] = workers;
      const before = (await victim!.state()).fenced;
      await victim!.arm({ at: "before-commit", cause: `${prefix}-`, signal: "SIGSTOP" });
      await cluster.struck(`${prefix}-`);
      await sleep(STOPPED_MS);
      victim!.signal("SIGCONT");
      await until(
        "a stale write is fenced",
        async () => ((await victim!.state().catch(() => undefined))?.fenced ?? 0) > before,
      );
      return `stale writes fenced: ${(await victim!.state()).fenced - before}`;
    }));

  test("a worker joins", () => under("a join", false, join));

  test("SIGTERM of a worker", () =>
    under("SIGTERM", false, async () => {
      const [victim] = workers;
      const began = performance.now();
      victim!.signal("SIGTERM");
      await victim!.exited;
      gone(victim!);
      return `ended after ${Math.round(performance.now() - began)} ms`;
    }));

  test("connections to PostgreSQL end in the middle of statements", () =>
    under("connections of workers are ended", false, async () => {
      let ended = 0;
      for (let i = 0; i < 8; i++) {
        const rows = await cluster.store.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'worker%'`;
        ended += rows.length;
        await sleep(60);
      }
      expect(ended).toBeGreaterThan(8);
      return `ended: ${ended}`;
    }));

  for (const { name, deafens, strike } of options.faults) {
    test(name, () => under(name, deafens, strike));
  }

  test("a reader from the start gets every transition again, once and in order", async () => {
    const replay = subscribeSse(service.url);
    const total = await expectAllReceived(cluster.store, replay);
    expect(replay.first.length).toBe(total);
    expect(replay.again).toBe(0);
    await replay.stop();
    expect(await expectAllReceived(cluster.store, sse)).toBe(total);
    if (stream !== undefined) expect(await expectAllReceived(cluster.store, stream)).toBe(total);
    // No worker changed anything after the check.
    const [rows] = await cluster.store.sql<{ versions: bigint; results: bigint }[]>`
      select (select sum(version) from actor)::bigint as versions,
        (select count(*) from command_result where result is not null) as results`;
    expect([Number(rows!.versions), Number(rows!.results)]).toEqual([total, total]);
    const came = {
      sse: sse.again,
      stream: stream?.again,
      sseAnew: sse.connections - 1,
      streamAnew: stream && stream.connections - 1,
    };
    console.log(
      `${infrastructure.name}: ${total} transitions replayed; duplicates and reconnections:`,
      JSON.stringify(came),
    );
  });
}
