/** JetStream's API to read events: the same suite against the embedded endpoint and against nats-server. */
import {
  AckPolicy,
  connect,
  type ConsumerConfig,
  consumerOpts,
  createInbox,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type Msg,
  nanos,
  type NatsConnection,
  NatsError,
  StringCodec,
} from "nats";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { cloudEvent, eventId, eventSubject, type Transition } from "#src/runtime/events/transition.ts";
import { startEmbeddedStream, startServerStream, type StreamServer } from "../../support/infra/jetStream.ts";
import { hasNatsServer } from "../../support/infra/natsServer.ts";
import { until } from "../../support/base/until.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { encode } = StringCodec();
const STREAM = "ARBOR_EVENTS";

const versions = new Map<string, number>();

/** The next transition of an actor. */
function transition(kind: string, id: string, type: string): Transition {
  const version = (versions.get(`${kind}/${id}`) ?? 0) + 1;
  versions.set(`${kind}/${id}`, version);
  return { entity: { kind, id }, version, from: "a", to: "b", type, cause: "test", at: 1_700_000_000_000 + version };
}

/** 30 transitions: actors a, b and ü of tokens and wallets, in turn. */
function firstTransitions(): Transition[] {
  versions.clear();
  return Array.from({ length: 30 }, (_, i) => {
    const kind = i % 2 === 0 ? "token" : "wallet";
    return transition(kind, ["a", "b", "ü"][i % 3]!, i < 6 ? "CREATED" : "rootUpdated");
  });
}

const servers: [string, () => Promise<StreamServer>][] = [["the embedded endpoint", startEmbeddedStream]];
if (hasNatsServer()) servers.push(["nats-server", startServerStream]);

describe.each(servers)("%s", (kind, start) => {
  /** What newer versions of nats-server than the endpoint's model answer otherwise. */
  const orNewer = <T>(older: T, newer: T) =>
    kind === "nats-server" ? expect.toSatisfy((one) => one === older || one === newer) : older;
  let server: StreamServer;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let client: JetStreamClient;
  let written: Transition[];
  let several: boolean;

  const addEvents = async (count: number, kind = "token") => {
    const more = Array.from({ length: count }, () => transition(kind, "new", "UPDATED"));
    await server.write(more);
    written.push(...more);
  };
  const numbers = (messages: readonly JsMsg[]) => messages.map(({ seq }) => seq);
  const collect = async (messages: AsyncIterable<JsMsg>) => {
    const all: JsMsg[] = [];
    for await (const message of messages) all.push(message);
    return all;
  };
  const codeOf = async (work: Promise<unknown>) => {
    try {
      await work;
      return "done";
    } catch (error) {
      if (!(error instanceof NatsError)) throw error;
      return error.api_error === undefined ? error.code : error.api_error.err_code;
    }
  };
  /** The answer of the API as it is. */
  const call = async (subject: string, body: unknown = undefined) => {
    const answer = await connection.request(
      `$JS.API.${subject}`,
      body === undefined ? "" : encode(JSON.stringify(body)),
      {
        timeout: 20_000,
      },
    );
    return answer.json<Record<string, unknown>>();
  };
  const consumer = async (config: Partial<ConsumerConfig> = {}) =>
    await manager.consumers.add(STREAM, {
      ack_policy: AckPolicy.Explicit,
      inactive_threshold: nanos(60_000),
      ...config,
    });
  /** A subscription to statuses and messages of pulls by hand. */
  const puller = (name: string) => {
    const inbox = createInbox();
    const got: Msg[] = [];
    connection.subscribe(inbox, { callback: (_error, message) => void got.push(message) });
    const pull = (body: object | string) =>
      connection.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${name}`,
        encode(typeof body === "string" ? body : JSON.stringify(body)),
        { reply: inbox },
      );
    const shown = () =>
      got.map((message) =>
        message.headers?.code ? `${message.headers.code} ${message.headers.description}` : message.subject
      );
    const wait = (count: number) => until(`${count} messages`, async () => got.length >= count && got);
    return { got, pull, shown, wait };
  };

  beforeAll(async () => {
    server = await start();
    written = firstTransitions();
    await server.write(written);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    connection = await connect({ servers: server.url, ...(server.token === undefined ? {} : { token: server.token }) });
    manager = await connection.jetstreamManager();
    client = connection.jetstream();
    const [, minor = 0] = (connection.info?.version ?? "").split(".").map(Number);
    several = minor >= 10;
  });
  afterEach(async () => {
    for await (const name of await manager.consumers.list(STREAM).next()) {
      await manager.consumers.delete(STREAM, name.name);
    }
    await connection.close();
  });

  describe("the stream", () => {
    test("is described", async () => {
      const account = await call("INFO");
      expect(account).toMatchObject({
        type: "io.nats.jetstream.api.v1.account_info_response",
        streams: 2,
        consumers: 0,
      });
      const info = await manager.streams.info(STREAM);
      expect(info.config).toMatchObject({
        name: STREAM,
        subjects: ["arbor.event.>"],
        retention: "limits",
        num_replicas: 1,
      });
      expect(info.state).toMatchObject({ messages: written.length, first_seq: 1, last_seq: written.length });
      expect(info.state).toMatchObject({ consumer_count: 0 });
      expect(Date.parse(info.state.last_ts)).toBeGreaterThan(Date.parse(info.state.first_ts));
      expect(await call("STREAM.NAMES")).toMatchObject({
        total: 2,
        offset: 0,
        limit: 1_024,
        streams: ["ARBOR_CONTENT", STREAM],
      });
      expect(await call("STREAM.NAMES", { subject: "arbor.event.token.x.y" })).toMatchObject({ streams: [STREAM] });
      expect((await call("STREAM.NAMES", { subject: "other.>" })).total).toBe(0);
      expect(await manager.streams.find("arbor.event.token.>")).toBe(STREAM);
      const list = await manager.streams.list().next();
      expect(list.map(({ config }) => config.name)).toEqual(["ARBOR_CONTENT", STREAM]);
      const { state } = await manager.streams.info(STREAM, { subjects_filter: "arbor.event.token.a.*" });
      expect(state.subjects).toEqual({ "arbor.event.token.a.created": 1, "arbor.event.token.a.root-updated": 4 });
    });

    test("gives messages by number, and the last and next of a subject, as they were published", async () => {
      const message = await manager.streams.getMessage(STREAM, { seq: 3 });
      const third = written[2]!;
      expect(message.subject).toBe(eventSubject(third));
      expect(message.seq).toBe(3);
      expect(message.header.get("Nats-Msg-Id")).toBe(eventId(third));
      expect(message.json()).toEqual(cloudEvent(third));
      expect(message.time.getTime()).toBeGreaterThan(Date.now() - 600_000);
      const last = async (subject: string) => (await manager.streams.getMessage(STREAM, { last_by_subj: subject })).seq;
      const next = async (seq: number, subject: string) => {
        const answer = await call(`STREAM.MSG.GET.${STREAM}`, { seq, next_by_subj: subject });
        return (answer.message as { seq: number } | undefined)?.seq ?? (answer.error as { err_code: number }).err_code;
      };
      const isToken = ({ entity }: Transition) => entity.kind === "token";
      expect(await last("arbor.event.token.>")).toBe(written.findLastIndex(isToken) + 1);
      expect(await last(eventSubject(third))).toBe(
        written.findLastIndex((one) => eventSubject(one) === eventSubject(third)) + 1,
      );
      expect(await last("arbor.event.*.*.created")).toBe(6);
      expect(await next(2, "arbor.event.token.>")).toBe(3);
      expect(await next(4, "arbor.event.*.b.>")).toBe(5);
      expect(await next(7, "arbor.event.*.*.created")).toBe(10_037);
      const missing = async (query: { seq: number } | { last_by_subj: string }) =>
        await codeOf(manager.streams.getMessage(STREAM, query));
      expect(await missing({ seq: 100_000 })).toBe(10_037);
      expect(await missing({ last_by_subj: "arbor.event.absent.>" })).toBe(10_037);
      // no subject is such: it goes to no database, which refuses a NUL
      expect(await missing({ last_by_subj: "arbor.event.\0.>" })).toBe(10_037);
      expect(await call(`STREAM.INFO.${STREAM}`, { subjects_filter: "arbor.event.\0.>" })).not.toHaveProperty("error");
      expect(await call(`STREAM.MSG.GET.${STREAM}`, {})).toMatchObject({ error: { code: 400, err_code: 10_003 } });
      expect(await call(`STREAM.MSG.GET.${STREAM}`)).toMatchObject({ error: { code: 400, err_code: 10_003 } });
    });

    test("that does not exist is not found", async () => {
      for (const subject of ["STREAM.INFO.NONE", "STREAM.DELETE.NONE", "CONSUMER.NAMES.NONE", "CONSUMER.INFO.NONE.x"]) {
        expect([subject, await call(subject)]).toMatchObject([
          subject,
          { error: { code: 404, err_code: 10_059, description: "stream not found" } },
        ]);
      }
      expect(await call("STREAM.MSG.GET.NONE", { seq: 1 })).toMatchObject({ error: { err_code: 10_059 } });
      expect(await codeOf(manager.consumers.add("NONE", { ack_policy: AckPolicy.None }))).toBe(10_059);
    });
  });

  describe("pull consumers", () => {
    test("deliver all messages with their subject, headers, body and numbers", async () => {
      await consumer({ name: "all" });
      const messages = await collect(
        await (await client.consumers.get(STREAM, "all")).fetch({ max_messages: 100, expires: 1_000 }),
      );
      expect(messages.map(({ subject }) => subject)).toEqual(written.map(eventSubject));
      expect(messages.map((message) => message.json())).toEqual(written.map((one) => cloudEvent(one)));
      expect(messages.map(({ headers }) => headers?.get("Nats-Msg-Id"))).toEqual(written.map(eventId));
      expect(
        messages.map((
          { info },
        ) => [
          info.stream,
          info.consumer,
          info.redeliveryCount,
          info.streamSequence,
          info.deliverySequence,
          info.pending,
        ]),
      )
        .toEqual(written.map((_, i) => [STREAM, "all", 1, i + 1, i + 1, written.length - i - 1]));
      const stored = await manager.streams.getMessage(STREAM, { seq: 1 });
      // `info.timestampNanos` is rounded to a double: the subject for the acknowledgement has all digits.
      const nanos = /\.(\d{19})\./.exec(Reflect.get(messages[0]!, "reply"))?.[1];
      expect(Number(BigInt(nanos!) / 1_000_000n)).toBe(stored.time.getTime());
    });

    test("begin at the place of their configuration", async () => {
      const count = written.length;
      const lastOf = (subjects: (one: Transition) => boolean) => {
        const newest = new Map(
          written.map((one, i) => [eventSubject(one), i + 1] as const).filter((_, i) => subjects(written[i]!)),
        );
        return [...newest.values()].sort((a, b) => a - b);
      };
      const isB = ({ entity }: Transition) => entity.id === "b";
      const isB2 = written.map((one, i) => isB(one) ? i + 1 : 0).filter((seq) => seq > 0);
      const time = (await manager.streams.getMessage(STREAM, { seq: 20 })).time.toISOString();
      const earlier = (await manager.streams.getMessage(STREAM, { seq: 19 })).time.toISOString();
      const cases: [Partial<ConsumerConfig>, number[]][] = [
        [{ deliver_policy: DeliverPolicy.All, filter_subject: "arbor.event.*.b.>" }, isB2],
        [{ deliver_policy: DeliverPolicy.Last }, [count]],
        [{ deliver_policy: DeliverPolicy.Last, filter_subject: "arbor.event.*.b.>" }, [isB2.at(-1)!]],
        [{ deliver_policy: DeliverPolicy.New }, []],
        [{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: count - 2 }, [count - 2, count - 1, count]],
        [{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 100_000 }, []],
        [
          { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 10, filter_subject: "arbor.event.*.b.*" },
          isB2.filter((seq) => seq >= 10),
        ],
        [{ deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: "arbor.event.>" }, lastOf(() => true)],
        [{ deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: "arbor.event.*.b.>" }, lastOf(isB)],
        [{ deliver_policy: DeliverPolicy.All, filter_subject: "arbor.event.absent.>" }, []],
        [{ deliver_policy: DeliverPolicy.All, filter_subject: "arbor.event.*.*.created" }, [1, 2, 3, 4, 5, 6]],
        [
          { deliver_policy: DeliverPolicy.All, filter_subject: eventSubject(written[2]!) },
          written.flatMap((one, i) => eventSubject(one) === eventSubject(written[2]!) ? [i + 1] : []),
        ],
        ...(time === earlier ? [] : [[
          { deliver_policy: DeliverPolicy.StartTime, opt_start_time: time },
          written.map((_, i) => i + 1).slice(19),
        ] as [Partial<ConsumerConfig>, number[]]]),
        [
          { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(Date.now() + 3_600_000).toISOString() },
          [],
        ],
        ...(several
          ? [
            [
              { filter_subjects: ["arbor.event.token.b.>", "arbor.event.wallet.a.>"] },
              written.flatMap(({ entity: { kind, id } }, i) =>
                ["token b", "wallet a"].includes(`${kind} ${id}`) ? [i + 1] : []
              ),
            ] as [Partial<ConsumerConfig>, number[]],
          ]
          : []),
      ];
      for (const [config, expected] of cases) {
        const { name, num_pending } = await consumer(config);
        // Servers before 2.10 do not count exactly what a filter leaves after the first number.
        if (several) expect([config, num_pending]).toEqual([config, expected.length]);
        const got = await collect(
          await (await client.consumers.get(STREAM, name)).fetch({
            max_messages: Math.max(1, expected.length),
            expires: expected.length > 0 ? 20_000 : 1_000,
          }),
        );
        expect([config, numbers(got)]).toEqual([config, expected]);
        if (several) {
          expect(got.map(({ info }) => info.pending)).toEqual(expected.map((_, i) => expected.length - i - 1));
        }
        expect((await manager.consumers.info(STREAM, name)).num_pending).toBe(0);
      }
    });

    test("wait for new messages, which a filter may not select", async () => {
      const { name } = await consumer({ deliver_policy: DeliverPolicy.New, filter_subject: "arbor.event.wallet.>" });
      const messages = await (await client.consumers.get(STREAM, name)).fetch({ max_messages: 3, expires: 30_000 });
      const reading = collect(messages);
      await addEvents(2);
      await addEvents(2, "wallet");
      await addEvents(1);
      await addEvents(1, "wallet");
      const got = await reading;
      expect(numbers(got)).toEqual([written.length - 3, written.length - 2, written.length]);
      expect(got.map(({ info }) => info.deliverySequence)).toEqual([1, 2, 3]);
    });

    test("an ordered consumer reads everything, and goes on", async () => {
      const ordered = await client.consumers.get(STREAM);
      const messages = await ordered.consume();
      const got: JsMsg[] = [];
      const before = written.length;
      for await (const message of messages) {
        got.push(message);
        if (got.length === before) await addEvents(3);
        if (got.length === before + 3) break;
      }
      expect(numbers(got)).toEqual(written.map((_, i) => i + 1));
      const some = await client.consumers.get(STREAM, { filterSubjects: "arbor.event.*.*.created", opt_start_seq: 3 });
      expect(numbers(await collect(await some.fetch({ max_messages: 4, expires: 20_000 })))).toEqual([3, 4, 5, 6]);
    });

    test("end requests as a server does: 404, 408, 409", async () => {
      const { name } = await consumer({
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: written.length - 1,
      });
      const { got, pull, shown, wait } = puller(name);
      pull({ batch: 5, no_wait: true });
      await wait(3);
      const subjects = written.slice(-2).map(eventSubject);
      expect(shown()).toEqual([...subjects, orNewer("408 Request Timeout", "404 No Messages")]);
      expect(got[2]!.headers?.get("Nats-Pending-Messages")).toEqual(orNewer("3", ""));
      pull({ batch: 1, no_wait: true });
      await wait(4);
      expect(shown()[3]).toBe("404 No Messages");
      pull({ batch: 2, expires: nanos(300) });
      await wait(5);
      expect(shown()[4]).toBe("408 Request Timeout");
      expect(got[4]!.headers?.get("Nats-Pending-Messages")).toBe("2");
      pull({ batch: 2, expires: nanos(1_000), idle_heartbeat: nanos(900) });
      await wait(6);
      expect(shown()[5]).toBe("400 Bad Request - heartbeat value too large");
      pull({ batch: 1, expires: nanos(1_100), idle_heartbeat: nanos(500) });
      await wait(9);
      expect(shown().slice(6)).toEqual(["100 Idle Heartbeat", "100 Idle Heartbeat", "408 Request Timeout"]);
      pull({ batch: 1, expires: nanos(60_000) });
      await until("the request", async () => (await manager.consumers.info(STREAM, name)).num_waiting === 1);
      await manager.consumers.delete(STREAM, name);
      await wait(10);
      expect(shown()[9]).toBe("409 Consumer Deleted");
    });

    test("limit requests: bytes, batches, durations, number", async () => {
      const { name } = await consumer({ max_batch: 3, max_expires: nanos(90_000), max_waiting: 2 });
      const { got, pull, shown, wait } = puller(name);
      pull({ batch: 2, max_bytes: 10, expires: nanos(20_000) });
      await wait(1);
      expect(shown()).toEqual(["409 Message Size Exceeds MaxBytes"]);
      pull({ batch: 4 });
      pull({ batch: 1, expires: nanos(100_000) });
      await wait(3);
      expect(shown().slice(1)).toEqual([
        "409 Exceeded MaxRequestBatch of 3",
        "409 Exceeded MaxRequestExpires of 1m30s",
      ]);
      pull("2");
      await wait(5);
      const first = got[3]!;
      const size = first.subject.length + first.reply!.length + first.data.length +
        `NATS/1.0\r\nNats-Msg-Id: ${eventId(written[0]!)}\r\n\r\n`.length;
      // Room for one message, but not for two.
      pull({ batch: 3, max_bytes: size + 60, expires: nanos(20_000) });
      await wait(7);
      expect(shown().slice(5)).toEqual([eventSubject(written[2]!), "409 Message Size Exceeds MaxBytes"]);
      const end = await consumer({ deliver_policy: DeliverPolicy.New, max_waiting: 2 });
      const other = puller(end.name);
      for (let i = 0; i < 3; i++) other.pull({ batch: 1, expires: nanos(60_000) });
      await other.wait(1);
      expect(other.shown()).toEqual(["409 Exceeded MaxWaiting"]);
    });
  });

  describe("acknowledgements", () => {
    const next = async (name: string, expires = 20_000) =>
      await (await client.consumers.get(STREAM, name)).next({ expires });

    test("what is not acknowledged in time is delivered again, at most max_deliver times", async () => {
      await consumer({ name: "again", ack_wait: nanos(400), max_deliver: 3 });
      const first = (await next("again"))!;
      const got = [first];
      while (got.length < 3) {
        const message = (await next("again"))!;
        if (message.seq === 1) got.push(message);
        else message.ack();
      }
      expect(got.map(({ info }) => info.redeliveryCount)).toEqual([1, 2, 3]);
      await until("the message is given up", async () => {
        const message = await next("again", 1_000);
        message?.ack();
        expect(message?.seq).not.toBe(1);
        return (await manager.consumers.info(STREAM, "again")).num_ack_pending === 0;
      });
    });

    test("explicit acknowledgements, floors, negative ones with a delay, progress, the end and the next", async () => {
      await consumer({ name: "acks", ack_wait: nanos(60_000) });
      const [one, two, three, four] = await collect(
        await (await client.consumers.get(STREAM, "acks")).fetch({ max_messages: 4, expires: 20_000 }),
      );
      const info = () => manager.consumers.info(STREAM, "acks");
      expect(await info()).toMatchObject({
        num_ack_pending: 4,
        delivered: { consumer_seq: 4, stream_seq: 4 },
        ack_floor: { consumer_seq: 0, stream_seq: 0 },
      });
      expect(await two!.ackAck()).toBe(true);
      expect(await info()).toMatchObject({ num_ack_pending: 3, ack_floor: { consumer_seq: 0, stream_seq: 0 } });
      expect(await one!.ackAck()).toBe(true);
      expect(await info()).toMatchObject({ num_ack_pending: 2, ack_floor: { consumer_seq: 2, stream_seq: 2 } });
      three!.working();
      const before = performance.now();
      four!.nak(700);
      three!.nak();
      const again = (await next("acks"))!;
      expect([again.seq, again.info.redeliveryCount]).toEqual([3, 2]);
      const others: JsMsg[] = [];
      for (let message = await next("acks"); others.push(message!), message!.seq !== 4; message = await next("acks"));
      const delayed = others.at(-1)!;
      expect(delayed.info.redeliveryCount).toBe(2);
      expect(performance.now() - before).toBeGreaterThan(650);
      expect(await info()).toMatchObject({ num_redelivered: 2 });
      delayed.term();
      again.ack();
      for (const other of others) other.ack();
      await until("all is acknowledged", async () => (await info()).num_ack_pending === 0);
      const { ack_floor, delivered, num_redelivered } = await info();
      expect([ack_floor.consumer_seq, ack_floor.stream_seq]).toEqual([delivered.consumer_seq, delivered.stream_seq]);
      expect(num_redelivered).toBe(0);
      await addEvents(2);
      const message = (await next("acks"))!;
      const inbox = createInbox();
      const subscription = connection.subscribe(inbox, { max: 1 });
      connection.publish((message as unknown as { msg: Msg }).msg.reply!, encode("+NXT"), {
        reply: inbox,
      });
      for await (const following of subscription) expect(following.subject).toBe(eventSubject(written[message.seq]!));
      expect(await info()).toMatchObject({ num_ack_pending: 1 });
    });

    test("with the policy all, one acknowledges all before it", async () => {
      await consumer({ name: "upto", ack_policy: AckPolicy.All });
      const messages = await collect(
        await (await client.consumers.get(STREAM, "upto")).fetch({ max_messages: 5, expires: 20_000 }),
      );
      await messages[3]!.ackAck();
      expect(await manager.consumers.info(STREAM, "upto")).toMatchObject({
        num_ack_pending: 1,
        ack_floor: { consumer_seq: 4, stream_seq: 4 },
      });
    });

    test("max_ack_pending stops delivery until something is acknowledged", async () => {
      await consumer({ name: "few", max_ack_pending: 2 });
      const { got, pull, wait } = puller("few");
      pull({ batch: 4, expires: nanos(60_000) });
      await wait(2);
      await sleep(300);
      expect(got.length).toBe(2);
      got[0]!.respond(encode("+ACK"));
      await wait(3);
      got[1]!.respond();
      await wait(4);
      expect(got.map(({ subject }) => subject)).toEqual(written.slice(0, 4).map(eventSubject));
    });

    test("a durable consumer goes on in another connection, and lists are complete", async () => {
      await consumer({ durable_name: "kept", inactive_threshold: 0 });
      const [first] = await collect(
        await (await client.consumers.get(STREAM, "kept")).fetch({ max_messages: 1, expires: 20_000 }),
      );
      await first!.ackAck();
      await connection.close();
      connection = await connect({
        servers: server.url,
        ...(server.token === undefined ? {} : { token: server.token }),
      });
      manager = await connection.jetstreamManager();
      client = connection.jetstream();
      expect((await next("kept"))!.seq).toBe(2);
      await consumer({ name: "a" });
      await consumer({ name: "b" });
      expect(await call(`CONSUMER.NAMES.${STREAM}`)).toMatchObject({
        total: 3,
        offset: 0,
        limit: 1_024,
        consumers: expect.arrayContaining(["a", "b", "kept"]),
      });
      const list = await manager.consumers.list(STREAM).next();
      expect(list.map(({ name }) => name).sort()).toEqual(["a", "b", "kept"]);
      expect((await manager.streams.info(STREAM)).state.consumer_count).toBe(3);
      expect(await manager.consumers.delete(STREAM, "a")).toBe(true);
      expect(await codeOf(manager.consumers.info(STREAM, "a"))).toBe(10_014);
      expect(await codeOf(manager.consumers.delete(STREAM, "a"))).toBe(10_014);
      // The same configuration again is no error, another one is an update or refused.
      expect((await consumer({ durable_name: "kept", inactive_threshold: 0 })).name).toBe("kept");
      expect((await manager.consumers.update(STREAM, "kept", { max_deliver: 7 })).config.max_deliver).toBe(7);
      expect(await codeOf(manager.consumers.update(STREAM, "kept", { ack_policy: AckPolicy.None } as never))).toBe(
        10_012,
      );
    });

    test("a consumer that nobody uses is removed after its inactive_threshold", async () => {
      const { name } = await consumer({ inactive_threshold: nanos(600) });
      await until("the consumer is removed", async () => await codeOf(manager.consumers.info(STREAM, name)) === 10_014);
    });
  });

  describe("configurations", () => {
    test("are shown with a server's defaults", async () => {
      const { config } = await consumer({ name: "plain", inactive_threshold: 0 });
      expect(config).toMatchObject({
        name: "plain",
        deliver_policy: "all",
        ack_policy: "explicit",
        ack_wait: nanos(30_000),
        max_deliver: -1,
        max_ack_pending: 1_000,
        max_waiting: 512,
        replay_policy: "instant",
        num_replicas: 0,
      });
    });

    test("that are wrong are refused with a server's codes", async () => {
      const make = async (config: object, subject = `CONSUMER.CREATE.${STREAM}`, stream = STREAM) =>
        ((await call(subject, { stream_name: stream, config })) as { error?: { err_code: number } }).error?.err_code;
      expect(await make({ ack_policy: "none", deliver_policy: "by_start_sequence" })).toBe(10_094);
      expect(await make({ ack_policy: "none", deliver_policy: "all", opt_start_seq: 3 })).toBe(10_094);
      expect(await make({ ack_policy: "none", deliver_policy: "last_per_subject" })).toBe(10_094);
      expect(await make({ ack_policy: "none", deliver_policy: "unknown" })).toBe(10_025);
      expect(await make({ deliver_subject: "a.*" })).toBe(10_079);
      expect(await make({ deliver_subject: "arbor.event.x" })).toBe(10_081);
      expect(await make({ deliver_subject: "to.me", max_waiting: 3 })).toBe(10_080);
      expect(await make({ deliver_subject: "to.me", idle_heartbeat: nanos(50) })).toBe(10_083);
      expect(await make({ deliver_subject: "to.me", flow_control: true })).toBe(10_108);
      expect(await make({ idle_heartbeat: nanos(500) })).toBe(10_088);
      expect(await make({ flow_control: true })).toBe(10_089);
      expect(await make({ max_waiting: -1 })).toEqual(orNewer<number | undefined>(10_087, undefined));
      expect(await make({ durable_name: "x" })).toBe(10_020);
      expect(await make({}, `CONSUMER.DURABLE.CREATE.${STREAM}.x`)).toBe(10_018);
      expect(await make({ durable_name: "y" }, `CONSUMER.DURABLE.CREATE.${STREAM}.x`)).toBe(10_017);
      expect(await make({}, `CONSUMER.CREATE.${STREAM}`, "OTHER")).toBe(10_056);
      expect(await make({ filter_subject: "arbor.event.a.>" }, `CONSUMER.CREATE.${STREAM}.x.arbor.event.b.>`)).toBe(
        10_131,
      );
      expect(await make({ backoff: [nanos(100), nanos(200)], max_deliver: 2, ack_policy: "explicit" })).toEqual(
        orNewer<number | undefined>(10_116, undefined),
      );
    });
  });

  describe("push consumers", () => {
    test("deliver to a subject, with heartbeats while there is nothing", async () => {
      const inbox = createInbox();
      const got: Msg[] = [];
      connection.subscribe(inbox, { callback: (_error, message) => void got.push(message) });
      await connection.flush();
      const { name } = await consumer({
        ack_policy: AckPolicy.None,
        deliver_subject: inbox,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: written.length - 1,
        idle_heartbeat: nanos(300),
      });
      await until("heartbeats", async () => got.length >= 4);
      expect(got.slice(0, 2).map(({ subject }) => subject)).toEqual(written.slice(-2).map(eventSubject));
      for (const { headers } of got.slice(2, 4)) {
        expect([headers?.code, headers?.description]).toEqual([100, "Idle Heartbeat"]);
        expect(headers?.get("Nats-Last-Consumer")).toBe("2");
        expect(headers?.get("Nats-Last-Stream")).toBe(String(written.length));
      }
      expect((await manager.consumers.info(STREAM, name)).push_bound).toBe(true);
    });

    test("with flow control ask for an answer before they send more", async () => {
      const many = 6_000;
      const answered: string[] = [];
      if (written.length < many) {
        const more = Array.from({ length: many }, () => transition("token", `flow-${"x".repeat(200)}`, "UPDATED"));
        await server.write(more);
        written.push(...more);
      }
      const inbox = createInbox();
      let messages = 0;
      let open: string | undefined;
      connection.subscribe(inbox, {
        callback: (_error, message) => {
          if (message.headers?.code !== 100) messages++;
          else if (message.headers.description === "FlowControl Request") open = message.reply;
          else open = message.headers.get("Nats-Consumer-Stalled") || open;
        },
      });
      await consumer({
        ack_policy: AckPolicy.None,
        deliver_subject: inbox,
        flow_control: true,
        idle_heartbeat: nanos(300),
      });
      await until("the first request", async () => open !== undefined);
      expect(open).toMatch(/^\$JS\.FC\.ARBOR_EVENTS\..+\..+$/);
      expect(messages).toBeLessThan(written.length);
      await until("everything", async () => {
        if (open !== undefined) {
          answered.push(open);
          connection.publish(open);
          open = undefined;
        }
        return messages === written.length;
      });
      expect(answered.length).toBeGreaterThan(0);
    });

    test("the older subscribe of the client library: ordered, durable, and with a queue", async () => {
      const ordered = await client.subscribe("arbor.event.>", consumerOpts().orderedConsumer());
      let count = 0;
      for await (const message of ordered) {
        expect(message.seq).toBe(++count);
        if (count === written.length) break;
      }
      const options = consumerOpts().durable("worker").deliverTo(createInbox()).queue("group").manualAck().ackExplicit()
        .deliverAll().filterSubject("arbor.event.*.*.created");
      const [one, two] = await Promise.all([0, 1].map(() => client.subscribe("arbor.event.*.*.created", options)));
      const got: number[] = [];
      await Promise.all([one!, two!].map(async (subscription) => {
        for await (const message of subscription) {
          got.push(message.seq);
          message.ack();
          if (got.length === 6) {
            await Promise.all([one!.drain(), two!.drain()]);
          }
        }
      }));
      expect(got.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
    });
  });
});
