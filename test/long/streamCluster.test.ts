/** The stream of transitions in a cluster of three nats-servers: without a quorum, wiped, and rebuilt. */
import { AckPolicy, connect, type JetStreamManager, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { STREAM } from "#src/runtime/events/jetStream.ts";
import type { Publisher } from "#src/runtime/events/publisher.ts";
import { readRebuild, startRebuild } from "#src/runtime/events/rebuild.ts";
import { readIncompleteStreams } from "#src/runtime/events/streamRecord.ts";
import { hasNatsServer, type NatsMember, startNatsCluster } from "../support/infra/natsServer.ts";
import { until } from "../support/base/until.ts";
import { openOutbox, type Outbox } from "../support/runtime/outbox.ts";
import { storedMessages } from "../support/runtime/storedStream.ts";

describe.skipIf(!hasNatsServer())("a cluster of three nats-servers", () => {
  let servers: readonly NatsMember[];
  let outbox: Outbox;
  let publisher: Publisher;
  let connection: NatsConnection;
  let manager: JetStreamManager;

  beforeAll(async () => {
    [servers, outbox] = await Promise.all([startNatsCluster(3), openOutbox()]);
    publisher = await outbox.publisher(servers.map(({ url }) => url).join(","));
    connection = await connect({ servers: servers.map(({ url }) => url), maxReconnectAttempts: -1 });
    manager = await connection.jetstreamManager({ checkAPI: false });
  });
  afterAll(async () => {
    await connection?.close();
    await outbox?.stop();
    await Promise.all((servers ?? []).map((server) => server.stop()));
  });

  const write = async (count: number) => {
    for (let i = 0; i < count; i++) publisher.push([await outbox.write()]);
  };
  const published = () => until("all are published", async () => (await outbox.waiting()).length === 0, 60_000);
  /** What the stream says of itself; waits while the cluster elects a leader, who answers. */
  const streamInfo = () => until("the stream answers", () => manager.streams.info(STREAM).catch(() => undefined));
  /** The versions in the stream, in its order. */
  const stored = async () => {
    const messages = await until("the stream answers", () => storedMessages(manager).catch(() => undefined));
    for (const { subject } of messages) expect(subject).toBe("arbor.event.other.x.go");
    return messages.map(({ event }) => event.data.version);
  };
  /** Rebuilds the stream, again where a server that has just started does not answer; `meanwhile` runs after the start. */
  const rebuilt = async (meanwhile: () => Promise<void>) => {
    const bus = await connectBus({ url: servers.map(({ url }) => url).join(",") });
    const start = async () => {
      const started = await startRebuild({
        store: outbox.store,
        bus,
        log: silentLog,
        contents: NO_CONTENTS,
        maxAgeMs: 30 * 86_400_000,
      });
      if (!started.ok) throw new Error(started.error.message);
      await started.value.done;
    };
    await Promise.all([start(), meanwhile()]);
    await until("it is rebuilt", async () => {
      if ((await readRebuild(outbox.store))?.status === "done") return true;
      await start();
      return false;
    });
    await published();
    await bus.close();
  };
  const range = (to: number) => Array.from({ length: to }, (_, i) => i + 1);

  test("without a quorum nothing is lost: it waits, and is stored when the servers are back", async () => {
    await write(5);
    await published();
    expect((await streamInfo()).config.num_replicas).toBe(3);
    await Promise.all([servers[1]!.kill(), servers[2]!.kill()]);
    await write(5);
    // Longer than a request to the stream and the election of a leader.
    await sleep(12_000);
    expect(await outbox.waiting()).toEqual([6, 7, 8, 9, 10]);
    await Promise.all([servers[1]!.start(), servers[2]!.start()]);
    await published();
    expect(await stored()).toEqual(range(10));
    expect(await readIncompleteStreams(outbox.store)).toEqual([]);
  });

  test("a stream that lost what it had confirmed is rebuilt while transitions are written; its consumers stay", async () => {
    await streamInfo();
    await manager.consumers.add(STREAM, {
      durable_name: "reader",
      ack_policy: AckPolicy.Explicit,
      filter_subject: "arbor.event.other.>",
    });
    await manager.streams.purge(STREAM, { seq: 8 });
    expect(await stored()).toEqual([8, 9, 10]);
    await rebuilt(() => write(5));
    expect(await stored()).toEqual(range(15));
    const { config } = await streamInfo();
    expect(config.subjects).toEqual(["arbor.event.>"]);
    expect(config.duplicate_window).toBe(120e9);
    const consumer = await connection.jetstream().consumers.get(STREAM, "reader");
    expect((await consumer.info()).num_pending).toBe(15);
  });

  test("a deleted stream is created again, and says that it lacks what was before", async () => {
    await manager.streams.delete(STREAM);
    await write(1);
    await published();
    expect(await stored()).toEqual([16]);
    expect(await readIncompleteStreams(outbox.store)).toEqual([STREAM]);
  });

  test("all servers lose their files while transitions are written: what was not published is stored, a rebuild stores all", async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await write(5);
    await Promise.all(servers.map((server) => server.wipe()));
    await Promise.all(servers.map((server) => server.start()));
    await published();
    expect(await stored()).toEqual([17, 18, 19, 20, 21]);
    expect(await readIncompleteStreams(outbox.store)).toContain(STREAM);
    await rebuilt(() => write(5));
    expect(await stored()).toEqual(range(26));
    expect(await readIncompleteStreams(outbox.store)).toEqual([]);
  });

  // Last: the cluster then gives a new stream fewer replicas for some seconds.
  test("a client of a member that answers nothing changes to another one", async () => {
    const bus = await connectBus({ url: servers.map(({ url }) => url).join(",") });
    const reached = () => bus.flush(1_000).then(() => true, () => false);
    let left = false;
    for (const server of servers) {
      server.signal("SIGSTOP");
      const began = performance.now();
      try {
        if (await reached()) continue;
        left = true;
        await until("another member answers", reached, 15_000);
        console.log(`left a silent member after ${Math.round(performance.now() - began)} ms`);
        break;
      } finally {
        server.signal("SIGCONT");
      }
    }
    expect(left).toBe(true);
    await bus.close();
  });
});
