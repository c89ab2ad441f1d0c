/** Clients that break rules of the Ogmios server, or do not read: each harms itself at most. And how the server ends. */
import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { OgmiosClient, request } from "../../support/ogmios/ogmiosClient.ts";
import { OgmiosDevnet } from "../../support/ogmios/ogmiosDevnet.ts";
import { until } from "../../support/base/until.ts";

let world: OgmiosDevnet;

beforeAll(async () => {
  world = await OgmiosDevnet.start(5, 12);
}, 120_000);
afterAll(() => world?.stop());

const MEBIBYTE = 1_048_576;

/** That the server answers a new client. */
async function expectServed(): Promise<void> {
  const client = await world.open();
  expect(await client.ask("queryNetwork/blockHeight")).toMatchObject({ result: expect.any(Number) });
  await client.close();
}

/** A connection of TCP that sends some bytes; what it receives until its end. */
async function raw(bytes: string): Promise<{ socket: net.Socket; received: () => string }> {
  const socket = net.connect(world.port(), "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => text += chunk);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  return { socket, received: () => text };
}

const handshake = (headers = "") =>
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${
    Buffer.alloc(16).toString("base64")
  }\r\n${headers}\r\n`;

describe("a client", () => {
  test("that sends 10 MB is disconnected", async () => {
    const client = await world.open();
    client.send("x".repeat(10 * MEBIBYTE));
    expect(await client.closed()).toMatchObject({ code: expect.toBeOneOf([1006, 1009]) });
    const response = await fetch(world.url(), { method: "POST", body: "x".repeat(10 * MEBIBYTE) }).catch(() =>
      undefined
    );
    if (response) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: -32600 }, id: null });
    }
    await expectServed();
  });

  test("that sends nonsense of 8 MB is answered", async () => {
    const client = await world.open();
    client.send("[".repeat(8 * MEBIBYTE));
    expect(await client.next()).toMatchObject({ error: { code: -32600 } });
    client.send(request("queryNetwork/tip", undefined, "y".repeat(4 * MEBIBYTE)));
    expect(await client.next()).toMatchObject({ id: "y".repeat(4 * MEBIBYTE) });
    await client.close();
  });

  test("that speaks no WebSocket, or half of it, harms no other client", async () => {
    const sockets = await Promise.all([
      raw("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
      raw("\u0000\u0001\u0002"),
      raw(handshake()),
      // a frame without a mask, a reserved operation, a frame that never ends
      raw(handshake() + "\u0081\u0001x"),
      raw(handshake() + "\u008f\u0080aaaa"),
      raw(handshake() + "\u0081\u00feaaaaaaaa"),
    ]);
    const [noKey, noHttp, ...rest] = sockets;
    await until("refusals", async () => noKey!.received() !== "" && noHttp!.socket.closed);
    expect(noKey!.received()).toMatch(/^HTTP\/1\.1 4\d\d /);
    for (const { received } of rest) await until("an upgrade", async () => received().startsWith("HTTP/1.1 101 "));
    await expectServed();
    for (const { socket } of sockets) socket.destroy();
    await expectServed();
  });

  test("under another name is refused: a page of a site whose name points here", async () => {
    const refused = new WebSocket(world.url(6, "ws"), { headers: { host: "evil.example" } });
    const [error] = await once(refused, "error");
    expect(String(error)).toMatch(/403/);
    const service = OgmiosDevnet.service(world.chain, { hosts: ["ogmios.internal"] });
    const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
    const allowed = await OgmiosClient.open(`ws://127.0.0.1:${port}`, { host: "OGMIOS.internal:1337" });
    expect(await allowed.ask("queryNetwork/blockHeight")).toMatchObject({ result: expect.any(Number) });
    await service.close();
  });

  test("that sends 20,000 requests gets 20,000 answers in order", async () => {
    const client = await world.open();
    for (let i = 0; i < 20_000; i++) client.send(request("releaseLedgerState", undefined, i));
    for (let i = 0; i < 20_000; i++) expect((await client.next()).id).toBe(i);
    await client.close();
  }, 60_000);

  test("that does not read is not read from: what waits is bounded, and goes on when it reads", async () => {
    const client = await world.open();
    client.socket.pause();
    const ask = request("queryLedgerState/protocolParameters", undefined, "z".repeat(20_000));
    const count = 2_000;
    for (let i = 0; i < count; i++) client.send(ask);
    // the server has stopped to read: the rest stays with the client
    let before = -1;
    await until(
      "a stop",
      async () => {
        const now = client.socket.bufferedAmount;
        const isStill = now === before;
        before = now;
        return isStill;
      },
      60_000,
      1_000,
    );
    expect(before).toBeGreaterThan(10 * MEBIBYTE);
    await expectServed();
    client.socket.resume();
    for (let i = 0; i < count; i++) await client.text();
    expect(client.socket.bufferedAmount).toBe(0);
    await client.close();
  }, 120_000);

  test("that goes while blocks, states and mempools are waited for leaves nothing behind", async () => {
    const { slot, hash: id } = world.chain.devnet.tip();
    for (let i = 0; i < 20; i++) {
      const client = await world.open();
      await client.ask("acquireLedgerState", { point: { slot, id } });
      await client.ask("findIntersection", { points: [{ slot, id }] });
      await client.ask("nextBlock");
      for (let n = 0; n < 100; n++) client.send(request("nextBlock"));
      await client.ask("acquireMempool");
      client.send(request("acquireMempool"));
      if (i % 2) client.socket.terminate();
      else await client.close();
    }
    await until("no connection", async () => {
      const health = await (await fetch(`${world.url()}/health`)).json() as { metrics: { activeConnections: number } };
      return health.metrics.activeConnections === 0;
    });
    await world.chain.block(0);
    await expectServed();
  });
});

describe("parameters of any form", () => {
  const hash = "ab".repeat(32);
  /** Parameters of each method that has some. */
  const PARAMS: Readonly<Record<string, Json>> = {
    findIntersection: { points: [{ slot: 1, id: hash }, "origin"] },
    acquireLedgerState: { point: { slot: 1, id: hash } },
    nextTransaction: { fields: "all" },
    hasTransaction: { id: hash },
    submitTransaction: { transaction: { cbor: "84a0a0f5f6" } },
    evaluateTransaction: {
      transaction: { cbor: "84a0a0f5f6" },
      additionalUtxo: [{
        transaction: { id: hash },
        index: 0,
        address: "addr_test1vr686uwydwt6vg4az7fr6w9ufw443uyhvs68hvzhllngksq3uw3e3",
        value: { ada: { lovelace: 1 }, ["cd".repeat(28)]: { "": 1 } },
        datumHash: hash,
        script: { language: "native", json: { clause: "all", from: [{ clause: "after", slot: 1 }] } },
      }],
    },
    "queryNetwork/genesisConfiguration": { era: "shelley" },
    "queryLedgerState/utxo": { outputReferences: [{ transaction: { id: hash }, index: 0 }], addresses: [] },
    "queryLedgerState/rewardAccountSummaries": { keys: ["cd".repeat(28)], scripts: [] },
    "queryLedgerState/projectedRewards": { stake: [{ ada: { lovelace: 1 } }], keys: ["cd".repeat(28)], scripts: [] },
    "queryLedgerState/stakePools": { stakePools: [{ id: poolId("cd".repeat(28)) }], includeStake: true },
    "queryLedgerState/delegateRepresentatives": { keys: ["cd".repeat(28)], scripts: [] },
    "queryLedgerState/governanceProposals": { proposals: [{ transaction: { id: hash }, index: 0 }] },
  };
  const ODD: readonly Json[] = [
    ...[null, true, -1, 0.5, 1e300, 2 ** 31, 2 ** 53, 2n ** 64n, -(2n ** 70n), "", "0", "zz", "ab".repeat(40)],
    ...["\u0000", "addr1", "stake_test1", [], {}, [[]], { id: 1 }, { __proto__: null }, { ada: {} }, { slot: 0 }],
  ];

  /** The value with an odd one at one of its places; undefined where there is none left. */
  function altered(value: Json, place: { left: number }, odd: Json): Json {
    if (place.left-- === 0) return odd;
    if (Array.isArray(value)) return value.map((one) => altered(one, place, odd));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, altered(one, place, odd)]));
  }

  test.each(Object.entries(PARAMS))("of %s are answered, and are no fault of the server", async (method, params) => {
    const client = await world.open();
    const faults: string[] = [];
    for (let place = 0;; place++) {
      const left = { left: place };
      altered(params, left, null);
      if (left.left >= 0) break;
      for (const odd of ODD) {
        const sent = altered(params, { left: place }, odd);
        const { error } = await client.ask(method, sent);
        if ((error as { code?: number } | undefined)?.code === -32603) faults.push(toJson(sent));
      }
    }
    expect(faults).toEqual([]);
    await client.close();
  }, 60_000);
});

describe("the server", () => {
  test("refuses further connections over its limit", async () => {
    const clients = await Promise.all(Array.from({ length: 256 }, () => world.open()));
    await expect(world.open()).rejects.toThrow(/503/);
    await clients.pop()!.close();
    await expectServed();
    await Promise.all(clients.map((client) => client.close()));
  });

  test("rejects a port that is taken", async () => {
    const service = OgmiosDevnet.service(world.chain);
    await expect(service.listen({ host: "127.0.0.1", port: world.port() })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await service.close();
  });

  test("says why when it ends, also to a client that does not read", async () => {
    const service = OgmiosDevnet.service(world.chain);
    const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
    const [waiting, silent] = await Promise.all([
      OgmiosClient.open(`ws://127.0.0.1:${port}`),
      OgmiosClient.open(`ws://127.0.0.1:${port}`),
    ]);
    await waiting.ask("acquireMempool");
    waiting.send(request("acquireMempool"));
    silent.socket.pause();
    await service.close();
    const { code, reason } = await waiting.closed();
    expect([code, JSON.parse(reason)]).toEqual([
      1000,
      { id: null, code: -32000, message: "Connection with the node lost or failed." },
    ]);
    silent.socket.resume();
    await silent.closed();
    await expect(OgmiosClient.open(`ws://127.0.0.1:${port}`)).rejects.toThrow();
  });

  test("closes connections whose devnet has stopped, with the same reason", async () => {
    const other = await OgmiosDevnet.start(6, 0);
    const client = await other.open();
    await client.ask("acquireMempool");
    await other.chain.devnet.stop();
    const health = await fetch(`${other.url()}/health`);
    expect([health.status, await health.json()]).toEqual([
      500,
      expect.objectContaining({ connectionStatus: "disconnected", networkSynchronization: null, currentEra: null }),
    ]);
    client.send(request("acquireMempool"));
    expect(JSON.parse((await client.closed()).reason)).toMatchObject({ code: -32000 });
    const single = await fetch(other.url(), { method: "POST", body: request("acquireMempool") });
    expect([single.status, await single.json()]).toEqual([500, expect.objectContaining({ code: -32000 })]);
    await other.stop();
  });
});
