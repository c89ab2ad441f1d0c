/**
 * Every message that one side encodes, the other decodes to the same; only allowed transitions are sent or accepted.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, toHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { Channel } from "#src/node/transport/channel.ts";
import { chainSync, type ChainSyncMessage } from "#src/node/protocols/chainSync.ts";
import type { NodeError } from "#src/node/errors.ts";
import { handshake, type HandshakeMessage } from "#src/node/protocols/handshake.ts";
import { type Message, type Protocol, Speaker } from "#src/node/protocols/protocol.ts";
import { stateQuery, type StateQueryMessage } from "#src/node/protocols/stateQuery.ts";
import { type MonitorMessage, txMonitor } from "#src/node/protocols/txMonitor.ts";
import { type SubmissionMessage, txSubmission } from "#src/node/protocols/txSubmission.ts";
import { originTip } from "#src/node/protocols/values.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex);
const number = fc.nat({ max: 2 ** 31 });
const block = fc.record({ slot: fc.maxSafeNat(), hash });
const point = fc.oneof(block, fc.constant({ slot: -1, hash: "" }));
const tip = fc.oneof(fc.record({ slot: fc.maxSafeNat(), hash, height: fc.maxSafeNat() }), fc.constant(originTip));
const item = fc.oneof(bytes, fc.bigInt(), fc.string({ unit: "grapheme" }), fc.array(fc.boolean())).map((value) =>
  encode(value)
);
const transaction = fc.oneof(
  fc.record({ era: fc.integer({ min: 1, max: 7 }), bytes }),
  fc.record({ era: fc.constant(0), bytes: item }),
);
const just = <M extends Message>(...types: M["type"][]) => fc.constantFrom(...types.map((type) => ({ type }) as M));

const version = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 99 }));
const versions = fc.uniqueArray(version).chain((known) =>
  fc.tuple(
    ...known.map((version) =>
      fc.record({ magic: number, query: version <= 14 ? fc.constant(false) : fc.boolean() }).map((data) =>
        [version, data] as const
      )
    ),
  )
).map((entries) => new Map([...entries].sort(([a], [b]) => a - b)));

const chainSyncMessage: fc.Arbitrary<ChainSyncMessage> = fc.oneof(
  just<ChainSyncMessage>("requestNext", "awaitReply", "done"),
  fc.record({ type: fc.constant("rollForward" as const), block: bytes, tip }),
  fc.record({ type: fc.constant("rollBackward" as const), point, tip }),
  fc.record({ type: fc.constant("findIntersect" as const), points: fc.array(point, { maxLength: 30 }) }),
  fc.record({ type: fc.constant("intersectFound" as const), point, tip }),
  fc.record({ type: fc.constant("intersectNotFound" as const), tip }),
);
const submissionMessage: fc.Arbitrary<SubmissionMessage> = fc.oneof(
  just<SubmissionMessage>("accept", "done"),
  fc.record({ type: fc.constant("submit" as const), transaction }),
  fc.record({ type: fc.constant("reject" as const), reason: item }),
);
const target = fc.oneof(point, fc.constantFrom("tip" as const, "immutable" as const));
const stateQueryMessage: fc.Arbitrary<StateQueryMessage> = fc.oneof(
  just<StateQueryMessage>("acquired", "release", "done"),
  fc.record({ type: fc.constantFrom("acquire" as const, "reacquire" as const), target }),
  fc.record({
    type: fc.constant("failure" as const),
    failure: fc.constantFrom("point_too_old" as const, "point_not_on_chain" as const),
  }),
  fc.record({ type: fc.constant("query" as const), query: item }),
  fc.record({ type: fc.constant("result" as const), result: item }),
);
const measure = fc.record({
  size: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  capacity: fc.bigInt({ min: 0n, max: 2n ** 63n }),
});
const monitorMessage: fc.Arbitrary<MonitorMessage> = fc.oneof(
  just<MonitorMessage>("done", "acquire", "release", "nextTx", "getSizes", "getMeasures"),
  fc.record({ type: fc.constant("acquired" as const), slot: fc.maxSafeNat() }),
  fc.record({ type: fc.constant("replyNextTx" as const), transaction: fc.option(transaction, { nil: undefined }) }),
  fc.record({ type: fc.constant("hasTx" as const), id: fc.record({ era: fc.nat({ max: 7 }), hash }) }),
  fc.record({ type: fc.constant("replyHasTx" as const), has: fc.boolean() }),
  fc.record({
    type: fc.constant("replyGetSizes" as const),
    sizes: fc.record({ capacity: number, size: number, transactions: number }),
  }),
  fc.record({
    type: fc.constant("replyGetMeasures" as const),
    transactions: number,
    measures: fc.uniqueArray(fc.tuple(fc.string({ unit: "grapheme" }), measure), { selector: ([name]) => name })
      .map((entries) => new Map(entries)),
  }),
);
const handshakeMessage: fc.Arbitrary<HandshakeMessage> = fc.oneof(
  fc.record({ type: fc.constantFrom("propose" as const, "queryReply" as const), versions }),
  fc.record({
    type: fc.constant("accept" as const),
    version: fc.integer({ min: 15, max: 23 }),
    data: fc.record({ magic: number, query: fc.boolean() }),
  }),
  fc.record({
    type: fc.constant("refuse" as const),
    refusal: fc.oneof(
      fc.record({
        type: fc.constantFrom("undecoded" as const, "refused" as const),
        version,
        text: fc.string({ unit: "grapheme" }),
      }),
      fc.record({
        type: fc.constant("mismatch" as const),
        versions: fc.array(version).map((all) => all.sort((a, b) => a - b)),
      }),
    ),
  }),
);

function same<S extends string, M extends Message>(make: () => Protocol<S, M>, messages: fc.Arbitrary<M>): void {
  // one codec for many messages, as on a connection
  fc.assert(fc.property(fc.array(messages, { maxLength: 12 }), (all) => {
    const [writer, reader] = [make(), make()];
    for (const message of all) expect(reader.decode(concat(...writer.encode(message)))).toEqual(message);
  }));
}

describe("messages", () => {
  it("of chain-sync", () => same(chainSync, chainSyncMessage));
  it("of local-tx-submission", () => same(() => txSubmission, submissionMessage));
  it("of local-tx-monitor", () => same(() => txMonitor, monitorMessage));
  it("of local-state-query", () => same(() => stateQuery, stateQueryMessage));
  it("of the handshake", () => same(() => handshake, handshakeMessage));
});

/** Both sides of a protocol, connected without a socket. */
function pair<S extends string, M extends Message>(protocol: Protocol<S, M>) {
  const carrier = { failure: undefined, schedule: () => {} };
  const make = (side: "client" | "server") => {
    const channel = new Channel(carrier, protocol.id, protocol.limits[side]);
    const sent: Uint8Array[] = [];
    channel.send = (parts) => void sent.push(concat(...parts));
    const ended: NodeError[] = [];
    const fail = (reason: NodeError) => ended[ended.push(reason) - 1]!;
    return { speaker: new Speaker(protocol, channel, side, fail), channel, sent, ended };
  };
  return { client: make("client"), server: make("server") };
}

describe("whose turn it is", () => {
  const move = (message: MonitorMessage) => message;

  it("is enforced by each side for itself: a message out of turn is not sent", () => {
    const { client, server } = pair(txMonitor);
    expect(() => client.speaker.send(move({ type: "nextTx" }))).toThrow("must not be sent while idle");
    expect(() => server.speaker.send(move({ type: "acquired", slot: 1 }))).toThrow("must not be sent while idle");
    client.speaker.send({ type: "acquire" });
    expect(() => client.speaker.send({ type: "acquire" })).toThrow("must not be sent while acquiring");
    expect([client.sent.length, server.sent.length]).toEqual([1, 0]);
  });

  it("is enforced by each side for the other: a message out of turn ends the connection", () => {
    const { client, server } = pair(txMonitor);
    client.channel.receive(concat(...txMonitor.encode({ type: "acquired", slot: 1 })));
    expect(() => client.speaker.next()).toThrow("local-tx-monitor: acquired came while idle");
    server.channel.receive(concat(...txMonitor.encode({ type: "release" })));
    expect(() => server.speaker.next()).toThrow("local-tx-monitor: release came while idle");
    for (const { ended } of [client, server]) expect(ended.map(({ code }) => code)).toEqual(["protocol_violation"]);
  });

  it("lets a client pipeline where every answer leads to the same state, and nowhere else", () => {
    const protocol = chainSync();
    const { client, server } = pair(protocol);
    for (let i = 0; i < 3; i++) client.speaker.send({ type: "requestNext" });
    for (const bytes of client.sent) server.channel.receive(bytes);
    expect(server.speaker.next()).toEqual({ type: "requestNext" });
    // the second request is not accepted before the first is answered
    expect(() => server.speaker.next()).toThrow("requestNext came while next");
    const answers = [{ type: "awaitReply" }, { type: "rollForward", block: Uint8Array.of(1), tip: originTip }] as const;
    for (const answer of answers) client.channel.receive(concat(...protocol.encode(answer)));
    expect(client.speaker.next()).toEqual(answers[0]);
    expect([client.speaker.state, client.speaker.outstanding]).toEqual(["must", 3]);
    expect(client.speaker.next()).toEqual(answers[1]);
    expect([client.speaker.state, client.speaker.outstanding]).toEqual(["next", 2]);
    expect(() => client.speaker.send({ type: "awaitReply" })).toThrow("must not be sent");
  });
});
