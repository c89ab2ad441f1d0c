/** The Ogmios server of a devnet: requests, order of answers, each protocol's state, rollbacks, and single requests by HTTP. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isObject, type Json } from "#src/base/json.ts";
import { toHex } from "#src/base/bytes.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { utxoJson } from "#src/ogmios/outputs.ts";
import { OgmiosClient, request } from "../../support/ogmios/ogmiosClient.ts";
import { OgmiosDevnet } from "../../support/ogmios/ogmiosDevnet.ts";
import { schemaFault } from "../../support/ogmios/golden.ts";

let world: OgmiosDevnet;
let client: OgmiosClient;

beforeAll(async () => {
  world = await OgmiosDevnet.start(7, 30);
}, 120_000);
afterAll(() => world?.stop());
beforeEach(async () => {
  client = await world.open();
});
afterEach(() => client.close());

const block = () => world.chain.block(0);
const tipOf = () => {
  const { slot, hash: id, height } = world.chain.devnet.tip();
  return { slot, id, height };
};
const pointOf = () => {
  const { slot, hash: id } = world.chain.devnet.tip();
  return { slot, id };
};
/** The places of the blocks of the chain, in order. */
async function points(): Promise<{ slot: number; id: string }[]> {
  const { blocks } = await readBlocks(world.chain.store.sql, 0, 100_000);
  return blocks.map(({ slot, hash: id }) => ({ slot, id }));
}
/** A transaction that the ledger takes, and is not submitted. */
async function payment(): Promise<{ cbor: string; id: string }> {
  const bytes = await world.chain.draft("pay");
  if (!bytes) throw new Error("there is no coin to pay with");
  return { cbor: toHex(bytes), id: scanTransaction(bytes).hash };
}

describe("a request", () => {
  const TIP = '"jsonrpc":"2.0","method":"queryNetwork/tip"';

  test.each([
    '{"requestId":"a","n":[1,2.5,{"x":null}]}',
    "12345678901234567890123",
    "1.50",
    "1e400",
    '{"deep":{"number":0.1000}}',
    '"text with \\" and \\u2028"',
    "true",
    "null",
    "[]",
  ])("with the id %s has it back digit by digit", async (id) => {
    client.send(`{${TIP},"id":${id}}`);
    const text = await client.text();
    expect(text.endsWith(`,"id":${id.replace("\\u2028", "\u2028")}}`), text).toBe(true);
  });

  test("without an id is answered with null, and other members are ignored", async () => {
    client.send(`{${TIP},"type":"jsonwsp/request","servicename":"ogmios","result":null}`);
    expect(await client.next()).toEqual({ jsonrpc: "2.0", method: "queryNetwork/tip", result: pointOf(), id: null });
  });

  test("may be in a binary frame", async () => {
    client.send(new TextEncoder().encode(request("queryNetwork/tip")));
    expect(await client.next()).toMatchObject({ result: pointOf() });
  });

  test.each([
    ["[]", "must be a well-formed JSON object"],
    [`[{${TIP}}]`, "must be a well-formed JSON object"],
    ["", "must be a well-formed JSON object"],
    ["{", "must be a well-formed JSON object"],
    ["null", "must be a well-formed JSON object"],
    ["\u0000", "must be a well-formed JSON object"],
    ["[".repeat(1_000), "must not be nested more than 200 levels deep"],
    ['{"jsonrpc":"2.0"}', "field 'method' must be present and be a string"],
    ['{"jsonrpc":"2.0","method":7}', "field 'method' must be present and be a string"],
    ['{"method":"queryNetwork/tip"}', "field 'jsonrpc' must be present and be \"2.0\""],
    ['{"jsonrpc":2,"method":"queryNetwork/tip"}', "field 'jsonrpc' must be present and be \"2.0\""],
    [request("QueryNetwork/tip"), "unknown method in 'method' (beware names are case-sensitive)"],
    [request("toString"), "unknown method in 'method' (beware names are case-sensitive)"],
    [request("queryNetwork/tip", [1]), "'params' must be an object"],
    [request("findIntersection"), "field 'points' is not a list"],
    [request("findIntersection", { points: [1] }), "the point is not an object"],
    [request("findIntersection", { points: [{ slot: -1, id: "00".repeat(32) }] }), "slot is negative"],
    [request("findIntersection", { points: [{ slot: 1, id: "00" }] }), "id is not 64 hexadecimal digits"],
    [request("acquireLedgerState"), "the point is not an object"],
    [request("nextTransaction", { fields: "some" }), "Invalid argument to 'fields'. Expected 'all'"],
    [request("hasTransaction", { id: 5 }), "field 'id' is not 64 hexadecimal digits"],
    [request("submitTransaction", { transaction: { cbor: "xy" } }), "field 'cbor' is not hexadecimal"],
    [
      request("evaluateTransaction", { transaction: { cbor: "80" }, additionalUtxo: [1] }),
      "field 'additionalUtxo': 0: the output is not an object",
    ],
    [
      request("queryNetwork/genesisConfiguration", { era: "mary" }),
      "field 'era' is none of byron, shelley, alonzo, conway",
    ],
    [
      request("queryLedgerState/dump", { to: "/tmp/dump" }),
      "'queryLedgerState/dump' writes to the server's disk and is not supported",
    ],
    [request("queryLedgerState/utxo", { wrong: 1 }), "field 'outputReferences' or 'addresses' not found"],
    [
      request("queryLedgerState/utxo", { addresses: ["addr1"] }),
      "The checksum of this address is wrong, or it is cut short",
    ],
    [
      request("queryLedgerState/rewardAccountSummaries", { keys: ["00"] }),
      "Unable to decode credential. It must be base16 of 28 bytes, or bech32 with one of the prefixes: stake, stake_vkh or script",
    ],
    [request("queryLedgerState/stakePools", { stakePools: [{ id: "pool" }] }), "the pool's id is not pool1…"],
  ])("that is %s cannot be used", async (text, why) => {
    client.send(text);
    const answer = await client.next();
    expect(answer).toEqual({
      jsonrpc: "2.0",
      error: { code: -32600, message: `Invalid request: ${why}.` },
      id: null,
    });
    expect(await client.ask("queryNetwork/tip")).toMatchObject({ result: pointOf() });
  });

  test("that cannot be used has its id in the answer", async () => {
    client.send('{"jsonrpc":"2.0","method":"unheard","id":{"n":9007199254740993}}');
    expect(await client.text()).toMatch(/"id":\{"n":9007199254740993\}\}$/);
  });
});

describe("chain synchronisation", () => {
  test("begins at the origin, gives the chain in order, and waits at the tip", async () => {
    const all = await points();
    for (let i = 0; i < all.length + 2; i++) client.send(request("nextBlock", undefined, i));
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      method: "nextBlock",
      result: { direction: "backward", point: "origin", tip: tipOf() },
      id: 0,
    });
    for (const [i, point] of all.entries()) {
      const { id, result } = await client.next() as { id: number; result: { direction: string; block: Json } };
      expect([id, result.direction]).toEqual([i + 1, "forward"]);
      expect(result.block).toMatchObject({ ...point, height: i });
    }
    await block();
    expect(await client.next()).toMatchObject({
      id: all.length + 1,
      result: { direction: "forward", block: tipOf(), tip: tipOf() },
    });
  });

  test("at the tip holds up no query", async () => {
    await client.ask("findIntersection", { points: [pointOf()] });
    expect(await client.ask("nextBlock")).toMatchObject({ result: { direction: "backward", point: pointOf() } });
    client.send(request("nextBlock", undefined, "block"));
    client.send(request("queryNetwork/tip", undefined, 1));
    client.send(request("acquireMempool", undefined, 2));
    client.send(request("queryNetwork/blockHeight", undefined, 3));
    const ids = [await client.next(), await client.next(), await client.next()].map(({ id }) => id);
    expect(ids.toSorted()).toEqual([1, 2, 3]);
    expect(ids.indexOf(1)).toBeLessThan(ids.indexOf(3));
    await block();
    expect(await client.next()).toMatchObject({ id: "block", result: { block: tipOf() } });
  });

  test("finds the first of the points, as they are given", async () => {
    const all = await points();
    const [early, late] = [all[3]!, all[8]!];
    const unknown = { slot: early.slot, id: "ab".repeat(32) };
    const elsewhere = { slot: late.slot + 1, id: late.id };
    for (
      const [given, found] of [
        [[early, late], early],
        [[late, early], late],
        [[unknown, elsewhere, late], late],
        [["origin", late], "origin"],
        [[unknown, "origin"], "origin"],
      ] as const
    ) {
      const answer = await client.ask("findIntersection", { points: given as unknown as Json });
      expect(answer.result).toEqual({ intersection: found, tip: tipOf() });
      expect(schemaFault("FindIntersectionResponse", answer)).toBeUndefined();
      expect(await client.ask("nextBlock")).toMatchObject({ result: { direction: "backward", point: found } });
    }
    for (const given of [[unknown, elsewhere], []]) {
      const none = await client.ask("findIntersection", { points: given as unknown as Json });
      expect(none.error).toMatchObject({ code: 1000, data: { tip: tipOf() } });
      expect(schemaFault("FindIntersectionResponse", none)).toBeUndefined();
    }
    // the cursor stays where it was
    expect(await client.ask("nextBlock")).toMatchObject({ result: { direction: "forward", block: all[0] } });
  });

  test("refuses an intersection while blocks are outstanding, and that alone", async () => {
    await client.ask("findIntersection", { points: [pointOf()] });
    await client.ask("nextBlock");
    client.send(request("nextBlock", undefined, 1));
    client.send(request("findIntersection", { points: ["origin"] }, 2));
    const refused = await client.next();
    expect(refused).toMatchObject({ id: 2, error: { code: 1001 } });
    expect(schemaFault("FindIntersectionResponse", refused)).toBeUndefined();
    await block();
    expect(await client.next()).toMatchObject({ id: 1, result: { direction: "forward", block: tipOf() } });
    expect(await client.ask("findIntersection", { points: ["origin"] })).toMatchObject({
      result: { intersection: "origin" },
    });
  });

  test("goes back with a rollback, to a client that waits and to one that is behind", async () => {
    await block();
    await block();
    const behind = await world.open();
    const all = await points();
    await behind.ask("findIntersection", { points: [all.at(-1)!] });
    await behind.ask("nextBlock");
    await client.ask("findIntersection", { points: [all.at(-1)!] });
    await client.ask("nextBlock");
    client.send(request("nextBlock"));
    const height = all.length - 3;
    const undone = await world.chain.devnet.rollback({ height });
    expect(undone.ok).toBe(true);
    const back = { direction: "backward", point: all[height], tip: { ...all[height], height } };
    expect(await client.next()).toMatchObject({ result: back });
    await block();
    expect(await client.ask("nextBlock")).toMatchObject({ result: { direction: "forward", block: tipOf() } });
    expect(await behind.ask("nextBlock")).toMatchObject({ result: { ...back, tip: tipOf() } });
    expect(await behind.ask("nextBlock")).toMatchObject({ result: { direction: "forward", block: tipOf() } });
    await behind.close();
  });

  test("has the CBOR of transactions where that is wanted", async () => {
    const service = OgmiosDevnet.service(world.chain, { includeCbor: true });
    const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
    const other = await OgmiosClient.open(`ws://127.0.0.1:${port}/any/path?at=all`);
    await other.ask("nextBlock");
    const { result } = await other.ask("nextBlock") as {
      result: { block: { transactions: { id: string; cbor: string }[] } };
    };
    expect(result.block.transactions.length).toBeGreaterThan(0);
    for (const { id, cbor } of result.block.transactions) {
      expect(scanTransaction(Uint8Array.from(Buffer.from(cbor, "hex"))).hash).toBe(id);
    }
    await service.close();
  });
});

describe("the ledger's state", () => {
  const epoch = () => client.ask("queryLedgerState/epoch");
  const tip = async () => (await client.ask("queryLedgerState/tip")).result;

  test("stays that of the acquired point until it is acquired again or released", async () => {
    const point = pointOf();
    expect(await client.ask("acquireLedgerState", { point })).toMatchObject({
      result: { acquired: "ledgerState", point },
    });
    await block();
    expect(await tip()).toEqual(point);
    expect((await client.ask("queryNetwork/tip")).result).toEqual(point);
    const later = pointOf();
    expect(await client.ask("acquireLedgerState", { point: later })).toMatchObject({ result: { point: later } });
    expect(await tip()).toEqual(later);
    expect(await client.ask("releaseLedgerState")).toMatchObject({ result: { released: "ledgerState" } });
    await block();
    expect(await tip()).toEqual(pointOf());
    expect(await client.ask("releaseLedgerState")).toMatchObject({ result: { released: "ledgerState" } });
  });

  test("of a point that is unknown or too old cannot be acquired; the connection stays", async () => {
    const unknown = await client.ask("acquireLedgerState", { point: { slot: 1, id: "ab".repeat(32) } });
    expect(unknown.error).toEqual({
      code: 2000,
      message: "Failed to acquire requested point.",
      data: "Acquired point no longer exist.",
    });
    expect(schemaFault("AcquireLedgerStateResponse", unknown)).toBeUndefined();
    for (let i = 0; i < 42; i++) await block();
    const old = await client.ask("acquireLedgerState", { point: "origin" });
    expect(old.error).toMatchObject({ code: 2000, data: "Acquired point is now too old." });
    expect(await epoch()).toMatchObject({ result: expect.any(Number) });
  });

  test("is released after a time without a query", async () => {
    const service = OgmiosDevnet.service(world.chain, { idleMs: 20 });
    const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
    const other = await OgmiosClient.open(`ws://127.0.0.1:${port}`);
    await other.ask("acquireLedgerState", { point: pointOf() });
    let answer = await other.ask("queryLedgerState/epoch");
    // each query renews the time, so wait longer from one to the next
    for (let ms = 30; answer.error === undefined && ms < 2_000; ms *= 2) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      answer = await other.ask("queryLedgerState/epoch");
    }
    expect(answer.error).toEqual({
      code: 2003,
      message: "Cannot perform query from previously acquired point.",
      data: "Acquired point no longer exist.",
    });
    expect(schemaFault("QueryLedgerStateEpochResponse", answer)).toBeUndefined();
    expect(await other.ask("acquireLedgerState", { point: pointOf() })).toMatchObject({ result: { point: pointOf() } });
    expect(await other.ask("queryLedgerState/epoch")).toMatchObject({ result: expect.any(Number) });
    await service.close();
  });
});

describe("the mempool", () => {
  test("must be acquired first", async () => {
    for (
      const [method, params] of [
        ["nextTransaction"],
        ["hasTransaction", { id: "ab".repeat(32) }],
        ["sizeOfMempool"],
        ["releaseMempool"],
      ] as const
    ) {
      const answer = await client.ask(method, params);
      expect(answer.error).toEqual({
        code: 4000,
        message: "You must acquire a mempool snapshot prior to accessing it.",
      });
      expect(schemaFault(`${method[0]!.toUpperCase()}${method.slice(1)}Response`, answer)).toBeUndefined();
    }
  });

  test("is walked once, and acquired again only when it has changed", async () => {
    await block();
    await client.ask("acquireMempool");
    expect(await client.ask("nextTransaction")).toMatchObject({ result: { transaction: null } });
    client.send(request("acquireMempool", undefined, "changed"));
    client.send(request("nextTransaction", undefined, "first"));
    // what waits holds up no other protocol
    const { cbor, id } = await payment();
    expect(await client.ask("submitTransaction", { transaction: { cbor } }, "sent")).toMatchObject({
      id: "sent",
      result: { transaction: { id } },
    });
    expect(await client.next()).toMatchObject({
      id: "changed",
      result: { acquired: "mempool", slot: world.chain.devnet.slot() + 1 },
    });
    expect(await client.next()).toMatchObject({ id: "first", result: { transaction: { id } } });
    expect(await client.ask("nextTransaction", { fields: "all" })).toMatchObject({ result: { transaction: null } });
    expect(await client.ask("hasTransaction", { id })).toMatchObject({ result: true });
    expect(await client.ask("hasTransaction", { id: "ab".repeat(32) })).toMatchObject({ result: false });
    expect((await client.ask("sizeOfMempool")).result).toEqual({
      maxCapacity: { bytes: 4_000_000 },
      currentSize: { bytes: cbor.length / 2 },
      transactions: { count: 1 },
    });
    expect(await client.ask("releaseMempool")).toMatchObject({ result: { released: "mempool" } });
    expect(await client.ask("sizeOfMempool")).toMatchObject({ error: { code: 4000 } });
    expect(await client.ask("acquireMempool")).toMatchObject({ result: { acquired: "mempool" } });
    await block();
  });
});

describe("a transaction", () => {
  const submit = (cbor: string) => client.ask("submitTransaction", { transaction: { cbor } });
  const evaluate = (cbor: string, additionalUtxo?: Json, from = client) =>
    from.ask("evaluateTransaction", { transaction: { cbor }, ...(additionalUtxo ? { additionalUtxo } : {}) });
  /** A transaction that runs scripts, and the outputs that it refers to. */
  async function scripted(): Promise<{ cbor: string; known: Json[] }> {
    for (let i = 0; i < 100; i++) {
      const bytes = await world.chain.draft("unlock");
      if (bytes) {
        const { inputs, references, collateral } = scanTransaction(bytes);
        const utxo = (await world.chain.devnet.query((state) => state.utxo))!;
        const known = [...inputs, ...references, ...collateral].map((ref) => utxoJson({ ref, output: utxo.get(ref)! }));
        return { cbor: toHex(bytes), known };
      }
      await world.chain.block(3);
    }
    throw new Error("no output is locked by a script");
  }

  const idOf = (output: Json) => (output as { transaction: { id: string } }).transaction.id;

  test("that is none is refused with a reason for each era", async () => {
    for (const method of ["submitTransaction", "evaluateTransaction"]) {
      for (const version of [6, 7] as const) {
        const other = await world.open(version);
        const answer = await other.ask(method, { transaction: { cbor: "80" } });
        expect(answer.error).toMatchObject({ code: -32602, data: { conway: expect.any(String) } });
        if (version === 7) {
          expect(schemaFault(`${method[0]!.toUpperCase()}${method.slice(1)}Response`, answer)).toBeUndefined();
        }
        await other.close();
      }
    }
  });

  test("that was taken is refused when it is spent", async () => {
    const { cbor, id } = await payment();
    expect(await submit(cbor)).toMatchObject({ result: { transaction: { id } } });
    await block();
    const refused = await submit(cbor);
    expect(refused.error).toMatchObject({ code: expect.any(Number) });
    expect(schemaFault("SubmitTransactionResponse", refused)).toBeUndefined();
  });

  test("is evaluated as the ledger runs it, signed or not", async () => {
    const { cbor } = await scripted();
    const answer = await evaluate(cbor);
    const redeemers = answer.result as { validator: { purpose: string } }[];
    expect(new Set(redeemers.map(({ validator }) => validator.purpose))).toEqual(new Set(["spend"]));
    expect(schemaFault("EvaluateTransactionResponse", answer)).toBeUndefined();
    const { cbor: plain } = await payment();
    expect(await evaluate(plain)).toMatchObject({ result: [] });
  });

  test("is evaluated with additional outputs, which must not contradict the chain in version 6", async () => {
    const { cbor, known } = await scripted();
    const expected = (await evaluate(cbor)).result!;
    expect(await evaluate(cbor, known)).toMatchObject({ result: expected });
    const other = known.map((one) => isObject(one) ? { ...one, value: { ada: { lovelace: 5_000_000 } } } : one);
    const overlap = await evaluate(cbor, other);
    expect(overlap.error).toMatchObject({ code: 3002, data: { overlappingOutputReferences: expect.any(Array) } });
    expect(schemaFault("EvaluateTransactionResponse", overlap)).toBeUndefined();
    const seven = await world.open(7);
    expect(await evaluate(cbor, other, seven)).toMatchObject({ result: expect.any(Array) });
    await seven.close();
  });

  test("with unknown inputs fails for each of its scripts, unless the outputs are given", async () => {
    // redeemers count inputs in their order, which stays
    const lost = (id: string) => `${id.slice(0, 60)}abcd`;
    const { cbor, known } = await scripted();
    const spent = idOf(known[0]!);
    const minting = toHex((await world.chain.draft("plutusMint"))!);
    const [coin] = scanTransaction(Uint8Array.from(Buffer.from(minting, "hex"))).inputs;
    const { txHash } = coin!;
    for (const transaction of [cbor.replaceAll(spent, lost(spent)), minting.replaceAll(txHash, lost(txHash))]) {
      const answer = await evaluate(transaction);
      const { code, data } = answer.error as { code: number; data: { error: { code: number } }[] };
      // where an unknown output had the script, nothing says that the input needs one
      expect([code, data.length, ...data.map(({ error }) => error.code)]).toEqual([
        3010,
        data.length,
        ...data.map(() => expect.toBeOneOf([3110, 3117])),
      ]);
      expect(data.length).toBeGreaterThan(0);
      expect(schemaFault("EvaluateTransactionResponse", answer)).toBeUndefined();
    }
    const moved = cbor.replaceAll(spent, lost(spent));
    const given = known.map((one) =>
      idOf(one) === spent ? { ...one as object, transaction: { id: lost(spent) } } as Json : one
    );
    expect(await evaluate(moved, given)).toMatchObject({ result: expect.any(Array) });
  });
});

describe("HTTP", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(world.url(), { method: "POST", body, headers });

  test("plays one request: 200 for a result, 400 for an error, and no state stays", async () => {
    for (const type of ["application/json", "text/plain"]) {
      const response = await post(request("queryNetwork/tip", undefined, { n: 1 }), { "content-type": type });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(await response.json()).toEqual({
        jsonrpc: "2.0",
        method: "queryNetwork/tip",
        result: pointOf(),
        id: { n: 1 },
      });
    }
    for (let i = 0; i < 2; i++) {
      expect(await (await post(request("nextBlock"))).json()).toMatchObject({
        result: { direction: "backward", point: "origin" },
      });
    }
    await post(request("acquireMempool"));
    const refused = await post(request("nextTransaction"));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 4000 } });
    const nonsense = await post("[]");
    expect(nonsense.status).toBe(400);
    expect(await nonsense.json()).toMatchObject({ error: { code: -32600 }, id: null });
  });

  test("has health, and the same numbers as metrics", async () => {
    const response = await fetch(`${world.url()}/health`);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('"networkSynchronization":1.00000,');
    expect(JSON.parse(text)).toEqual({
      startTime: expect.stringMatching(/^\d{4}-.*Z$/),
      lastKnownTip: tipOf(),
      lastTipUpdate: expect.stringMatching(/^\d{4}-.*Z$/),
      networkSynchronization: 1,
      currentEra: "conway",
      metrics: {
        runtimeStats: {
          maxHeapSize: expect.any(Number),
          currentHeapSize: expect.any(Number),
          cpuTime: expect.any(Number),
          gcCpuTime: 0,
        },
        activeConnections: 1,
        totalConnections: expect.any(Number),
        sessionDurations: { mean: expect.any(Number), min: expect.any(Number), max: expect.any(Number) },
        totalMessages: expect.any(Number),
        totalUnrouted: expect.any(Number),
      },
      connectionStatus: "connected",
      currentEpoch: Math.floor(tipOf().slot / 10),
      slotInEpoch: tipOf().slot % 10,
      version: expect.stringMatching(/^v6\.14\.0 /),
      network: "unknown (42)",
    });
    const metrics = await fetch(`${world.url(7)}/metrics`);
    expect(metrics.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const lines = (await metrics.text()).split("\n");
    expect(lines).toContain("ogmios_connected 1");
    expect(lines).toContain("# TYPE ogmios_total_messages counter");
    expect(lines).toContain(`ogmios_tip_slot ${tipOf().slot}`);
    const seven = await fetch(`${world.url(7)}/health`);
    expect(await seven.json()).toMatchObject({ version: expect.stringMatching(/^v7\.0\.0 /) });
  });

  test("knows no other path or method", async () => {
    for (
      const [method, path, status] of [
        ["GET", "/unknown", 404],
        ["POST", "/unknown", 404],
        ["PUT", "/", 406],
        ["POST", "/health", 406],
        ["DELETE", "/metrics", 406],
      ] as const
    ) {
      const response = await fetch(world.url() + path, { method });
      expect([response.status, await response.text()], `${method} ${path}`).toEqual([status, ""]);
    }
  });

  test("lets pages of every origin call it", async () => {
    const preflight = await fetch(world.url(), {
      method: "OPTIONS",
      headers: { origin: "https://example.com", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(200);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("*");
  });

  test("has a page where there are pages", async () => {
    const pages = new URL("../../../src/pages/", import.meta.url);
    const service = OgmiosDevnet.service(world.chain, { pages });
    const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await response.text()).toContain(`http://127.0.0.1:${port}`);
    await service.close();
  });
});
