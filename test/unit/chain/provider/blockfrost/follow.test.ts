/** Following a chain through a Blockfrost service: real blocks over HTTP, with rollbacks. */
import { afterEach, describe, expect, it } from "vitest";
import { createServer } from "node:http";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { requireFollowable } from "#src/chain/provider/blockfrost/follow.ts";
import { blockfrostDialect } from "#src/chain/provider/blockfrost/dialect.ts";
import { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { type Following, followScanned, reaches } from "../../../../support/chain/scannedChain.ts";
import { until } from "../../../../support/base/until.ts";
import { newRef, person } from "../../../../support/wallets/person.ts";
import { eras } from "../../../../support/blockfrost/blockfrostDocuments.ts";

const anna = person("anna");
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

let served: Served | undefined;
let port: BlockfrostPort | undefined;

afterEach(async () => {
  port?.close();
  await served?.close();
  [served, port] = [undefined, undefined];
});

/** An unsigned transaction with an input that does not exist. */
function payment(): { cbor: Uint8Array } {
  const { txHash, index } = newRef();
  const body = new Map<number, Encodable>([
    [0, new Tagged(258, [[fromHex(txHash), index]])],
    [1, [new Map<number, Encodable>([[0, fromHex(anna.enterprise)], [1, 4_800_000]])]],
    [2, 200_000],
  ]);
  return { cbor: encode([body, new Map(), true, null]) };
}

async function serve(chain: MemoryChain, k = 2160): Promise<BlockfrostPort> {
  const memory = memoryPort(chain, { random: () => 0.5 });
  const network = { ...await memory.network(), securityParameter: k };
  served = await serveBlockfrost({ ...memory, network: () => Promise.resolve(network) });
  port = blockfrostPort({
    url: served.url,
    magic: 42,
    log: silentLog,
    pollMs: 5,
    rate: { perSecond: 5_000, burst: 5_000 },
    firstWaitMs: 1,
  });
  await until("the service", async () => served!.reached(chain.tip.hash));
  return port;
}

/** Everything that projections use of a block. */
function plain({ slot, hash, height, previous, era, transactions }: ScannedBlock) {
  return {
    ...{ slot, hash, height, previous, era },
    transactions: transactions.map((one) => ({
      ...{ hash: one.hash, index: one.index, valid: one.valid, inputs: one.inputs, fee: one.fee, validTo: one.validTo },
      outputs: one.outputs.map(({ raw }) => toHex(raw)),
      body: toHex(one.body),
      witnesses: toHex(one.witnesses),
    })),
  };
}

function expectSame(there: Following, chain: MemoryChain): void {
  expect(there.chain.map(plain)).toEqual(chain.blocks.map(({ scanned }) => plain(scanned)));
  expect(served!.problems).toEqual([]);
}

describe("following a Blockfrost service", () => {
  it("gives every block with its transactions, from the origin to the tip and on", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 130; i++) chain.add(...Array.from({ length: i % 3 }, () => payment().cbor));
    const there = followScanned(await serve(chain));
    await reaches(there, chain.tip);
    chain.add(payment().cbor);
    await reaches(there, chain.tip);
    await there.stop();
    expect(there.steps[0]).toMatchObject({ type: "backward", point: { slot: -1, hash: "" } });
    expectSame(there, chain);
  });

  it("reads all pages of a block's transactions", async () => {
    const chain = new MemoryChain();
    chain.add();
    chain.add(...Array.from({ length: 230 }, () => payment().cbor));
    const there = followScanned(await serve(chain));
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
    expect(served!.requests.filter((path) => path.includes("/txs/cbor"))).toHaveLength(3);
  });

  it("continues from the newest point on the chain, and requests nothing for blocks without transactions", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 40; i++) chain.add();
    const held = chain.blocks.map(({ scanned }) => scanned);
    const points = [39, 35, 20, 3].map((i) => held[i]!).map(({ slot, hash }) => ({ slot, hash }));
    chain.rollback(10);
    for (let i = 0; i < 12; i++) chain.add();
    const there = followScanned(await serve(chain), points, held);
    await reaches(there, chain.tip);
    await there.stop();
    expect(there.steps[0]).toMatchObject({ type: "backward", point: { slot: held[20]!.slot, hash: held[20]!.hash } });
    expectSame(there, chain);
    expect(served!.requests.filter((path) => path.includes("/txs"))).toEqual([]);
  });

  it("goes back to the origin if no point is on the chain", async () => {
    const chain = new MemoryChain();
    chain.add();
    const there = followScanned(await serve(chain), [{ slot: 77, hash: "ab".repeat(32) }]);
    await reaches(there, chain.tip);
    await there.stop();
    expect(there.steps[0]).toMatchObject({ type: "backward", point: { slot: -1 } });
  });

  it("detects a rollback to a shorter chain", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 30; i++) chain.add(payment().cbor);
    const there = followScanned(await serve(chain));
    await reaches(there, chain.tip);
    chain.rollback(13);
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
  });

  it("finds the fork of a deep rollback with few requests", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 600; i++) chain.add();
    const there = followScanned(await serve(chain));
    await reaches(there, chain.tip);
    served!.requests.length = 0;
    chain.rollback(500);
    for (let i = 0; i < 3; i++) chain.add();
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
    expect(there.steps.filter(({ type }) => type === "backward")).toHaveLength(2);
    const looks = new Set(served!.requests.filter((path) => /blocks\/\d+$/.test(path)));
    expect(looks.size).toBeLessThan(25);
  });

  it("treats a block as gone that is rolled back between two requests about it", async () => {
    const chain = new MemoryChain();
    chain.add();
    const doomed = chain.add(payment().cbor, payment().cbor);
    await serve(chain);
    let hit = 0;
    served!.fault = (path, times) => {
      if (!path.includes(`${doomed.hash}/txs`) || times > 1) return undefined;
      hit++;
      return { status: 404, body: `{"status_code":404,"error":"Not Found","message":"gone"}` };
    };
    const there = followScanned(port!);
    await until("the question", async () => hit > 0);
    chain.rollback(1);
    chain.add(payment().cbor);
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
  });

  it("requests transactions one by one from a service that only lists them", async () => {
    const chain = new MemoryChain();
    chain.add(payment().cbor, payment().cbor, payment().cbor);
    await serve(chain);
    served!.lacks = ["/blocks/{hash_or_number}/txs/cbor"];
    const there = followScanned(port!);
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
  });

  it.each([
    ["another transaction", (cbor: string) => [{ tx_hash: "12".repeat(32), cbor }], /another transaction than/],
    ["bytes that are not a transaction", () => [{ tx_hash: "12".repeat(32), cbor: "8301" }], /invalid transaction/],
    ["fewer than exist", () => [], /0 transactions of block .* expected 1/],
    ["something else", () => [{ hash: 1 }], /malformed data/],
  ])("ends if the service reports %s", async (_what, responseOf, message) => {
    const chain = new MemoryChain();
    const { cbor } = payment();
    chain.add(cbor);
    await serve(chain);
    served!.fault = (path) =>
      path.includes("/txs/cbor") ? { body: JSON.stringify(responseOf(toHex(cbor))) } : undefined;
    await expect((async () => {
      for await (const _ of port!.follow([], new AbortController().signal));
    })()).rejects.toThrow(message);
  });

  it("fails if a block states more transactions than possible", async () => {
    const chain = new MemoryChain();
    chain.add(payment().cbor);
    await serve(chain);
    const block = await (await fetch(`${served!.url}/blocks/1`)).json();
    served!.fault = (path) =>
      /blocks\/1$/.test(path) ? { body: JSON.stringify({ ...block, tx_count: 1e15 }) } : undefined;
    await expect((async () => {
      for await (const _ of port!.follow([], new AbortController().signal));
    })()).rejects.toThrow(/tx_count: more than fit/);
  });

  it("fails if the chain's first block is not available", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 3; i++) chain.add();
    await serve(chain);
    served!.fault = (path) => /blocks\/1$/.test(path) ? { status: 404, body: "{}" } : undefined;
    await expect((async () => {
      for await (const _ of port!.follow([], new AbortController().signal));
    })()).rejects.toThrow(/does not return the chain's first block/);
  });

  it("stops before an unsupported era, with its own code", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 4; i++) chain.add(payment().cbor);
    const port = await serve(chain);
    const known = eras(1_000) as { start: { slot: number }; end: object }[];
    const newest = known.at(-1)!;
    const next = { ...newest, start: { ...newest.start, slot: chain.blocks[2]!.scanned.slot } };
    served!.fault = (path) => path.endsWith("/network/eras") ? { body: JSON.stringify([...known, next]) } : undefined;
    const steps: ChainStep[] = [];
    const follow = async () => {
      for await (const step of port.follow([], new AbortController().signal)) steps.push(step);
    };
    await expect(follow()).rejects.toMatchObject({ code: "era_unknown" });
    expect(await port.eras()).toMatchObject({ ok: false, error: { message: expect.stringContaining("era_unknown") } });
  });

  it("waits for a chain that has not begun", async () => {
    const chain = new MemoryChain();
    const there = followScanned(await serve(chain));
    await until("a look", async () => served!.requests.length > 3);
    chain.add(payment().cbor);
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
  });

  it("starts a new index at the configured block", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 10; i++) chain.add(payment().cbor);
    await serve(chain);
    const from = chain.blocks[6]!.scanned.hash;
    const late = blockfrostPort({ url: served!.url, magic: 42, log: silentLog, pollMs: 5, from });
    const there = followScanned(late);
    await reaches(there, chain.tip);
    await there.stop();
    expect(await late.check()).toMatchObject({ ok: true });
    expect(there.chain.map(({ hash }) => hash)).toEqual(chain.blocks.slice(6).map(({ scanned }) => scanned.hash));
    late.close();
    const lost = blockfrostPort({ url: served!.url, magic: 42, log: silentLog, pollMs: 5, from: "00".repeat(32) });
    expect(await lost.check()).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("does not know the block") },
    });
    await expect((async () => {
      for await (const _ of lost.follow([], new AbortController().signal));
    })()).rejects.toThrow("does not know the block");
    lost.close();
  });

  it(`ends with the chain's blocks, whatever happens to it (SEED=${SEED})`, async () => {
    let state = SEED;
    const random = () => ((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648);
    const chain = new MemoryChain();
    await serve(chain, 50);
    const statuses = [429, 500, 503, 425];
    served!.fault = () => {
      const drawn = random();
      if (drawn < 0.03) return { status: statuses[Math.floor(random() * 4)]!, body: "{}" };
      return drawn < 0.04 ? { cutAfter: 10 } : undefined;
    };
    const there = followScanned(port!);
    for (let i = 0; i < 80; i++) {
      if (random() < 0.2) chain.rollback(Math.min(chain.blocks.length, Math.floor(random() * 12)));
      for (let n = 0; n < random() * 6; n++) chain.add(...(random() < 0.5 ? [payment().cbor] : []));
      if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 20));
    }
    served!.fault = () => undefined;
    chain.add(payment().cbor);
    await reaches(there, chain.tip);
    await there.stop();
    expectSame(there, chain);
  });
});

it("a service that does not give the blocks after another is refused", async () => {
  const newest = {
    time: 0,
    height: 7,
    hash: "07".repeat(32),
    slot: 70,
    epoch: 0,
    previous_block: "06".repeat(32),
    tx_count: 0,
    size: 9,
  };
  let known = 2;
  const server = createServer(({ url }, response) => {
    const found = url === "/blocks/latest" ? newest : known < 2 && known++ > 0 ? [] : undefined;
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? { status_code: 404, error: "Not Found", message: "not there" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const http = new BlockfrostHttp({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}` });
  try {
    await expect(requireFollowable(http, blockfrostDialect(http))).rejects.toMatchObject({
      failure: { code: "unusable" },
    });
    // absent once: rolled back meanwhile
    known = 0;
    await requireFollowable(http, blockfrostDialect(http));
    expect(known).toBe(2);
  } finally {
    http.close();
    server.close();
  }
});
