/**
 * Transitions through JetStream: stored once, first published in the order of each entity's versions, whatever process
 * dies in the meantime.
 */
import { connect } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createPublisher } from "#src/runtime/events/publisher.ts";
import { STREAM } from "#src/runtime/events/jetStream.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import {
  expectAllReceived,
  expectInOrder,
  subscribeCore,
  type Subscriber,
  subscribeStream,
} from "../../../support/runtime/subscribers.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { load } from "../../../support/runtime/load.ts";
import { storedMessages } from "../../../support/runtime/storedStream.ts";
import { insertTransitions } from "../../../support/infra/jetStream.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../../support/infra/natsServer.ts";
import { type Cluster, startCluster } from "../../../support/runtime/cluster.ts";
import { until } from "../../../support/base/until.ts";

let server: NatsServer;
let cluster: Cluster;
let stream: Subscriber;
let core: Subscriber;
let number = 0;

describe.skipIf(!hasNatsServer())("with JetStream", () => {
  beforeAll(async () => {
    server = await startNatsServer();
    const infra = await sharedInfra();
    cluster = await startCluster({ ...infra, natsUrl: server.url, natsToken: undefined });
    const steady = await cluster.start("steady");
    await cluster.settled([steady]);
    // It is created with the first transition.
    await cluster.ask.ask(account("touch"), { type: "ADD", amount: 1 });
    await until("the stream", streamInfo);
    stream = await subscribeStream(server.url);
    core = await subscribeCore(server.url);
  });
  afterAll(async () => {
    await stream?.stop();
    await core?.stop();
    await cluster?.stop();
    await server?.stop();
  });

  const account = (id: string) => ({ kind: "account", id });
  async function streamInfo() {
    const connection = await connect({ servers: server.url });
    try {
      return await (await connection.jetstreamManager()).streams.info(STREAM);
    } catch {
      return undefined;
    } finally {
      await connection.close();
    }
  }
  /** The versions of `other/x` in the stream, in its order; undefined while the stream does not answer. */
  async function storedVersions(): Promise<number[] | undefined> {
    const connection = await connect({ servers: server.url });
    try {
      const messages = await storedMessages(await connection.jetstreamManager());
      const ours = messages.filter(({ subject }) => subject.startsWith("arbor.event.other."));
      return ours.map(({ event }) => event.data.version);
    } catch {
      return undefined;
    } finally {
      await connection.close();
    }
  }
  const marked = () =>
    until(
      "all are marked as published",
      async () => (await cluster.store.sql`select 1 from outbox_unpublished limit 1`).length === 0,
      40_000,
    );

  test("the stream has file storage, a duplicate window and the configured maximum age", async () => {
    const info = await streamInfo();
    expect(info!.config).toMatchObject({
      subjects: ["arbor.event.>"],
      storage: "file",
      retention: "limits",
      discard: "old",
      max_age: 30 * 86_400 * 1e9,
      duplicate_window: 120 * 1e9,
    });
  });

  test("under load from two workers every transition is in it, once and in order", async () => {
    const shaky = await cluster.start(`shaky${++number}`);
    await load(cluster.ask, { prefix: "l", count: 4_000, clients: 32, entities: 50 });
    const total = await expectAllReceived(cluster.store, stream);
    await marked();
    const info = await streamInfo();
    expect(info!.state.messages).toBe(total);
    expect(stream.again).toBe(0);
    expectInOrder(core.first.filter((key) => key.startsWith("account/l")));
    shaky.signal("SIGTERM");
    await shaky.exited;
  });

  test("kill -9 between commit and publish: the next owner publishes it, before anything later", async () => {
    for (let i = 0; i < 3; i++) {
      const shaky = await cluster.start(`shaky${++number}`);
      await until("it serves its share", async () => (await shaky.state()).owned.length >= 8);
      const entity = await cluster.ownedBy(shaky);
      await cluster.ask.ask(entity, { type: "ADD", amount: 1 });
      await shaky.arm({ at: "before-publish", cause: `mute${i}`, signal: "SIGKILL" });
      await cluster.ask.ask(entity, { type: "ADD", amount: 1 }, { commandId: `mute${i}`, deadlineMs: 20_000 });
      await shaky.exited;
      await cluster.ask.ask(entity, { type: "ADD", amount: 1 }, { deadlineMs: 20_000 });
    }
    await expectAllReceived(cluster.store, stream);
  });

  test("the server is killed and comes back while workers write: nothing is missing, in order", async () => {
    let over = false;
    const writing = (async () => {
      while (!over) await load(cluster.ask, { prefix: "r", count: 200, clients: 8, entities: 20 });
    })();
    const hears = async (what: string) => {
      const before = stream.first.length;
      await until(`${what} is heard`, async () => stream.first.length > before);
    };
    await hears("what is written");
    await server.kill();
    await sleep(1_000);
    await server.start();
    await hears("what was written meanwhile");
    await server.end();
    await sleep(300);
    await server.start();
    await hears("what was written during the second absence");
    over = true;
    await writing;
    await expectAllReceived(cluster.store, stream, { ms: 60_000 });
    await marked();
    const info = await streamInfo();
    const [row] = await cluster.store.sql<{ n: bigint }[]>`select count(*) as n from outbox`;
    expect(info!.state.messages).toBe(Number(row!.n));
  });

  test("a deleted stream is created again; transitions from then on are in it", async () => {
    const connection = await connect({ servers: server.url });
    await (await connection.jetstreamManager()).streams.delete(STREAM);
    await connection.close();
    for (let i = 0; i < 3; i++) await cluster.ask.ask(account("anew"), { type: "ADD", amount: 1 });
    await marked();
    await until("the new stream", async () => (await streamInfo())?.state.messages === 3);
  });

  test("settings that an operator changed stay, the limits follow the retention; each event is reported once", async () => {
    const lines: string[] = [];
    const log = createLog("info", {}, (line) => lines.push(JSON.parse(line).message));
    const connection = await connect({ servers: server.url });
    const manager = await connection.jetstreamManager();
    await manager.streams.update(STREAM, { max_msgs: 50_000 } as never);
    const bus = await connectBus({ url: server.url });
    let version = 0;
    const publishOne = async (publisher: ReturnType<typeof createPublisher>) => {
      const transition = {
        entity: { kind: "other", id: "x" },
        version: ++version,
        from: "a",
        to: "b",
        type: "GO",
        cause: "c",
        at: Date.now(),
      };
      await insertTransitions(cluster.store, [transition]);
      publisher.push([transition]);
    };
    const publisher = createPublisher({
      store: cluster.store,
      bus,
      log,
      contents: NO_CONTENTS,
      partitions: 64,
      owned: () => [],
      keptMs: 3_600_000,
    });
    await publishOne(publisher);
    const { config } = await (async () => {
      await until("the limits", async () => (await manager.streams.info(STREAM)).config.max_age === 3_600 * 1e9);
      return await manager.streams.info(STREAM);
    })();
    expect(config.max_msgs).toBe(50_000);
    await connection.close();
    // Back without JetStream: nothing counts as published until the stream has confirmed it.
    await server.end();
    await server.start(false);
    await publishOne(publisher);
    await publishOne(publisher);
    await until("the fault is reported", async () => lines.some((line) => line.endsWith("retried")), 30_000);
    await server.end();
    await server.start();
    const all = Array.from({ length: version }, (_, i) => i + 1);
    await until("all are stored", async () => (await storedVersions())?.length === version);
    expect(await storedVersions()).toEqual(all);
    const published = /^events (could not be published and will be retried|are published again)$/;
    expect(lines.filter((line) => !published.test(line))).toEqual([
      // The stream of all transitions, and the one with guarded content.
      "the stream of events has new limits",
      "the stream of events has new limits",
    ]);
    // Each fault is reported once, and so is its end.
    const troubles = lines.filter((line) => published.test(line));
    expect(troubles.length).toBeLessThanOrEqual(6);
    expect(troubles.every((line, i) => line.endsWith(i % 2 === 0 ? "retried" : "again"))).toBe(true);
    await publisher.stop(1_000);
    await bus.close();
  });
});
