/** Nonsense sent to UTxO RPC: it is answered with a status, or its connection ends, and the others go on. */
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import { servedWorld, TRANSPORTS, utxorpcClients } from "../../support/utxorpc/utxorpcChain.ts";

const world = servedWorld(38);
// whatever was sent, the next request is answered
afterEach(async () => {
  expect((await world.grpc.query.readParams({})).ledgerTip?.hash.length).toBe(32);
});

const random = seeded(38);
const noise = (length: number) => Uint8Array.from({ length }, () => Math.floor(random() * 256));
const refused = (answer: Promise<unknown>) => answer.then(() => undefined, ConnectError.from);

/** Sends bytes on a connection; gives what came back until its end, or until nothing came for a while. */
function sent(...parts: readonly (Uint8Array | string)[]): Promise<string> {
  const { hostname, port } = new URL(world.served.messages);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk) => text += chunk.toString("latin1"));
    socket.on("error", end);
    socket.on("close", end);
    socket.setTimeout(1_500, end);
    for (const part of parts) socket.write(part);
  });
}

const PATH = "/utxorpc.v1alpha.query.QueryService/ReadUtxos";
const post = (body: Uint8Array, type = "application/grpc-web+proto", path = PATH) =>
  fetch(world.served.messages + path, {
    method: "POST",
    headers: { "content-type": type },
    body: new Uint8Array(body),
  });

test("random bytes instead of a request", async () => {
  for (const length of [1, 2, 3, 10, 100, 5_000]) await sent(noise(length));
  await sent("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", noise(500));
  await sent("P", "R", "I * HTT", noise(20));
  await sent("GET / HTTP/1.1\r\nhost");
  expect(await sent(`POST ${PATH} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/);
  expect(await sent("POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")).toMatch(/^HTTP\/1.1 404/);
});

test("wrong paths, methods and content types", async () => {
  expect((await post(noise(5), "application/grpc-web", "/utxorpc.v9.query.QueryService/ReadUtxos")).status).toBe(404);
  expect((await post(noise(5), "text/plain")).status).toBe(415);
  expect((await post(noise(5), "application/json; charset=latin1")).status).toBeGreaterThanOrEqual(400);
  expect((await fetch(world.served.messages + PATH)).status).toBe(405);
});

test("bodies that are no messages", async () => {
  for (const length of [0, 3, 5, 50]) {
    const answer = await post(noise(length));
    expect([200, 400]).toContain(answer.status);
    const status = answer.headers.get("grpc-status") ?? /grpc-status: (\d+)/.exec(await answer.text())?.[1];
    expect(["3", "8", "12", "13"]).toContain(status);
  }
  const json = await post(new TextEncoder().encode(`{"keys": [{"hash": 5}]}`), "application/json");
  expect([json.status, (await json.json()).code]).toEqual([400, "invalid_argument"]);
  // a frame that says that it has four gigabytes
  const huge = await post(new Uint8Array([0, 255, 255, 255, 255, 1]));
  expect(await huge.text() + huge.headers.get("grpc-status")).toMatch(/8/);
});

test("messages that are too long", async () => {
  const big = await refused(world.grpc.submit.submitTx({ tx: { type: { case: "raw", value: noise(3_000_000) } } }));
  expect(big?.code).toBe(8);
  const transaction = await refused(
    world.grpc.submit.submitTx({ tx: { type: { case: "raw", value: noise(500_000) } } }),
  );
  expect(transaction).toMatchObject({ code: 3, rawMessage: expect.stringContaining("could not process tx") });
});

test("requests with values that mean nothing", async () => {
  const hash = new Uint8Array(31);
  const deep = (levels: number): object => levels === 0 ? {} : { not: [deep(levels - 1)] };
  const requests: [Promise<unknown>, number][] = [
    [world.grpc.query.readUtxos({ keys: [{ hash, index: 0 }] }), 3],
    [world.grpc.query.readUtxos({ keys: [{ hash: new Uint8Array(32), index: 70_000 }] }), 3],
    [world.grpc.query.readUtxos({ keys: Array.from({ length: 5_001 }, () => ({ hash: new Uint8Array(32) })) }), 3],
    [world.grpc.query.readTx({ hash }), 3],
    [world.grpc.query.readTx({ hash: new Uint8Array(32) }), 5],
    [world.grpc.query.readData({ keys: [new Uint8Array(32)] }), 5],
    [world.grpc.query.searchUtxos({ maxItems: -1 }), 3],
    [world.grpc.query.searchUtxos({ startToken: "'; drop table devnet_utxo; --" }), 3],
    [world.grpc.query.searchUtxos({ predicate: deep(17) }), 3],
    [world.grpc.query.searchUtxos({ predicate: { anyOf: Array.from({ length: 201 }, () => ({})) } }), 3],
    ...([
      { address: { paymentPart: new Uint8Array(27) } },
      { address: { delegationPart: new Uint8Array(29) } },
      { address: { exactAddress: new Uint8Array(201) } },
      { asset: { policyId: new Uint8Array(5) } },
      { asset: { assetName: new Uint8Array(5) } },
      { asset: { policyId: new Uint8Array(28), assetName: new Uint8Array(33) } },
    ].map((value): [Promise<unknown>, number] => [
      world.grpc.query.searchUtxos({ predicate: { match: { utxoPattern: { case: "cardano", value } } } }),
      3,
    ])),
    [world.grpc.submit.submitTx({}), 3],
    [world.grpc.submit.evalTx({ tx: {} }), 3],
    [world.grpc.submit.evalTx({ tx: { type: { case: "raw", value: noise(200) } } }), 3],
    [world.grpc.sync.fetchBlock({ ref: [{ hash: new Uint8Array(3) }] }), 3],
    [world.grpc.sync.fetchBlock({ ref: [{ slot: 999_999_999n }] }), 5],
    [world.grpc.sync.fetchBlock({ ref: [{ height: 2n ** 64n - 1n }] }), 5],
    [world.grpc.sync.dumpHistory({ startToken: { hash: new Uint8Array(32) } }), 5],
    [world.grpc.submit.waitForTx({ ref: [hash] })[Symbol.asyncIterator]().next(), 3],
    [
      world.grpc.submit.waitForTx({ ref: Array.from({ length: 101 }, () => new Uint8Array(32)) })
        [Symbol.asyncIterator]()
        .next(),
      3,
    ],
  ];
  const codes = await Promise.all(requests.map(async ([request]) => (await refused(request))?.code));
  expect(codes).toEqual(requests.map(([, code]) => code));
});

test("many streams that are opened and reset at once", async () => {
  const session = connectHttp2(world.served.messages);
  session.on("error", () => {});
  for (let i = 0; i < 300; i++) {
    const stream = session.request({
      ":method": "POST",
      ":path": PATH,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {});
    stream.close(8);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  session.destroy();
});

test("a search that needs the index, on a devnet without it", async () => {
  const { port, stop } = await world.served.serve({ index: false });
  const { query } = utxorpcClients(TRANSPORTS.gRPC!(`http://127.0.0.1:${port}`));
  const asset = { policyId: new Uint8Array(28) };
  const search = query.searchUtxos({ predicate: { match: { utxoPattern: { case: "cardano", value: { asset } } } } });
  expect((await refused(search))?.code).toBe(12);
  expect((await refused(query.readTx({ hash: new Uint8Array(32) })))?.code).toBe(12);
  expect((await query.searchUtxos({ maxItems: 3 })).items.length).toBe(3);
  await stop();
});

test("pages of other sites may call", async () => {
  const preflight = await fetch(world.served.messages + PATH, {
    method: "OPTIONS",
    headers: {
      "origin": "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,dmtr-api-key,x-grpc-web",
    },
  });
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST, OPTIONS",
    "access-control-allow-headers": "content-type,dmtr-api-key,x-grpc-web",
  });
  const answer = await fetch(`${world.served.messages}/utxorpc.v1alpha.sync.SyncService/ReadTip`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", "origin": "https://app.example" },
    body: new Uint8Array(5),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("access-control-expose-headers")).toContain("grpc-status");
  await answer.body?.cancel();
});

test("a port that is taken is refused with its code", async () => {
  const { hostname, port } = new URL(world.served.messages);
  const { utxorpcService } = await import("#src/devnet/serve/utxorpc/service.ts");
  const { devnet, store, bus } = world.served.chain;
  const { silentLog: log } = await import("#src/base/log.ts");
  const service = utxorpcService({ devnet, store, bus, log, measure: () => Promise.reject() });
  await expect(service.listen({ host: hostname, port: Number(port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await until("the service closes", async () => (await service.close(), true));
});
