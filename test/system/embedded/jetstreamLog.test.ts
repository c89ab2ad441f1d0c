/** The embedded endpoint's JetStream over the log of transitions: restarts, deletions, open transactions, guests. */
import { hash } from "@node-rs/bcrypt";
import { AckPolicy, connect, consumerOpts, DeliverPolicy, type JsMsg, nanos, type NatsConnection } from "nats";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { eventStreams } from "#src/app/eventSource.ts";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { NO_CONTENTS } from "#src/runtime/events/content.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { startRebuild } from "#src/runtime/events/rebuild.ts";
import { streamRecord } from "#src/runtime/events/streamRecord.ts";
import { createEventStream } from "#src/runtime/events/jetStream.ts";
import { pruneEvents } from "#src/runtime/events/replay.ts";
import { eventSubject, type Transition } from "#src/runtime/events/transition.ts";
import type { Store } from "#src/store/store.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { eventDatabase, insertTransitions, serveDatabase, type ServedEndpoint } from "../../support/infra/jetStream.ts";
import { until } from "../../support/base/until.ts";
import { type Raw, raw } from "./raw.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const TOKEN = "a-token-of-the-test";
const STREAM = "ARBOR_EVENTS";
const INBOX = "_INBOX.0123456789abcdef";

let database: Awaited<ReturnType<typeof eventDatabase>>;
let store: Store;
let served: ServedEndpoint;
let connections: NatsConnection[];
let version: number;

const transitions = (count: number, kind = "token", id = "a"): Transition[] =>
  Array.from({ length: count }, () => ({
    entity: { kind, id },
    version: ++version,
    from: "a",
    to: "b",
    type: "UPDATED",
    cause: "test",
    at: 1_700_000_000_000 + version,
  }));
const write = async (count: number, kind?: string, id?: string) => {
  const rows = transitions(count, kind, id);
  await insertTransitions(store, rows);
  for (const row of rows.slice(-1)) served.bus.publish(eventSubject(row), {});
};
const member = async (url = served.endpoint.url) => {
  const connection = await connect({ servers: url, token: TOKEN });
  connections.push(connection);
  return connection;
};
const guest = async () => {
  const connection = await connect({ servers: served.endpoint.url });
  connections.push(connection);
  return connection;
};
const hostile = async (): Promise<Raw> => {
  const client = await raw(served.endpoint.port);
  client.send('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nPING\r\n');
  await client.until("PONG\r\n");
  return client;
};
const request = (client: Raw, subject: string, body = "", reply = `${INBOX}.1`) =>
  client.send(`PUB ${subject} ${reply} ${body.length}\r\n${body}\r\n`);
const take = async (messages: AsyncIterable<JsMsg>, count: number, each = (_: JsMsg) => {}) => {
  const seqs: number[] = [];
  for await (const message of messages) {
    seqs.push(message.seq);
    each(message);
    if (seqs.length === count) break;
  }
  return seqs;
};
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

beforeEach(async () => {
  version = 0;
  connections = [];
  database = await eventDatabase();
  store = database.store;
  served = await serveDatabase(store, TOKEN);
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await served.stop();
  await database.drop();
});

test("Arbor's publisher does not store events in the stream that is served from the log", async () => {
  const stream = createEventStream({
    bus: served.bus,
    log: silentLog,
    contents: NO_CONTENTS,
    maxAgeMs: 1_000,
    record: streamRecord(store),
    generation: () => "",
  });
  expect(await stream.ready()).toBe(false);
  stream.stop();
  const rebuild = { store, bus: served.bus, log: silentLog, contents: NO_CONTENTS, maxAgeMs: 1_000 };
  expect(await startRebuild(rebuild)).toMatchObject({ ok: false, error: { code: "no_stream" } });
});

test("everything that would change a stream is refused with an error of JetStream's", async () => {
  await write(1);
  const connection = await member();
  expect(connection.info?.jetstream).toBe(true);
  const manager = await connection.jetstreamManager();
  const error = async (subject: string, body: object = {}) =>
    (await connection.request(`$JS.API.${subject}`, JSON.stringify(body))).json<{ error: { err_code: number } }>().error
      .err_code;
  expect(await error("STREAM.CREATE.OTHER", { name: "OTHER" })).toBe(10_027);
  expect(await error(`STREAM.CREATE.${STREAM}`, { name: STREAM })).toBe(10_058);
  for (const action of ["UPDATE", "DELETE", "PURGE", "MSG.DELETE", "SNAPSHOT", "RESTORE"]) {
    expect([action, await error(`STREAM.${action}.${STREAM}`, { seq: 1 })]).toEqual([action, 10_109]);
  }
  await expect(connection.jetstream().publish("arbor.event.token.x.updated", "{}")).rejects.toThrow(
    "invalid operation on sealed stream",
  );
  expect((await manager.streams.info(STREAM)).state.messages).toBe(1);
});

test("a durable consumer continues after a restart, and after a kill nothing is lost", async () => {
  await write(40);
  const port = served.endpoint.port;
  const connection = await member();
  const manager = await connection.jetstreamManager();
  await manager.consumers.add(STREAM, { durable_name: "kept", ack_policy: AckPolicy.Explicit, ack_wait: nanos(1_000) });
  const consumer = await connection.jetstream().consumers.get(STREAM, "kept");
  const got = await consumer.fetch({ max_messages: 10, expires: 20_000 });
  expect(await take(got, 10, (message) => message.seq === 10 || message.ack())).toEqual(range(1, 10));
  await connection.flush();
  await served.stop();
  served = await serveDatabase(store, TOKEN, { port });
  // The client library has connected again.
  const more = await consumer.fetch({ max_messages: 11, expires: 30_000 });
  const seqs = await take(more, 11, (message) => message.ack());
  expect(seqs.toSorted((a, b) => a - b)).toEqual(range(10, 20));
  // As after a kill: what was delivered and acknowledged since the last write is forgotten.
  const [before] = await until("the state is written", async () => {
    const rows = await store.sql<{ state: { sseq: number; open: unknown[] } }[]>`select state from jetstream_consumer`;
    return rows[0]?.state.sseq === 21 && rows[0].state.open.length === 0 && rows;
  });
  expect(await take(await consumer.fetch({ max_messages: 5, expires: 20_000 }), 5)).toEqual(range(21, 25));
  await served.stop();
  await store.sql`update jetstream_consumer set state = ${store.sql.json(before!.state as never)}`;
  served = await serveDatabase(store, TOKEN, { port });
  const after = await consumer.fetch({ max_messages: 20, expires: 30_000 });
  expect(await take(after, 20, (message) => message.ack())).toEqual(range(21, 40));
});

test("an ordered consumer continues after a restart without gaps or repetitions", async () => {
  await write(2_000);
  const port = served.endpoint.port;
  const connection = await guest();
  const messages = await (await connection.jetstream().consumers.get(STREAM)).consume({ max_messages: 100 });
  const seqs: number[] = [];
  let restarted: Promise<void> | undefined;
  for await (const { seq } of messages) {
    seqs.push(seq);
    if (seqs.length === 500) {
      restarted = (async () => {
        await served.stop();
        served = await serveDatabase(store, TOKEN, { port });
      })();
    }
    if (seqs.length === 2_000) break;
  }
  await restarted;
  expect(seqs).toEqual(range(1, 2_000));
});

test("a consumer goes on with the oldest message when those before it were deleted", async () => {
  await write(300);
  await sleep(5);
  const connection = await member();
  const manager = await connection.jetstreamManager();
  const client = connection.jetstream();
  for (const [name, filter_subject] of [["all", "arbor.event.>"], ["some", "arbor.event.token.>"]] as const) {
    await manager.consumers.add(STREAM, {
      name,
      filter_subject,
      ack_policy: AckPolicy.Explicit,
      inactive_threshold: nanos(60_000),
    });
    expect(await take(await (await client.consumers.get(STREAM, name)).fetch({ max_messages: 2 }), 2)).toEqual([1, 2]);
  }
  await write(50, "token", "b");
  // Open transactions of other tests' databases delay it.
  await until("the oldest are deleted", async () => await pruneEvents(store, 0, 302) > 0);
  const { state } = await manager.streams.info(STREAM);
  expect(state.last_seq).toBe(350);
  expect(state.first_seq).toBe(301);
  expect(state.messages).toBe(50);
  for (const name of ["all", "some"]) {
    const messages = await (await client.consumers.get(STREAM, name)).fetch({ max_messages: 50, expires: 20_000 });
    expect(await take(messages, 50)).toEqual(range(301, 350));
    await until(
      "messages that are deleted are not open",
      async () => (await manager.consumers.info(STREAM, name)).num_pending === 0,
    );
  }
});

test("a consumer begins at any time that a client can name", async () => {
  await write(3);
  const manager = await (await member()).jetstreamManager();
  const begin = async (opt_start_time: string) =>
    (await manager.consumers.add(STREAM, { deliver_policy: DeliverPolicy.StartTime, opt_start_time })).num_pending;
  expect(await begin("-271820-01-01T00:00:00Z")).toBe(3);
  expect(await begin("+275760-09-13T00:00:00Z")).toBe(0);
});

test("a delay without end does not make a durable consumer unreadable", async () => {
  await write(2);
  const connection = await member();
  const manager = await connection.jetstreamManager();
  await manager.consumers.add(STREAM, { durable_name: "d", ack_policy: AckPolicy.Explicit });
  const inbox = connection.subscribe("an.inbox", { max: 1 });
  connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.d`, "1", { reply: "an.inbox" });
  const { value: message } = await inbox[Symbol.asyncIterator]().next();
  await connection.request(message.reply, `-NAK {"delay": ${"9".repeat(400)}}`);
  await connection.close();
  connections = [];
  await served.stop();
  served = await serveDatabase(store, TOKEN);
  const { consumers } = await (await member()).jetstreamManager();
  expect(await consumers.info(STREAM, "d")).toMatchObject({ num_ack_pending: 1 });
});

test("nothing is skipped or delivered early while transactions are open", async () => {
  await write(5);
  const connection = await member();
  const messages = await (await connection.jetstream().consumers.get(STREAM)).consume();
  const got: string[] = [];
  void (async () => {
    for await (const { subject, seq } of messages) got.push(`${seq} ${subject}`);
  })();
  await until("the first five", async () => got.length === 5);
  const end = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const early = store.sql.begin(async (sql) => {
    await insertTransitions({ ...store, sql: sql as never }, transitions(1, "token", "early"));
    began.resolve();
    await end.promise;
  });
  await began.promise;
  await write(1, "token", "late");
  await sleep(300);
  expect(got.length).toBe(5);
  end.resolve();
  await early;
  await until("both", async () => got.length === 7);
  expect(got.slice(5)).toEqual(["6 arbor.event.token.early.updated", "7 arbor.event.token.late.updated"]);
});

test("content that guests may not read is in a stream of its own, with the numbers of the log", async () => {
  await served.stop();
  const schemas = { UPDATED: z.object({ amount: z.string() }) };
  const kinds = [{ kind: "wallet", content: { schemas, guarded: true } }, { kind: "token", content: { schemas } }];
  served = await serveDatabase(store, TOKEN, {}, {}, kinds);
  await write(3, "token");
  await write(2, "wallet");
  await write(2, "token");
  await write(1, "wallet");
  const connection = await member();
  const manager = await connection.jetstreamManager();
  const info = await manager.streams.info("ARBOR_CONTENT");
  expect(info.state).toMatchObject({ messages: 3, first_seq: 1, last_seq: 8, num_deleted: 5 });
  const contentOf = (message: { json(): unknown }) => (message.json() as { data: { content?: unknown } }).data.content;
  const read = async (stream: string, count: number) => {
    const { name } = await manager.consumers.add(stream, { ack_policy: AckPolicy.None, name: `${stream}-${count}` });
    const got: unknown[] = [];
    const messages = await (await connection.jetstream().consumers.get(stream, name)).fetch({ max_messages: count });
    for await (const message of messages) {
      got.push([message.seq, message.subject, contentOf(message), message.info.pending]);
    }
    return got;
  };
  expect(await read("ARBOR_CONTENT", 3)).toEqual([
    [4, "arbor.content.wallet.a.updated", { amount: "4" }, 2],
    [5, "arbor.content.wallet.a.updated", { amount: "5" }, 1],
    [8, "arbor.content.wallet.a.updated", { amount: "8" }, 0],
  ]);
  expect((await read("ARBOR_EVENTS", 8)).slice(2, 5)).toEqual([
    [3, "arbor.event.token.a.updated", { amount: "3" }, 5],
    [4, "arbor.event.wallet.a.updated", undefined, 4],
    [5, "arbor.event.wallet.a.updated", undefined, 3],
  ]);
  const error = async (seq: number) =>
    (await connection.request("$JS.API.STREAM.MSG.GET.ARBOR_CONTENT", JSON.stringify({ seq }))).json<
      { error?: object }
    >()
      .error;
  expect(await error(3)).toMatchObject({ err_code: 10_037 });
  expect(await error(4)).toBeUndefined();
  const last = await manager.streams.getMessage("ARBOR_CONTENT", { last_by_subj: "arbor.content.wallet.>" });
  expect([last.seq, contentOf(last)]).toEqual([8, { amount: "8" }]);
  const names = await (await guest()).request("$JS.API.STREAM.NAMES", "");
  expect(names.json()).toMatchObject({ total: 1, streams: [STREAM] });
  const client = await hostile();
  for (const subject of ["$JS.API.STREAM.INFO.ARBOR_CONTENT", "$JS.API.CONSUMER.CREATE.ARBOR_CONTENT.x"]) {
    request(client, subject, "{}");
    await client.until(`Permissions Violation for Publish to "${subject}"`);
  }
  client.send("SUB arbor.content.> 1\r\n");
  await client.until('Permissions Violation for Subscription to "arbor.content.>"');
  client.socket.destroy();
});

test("a user reads the streams whose subjects it may subscribe to, and has messages sent only where it may listen", async () => {
  await served.stop();
  const publish = { allow: ["$JS.>"] };
  const files = await temporaryFiles({
    users: JSON.stringify([
      { user: "reader", password: await hash("x", 4), subscribe: { allow: ["arbor.event.>", "_INBOX.>"] }, publish },
      {
        user: "narrow",
        password: await hash("x", 4),
        subscribe: { allow: ["arbor.event.token.>", "_INBOX.>"] },
        publish,
      },
    ]),
  });
  served = await serveDatabase(store, TOKEN, { users: files.users });
  await write(3);
  const login = async (user: string) => {
    const connection = await connect({ servers: served.endpoint.url, user, pass: "x" });
    connections.push(connection);
    return connection;
  };
  const [reader, narrow] = [await login("reader"), await login("narrow")];
  const manager = await reader.jetstreamManager();
  await manager.consumers.add(STREAM, { durable_name: "own", ack_policy: AckPolicy.Explicit });
  const messages = await (await reader.jetstream().consumers.get(STREAM, "own")).fetch({ max_messages: 3 });
  expect(await take(messages, 3, (message) => message.ack())).toEqual([1, 2, 3]);
  expect((await manager.streams.list().next()).map(({ config }) => config.name)).toEqual([STREAM]);
  await expect(manager.streams.info("ARBOR_CONTENT")).rejects.toThrow("stream not found");
  const push = { deliver_subject: "arbor.command.x", ack_policy: AckPolicy.None };
  await expect(manager.consumers.add(STREAM, push)).rejects.toThrow("the deliver subject is not permitted");
  const other = await narrow.jetstreamManager();
  expect(await other.streams.list().next()).toEqual([]);
  await expect(other.streams.info(STREAM)).rejects.toThrow("stream not found");
  await expect(narrow.request(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.own`, "1")).rejects.toMatchObject({ code: "503" });
  await files.remove();
});

describe("a guest", () => {
  test("replays, but has no durable consumers and sees only its own", async () => {
    await write(20);
    const [own, other] = [await guest(), await member()];
    await (await other.jetstreamManager()).consumers.add(STREAM, {
      durable_name: "secret",
      ack_policy: AckPolicy.None,
    });
    const manager = await own.jetstreamManager();
    await expect(manager.consumers.add(STREAM, { durable_name: "x", ack_policy: AckPolicy.None })).rejects.toThrow();
    await manager.consumers.add(STREAM, {
      name: "mine",
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    expect((await manager.consumers.list(STREAM).next()).map(({ name }) => name)).toEqual(["mine"]);
    await expect(manager.consumers.info(STREAM, "secret")).rejects.toThrow("consumer not found");
    await expect(manager.consumers.delete(STREAM, "secret")).rejects.toThrow("consumer not found");
    const messages = await (await own.jetstream().consumers.get(STREAM, "mine")).fetch({
      max_messages: 20,
      expires: 20_000,
    });
    expect(await take(messages, 20, (message) => message.ack())).toEqual(range(1, 20));
    await until(
      "everything is acknowledged",
      async () => (await manager.consumers.info(STREAM, "mine")).num_ack_pending === 0,
    );
    const ordered = await (await own.jetstream().consumers.get(STREAM)).consume();
    expect(await take(ordered, 20)).toEqual(range(1, 20));
    const old = await own.jetstream().subscribe("arbor.event.>", consumerOpts().orderedConsumer());
    expect(await take(old, 20)).toEqual(range(1, 20));
    await own.close();
    await until(
      "its consumers are gone",
      async () => (await (await other.jetstreamManager()).streams.info(STREAM)).state.consumer_count === 1,
    );
  });

  test("may not change anything, listen to others or send them anything", async () => {
    await write(3);
    const victim = await member();
    const heard: string[] = [];
    for (const subject of [">", "_INBOX.>"]) {
      victim.subscribe(subject, {
        callback: (_error, { subject }) => void (subject.startsWith("arbor.") || heard.push(subject)),
      });
    }
    await (await victim.jetstreamManager()).consumers.add(STREAM, {
      durable_name: "kept",
      ack_policy: AckPolicy.Explicit,
    });
    const client = await hostile();
    for (
      const subject of [
        "_INBOX.>",
        "_INBOX.*",
        "_INBOX.short.x",
        "_INBOX.*.0123456789abcdef",
        "$JS.>",
        "$JS.API.>",
        ">",
      ]
    ) {
      client.send(`SUB ${subject} 9\r\n`);
      await client.until(`Permissions Violation for Subscription to "${subject}"`);
    }
    for (
      const subject of [
        `$JS.API.STREAM.DELETE.${STREAM}`,
        `$JS.API.STREAM.PURGE.${STREAM}`,
        `$JS.API.STREAM.CREATE.X`,
        `$JS.API.STREAM.MSG.DELETE.${STREAM}`,
        `$JS.API.STREAM.INFO.OTHER`,
        `$JS.ACK.${STREAM}.kept.1.1.1.1.0`,
        `$JS.FC.${STREAM}.kept.x`,
        "arbor.event.token.a.updated",
        INBOX,
      ]
    ) {
      request(client, subject, "{}");
      await client.until(`Permissions Violation for Publish to "${subject}"`);
    }
    client.send(`SUB ${INBOX}.* 1\r\n`);
    // Answers go to its own inbox only, wherever it asks to have them sent.
    const other = await victim.request(`$JS.API.CONSUMER.INFO.${STREAM}.kept`, "");
    expect(other.json()).toMatchObject({ name: "kept" });
    heard.length = 0;
    request(client, `$JS.API.STREAM.INFO.${STREAM}`, "", "_INBOX.of.the.victim");
    request(client, `$JS.API.STREAM.INFO.${STREAM}`, "", "arbor.event.token.a.forged");
    const push = (to: string) => JSON.stringify({ stream_name: STREAM, config: { deliver_subject: to } });
    request(client, `$JS.API.CONSUMER.CREATE.${STREAM}`, push("victims.subject"));
    request(client, `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.kept`, "1");
    request(client, `$JS.API.STREAM.NAMES`);
    const text = await client.until("stream_names_response");
    expect(text).toContain("503");
    expect(text).not.toContain("stream_info_response");
    await victim.flush();
    expect(heard).toEqual([]);
    expect((await (await victim.jetstreamManager()).consumers.info(STREAM, "kept")).delivered.consumer_seq).toBe(0);
    client.socket.destroy();
  });

  test("has a bounded number of consumers and waiting requests, whatever it asks for", async () => {
    await write(3);
    const client = await hostile();
    client.send(`SUB ${INBOX}.* 1\r\n`);
    const create = (i: number, config: object = {}) =>
      request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.c${i}`, JSON.stringify({ stream_name: STREAM, config }));
    for (let i = 0; i < 9; i++) create(i);
    await client.until('"err_code":10026');
    expect(client.received().match(/"num_waiting":0/g)?.length).toBe(8);
    create(0, { inactive_threshold: nanos(86_400_000) });
    await client.until('"err_code":10153');
    create(0, { max_ack_pending: 100_000, ack_policy: "explicit" });
    await client.until('"err_code":10121');
    // Any number of open messages would be all of the stream.
    request(client, `$JS.API.CONSUMER.DELETE.${STREAM}.c2`);
    create(21, { max_ack_pending: -1, ack_policy: "explicit" });
    await client.until('"max_ack_pending":1000,');
    const pull = '{"batch":1,"expires":60000000000}';
    create(20, { deliver_policy: "new" });
    request(client, `$JS.API.CONSUMER.DELETE.${STREAM}.c0`);
    request(client, `$JS.API.CONSUMER.DELETE.${STREAM}.c1`);
    request(
      client,
      `$JS.API.CONSUMER.CREATE.${STREAM}.n`,
      JSON.stringify({ stream_name: STREAM, config: { deliver_policy: "new" } }),
    );
    await client.until('"name":"n"');
    for (let i = 0; i < 33; i++) request(client, `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.n`, pull);
    await client.until("409 Exceeded MaxWaiting");
    // A payload beyond the limit is refused, not stored.
    const long = "x".repeat(20_000);
    client.send(`PUB $JS.API.STREAM.NAMES ${INBOX}.1 ${long.length}\r\n${long}\r\n`);
    await client.until('Permissions Violation for Publish to "$JS.API.STREAM.NAMES"');
    for (
      const body of [
        "{",
        "[]",
        '"x"',
        '{"seq":"x"}',
        `{"seq":${"9".repeat(400)}}`,
        '{"last_by_subj":"a..b"}',
        '{"next_by_subj":" "}',
      ]
    ) {
      request(client, `$JS.API.STREAM.MSG.GET.${STREAM}`, body);
    }
    request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.z.`, "{}");
    request(client, "$JS.API.INFO");
    await client.until("account_info_response");
    client.socket.destroy();
  });

  test("that leaves while its consumer is made leaves no consumer behind", async () => {
    for (let i = 0; i < 3; i++) await write(1_000);
    const events = createEventLog({ store, bus: served.bus, log: silentLog });
    const [counting, counted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // A database that takes its time to count.
    const streams = eventStreams(store, events, [], 86_400_000).map((stream) => ({
      ...stream,
      source: {
        ...stream.source,
        count: async (...range: Parameters<typeof stream.source.count>) => {
          counting.resolve();
          await counted.promise;
          return await stream.source.count(...range);
        },
      },
    }));
    const { stop } = served;
    served = await serveDatabase(store, TOKEN, {}, { streams, limits: { guestsConsumers: 1 } });
    const config = { filter_subject: "arbor.event.token.*.updated", inactive_threshold: nanos(3_600_000) };
    const create = JSON.stringify({ stream_name: STREAM, config });
    const client = await hostile();
    request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.c`, create);
    await counting.promise;
    client.socket.destroy();
    await until("the guest has left", async () => served.endpoint.stats().connections === 1);
    counted.resolve();
    const next = await hostile();
    next.send(`SUB ${INBOX}.* 1\r\n`);
    request(next, `$JS.API.CONSUMER.CREATE.${STREAM}.d`, create);
    expect(await next.until("consumer_create_response")).toContain('"name":"d"');
    next.socket.destroy();
    await served.service.stop();
    events.close();
    await stop();
  });

  test("gets its answers while others ask for the same", async () => {
    for (let i = 0; i < 3; i++) await write(1_000);
    const clients = await Promise.all(Array.from({ length: 8 }, hostile));
    const config = { filter_subject: "arbor.event.token.*.updated" };
    for (const client of clients) {
      client.send(`SUB ${INBOX}.* 1\r\n`);
      for (let i = 0; i < 8; i++) {
        request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.c${i}`, JSON.stringify({ stream_name: STREAM, config }));
      }
    }
    // A guest's names are its own: they take none from others.
    await clients[0]!.until('"name":"c0"');
    const manager = await (await member()).jetstreamManager();
    await manager.consumers.add(STREAM, { durable_name: "c0", ack_policy: AckPolicy.Explicit });
    expect(await manager.consumers.list(STREAM).next()).toMatchObject([{ name: "c0" }]);
    for (const client of clients) {
      await client.until('"name":"c7"');
      client.socket.destroy();
    }
  });

  test("gets the heartbeats of a request at the interval of push consumers at most", async () => {
    await write(3);
    const client = await hostile();
    client.send(`SUB ${INBOX}.* 1\r\n`);
    const config = { deliver_policy: "new" };
    request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.c`, JSON.stringify({ stream_name: STREAM, config }));
    await client.until("consumer_create_response");
    // The first wants a heartbeat in each nanosecond until the second ends.
    const next = (body: object) => request(client, `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.c`, JSON.stringify(body));
    next({ batch: 1, expires: nanos(60_000), idle_heartbeat: 1 });
    next({ batch: 2, expires: nanos(1_000) });
    await client.until("408 Request Timeout");
    expect(client.received().match(/100 Idle Heartbeat/g)?.length).toBeLessThanOrEqual(10);
    client.socket.destroy();
  });

  test("that reads nothing costs a bounded amount and does not delay others", async () => {
    for (let i = 0; i < 10; i++) await write(1_000);
    const clients = await Promise.all(Array.from({ length: 5 }, hostile));
    for (const client of clients) {
      client.socket.pause();
      client.send(`SUB ${INBOX} 1\r\n`);
      const config = { deliver_subject: INBOX };
      for (let i = 0; i < 4; i++) {
        request(client, `$JS.API.CONSUMER.CREATE.${STREAM}.c${i}`, JSON.stringify({ stream_name: STREAM, config }));
      }
    }
    const connection = await member();
    const messages = await (await connection.jetstream().consumers.get(STREAM)).consume();
    expect((await take(messages, 10_000)).at(-1)).toBe(10_000);
    await write(1);
    const reader = await guest();
    expect((await take(await (await reader.jetstream().consumers.get(STREAM)).consume(), 10_001)).at(-1)).toBe(10_001);
    const { bytesOut } = served.endpoint.stats();
    const sent = 2 * 10_001 * 600;
    expect(bytesOut).toBeLessThan(sent + 5 * 4 * 128 * 1024);
    for (const client of clients) client.socket.destroy();
  });
});
