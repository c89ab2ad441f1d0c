/** Following a chain over Ogmios' WebSocket: reconnection, rollbacks, back-pressure, and servers that contradict themselves. */
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { createLog } from "#src/base/log.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { decode, type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { isOnChain } from "#src/chain/provider/isOnChain.ts";
import { type OgmiosPort, ogmiosPort, type OgmiosPortSettings } from "#src/chain/provider/ogmios/port.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";
import { byronChain } from "../../../../support/chain/byron.ts";
import { MemoryChain } from "../../../../support/chain/memoryChain.ts";
import { type OgmiosChain, serveOgmiosChain } from "../../../../support/chain/ogmiosChain.ts";
import { type Following, followScanned, reaches } from "../../../../support/chain/scannedChain.ts";
import { until } from "../../../../support/base/until.ts";
import { newRef, person } from "../../../../support/wallets/person.ts";

const anna = person("anna");
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

let served: OgmiosChain;
let port: OgmiosPort;
let said: string[] = [];

afterEach(async () => {
  port?.close();
  await served?.stop();
  said = [];
});

/** An unsigned transaction with an input that does not exist. */
function payment(): Uint8Array {
  const { txHash, index } = newRef();
  const body = new Map<number, Encodable>([
    [0, new Tagged(258, [[fromHex(txHash), index]])],
    [1, [new Map<number, Encodable>([[0, fromHex(anna.enterprise)], [1, 4_800_000]])]],
    [2, 200_000],
  ]);
  return encode([body, new Map(), true, null]);
}

type DropFirst<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

function serve(
  chain: MemoryChain,
  settings: Partial<OgmiosPortSettings> = {},
  ...how: DropFirst<Parameters<typeof serveOgmiosChain>>
): OgmiosPort {
  served = serveOgmiosChain(chain, ...how);
  const log = createLog("info", {}, (line) => void said.push(line));
  return port = ogmiosPort({ url: served.url, magic: 42, log, firstWaitMs: 2, ...settings });
}

function following(points: readonly Point[] = [], held: readonly ScannedBlock[] = []): Following {
  const there = followScanned(port, points, held);
  onTestFinished(there.stop);
  return there;
}

/** Everything that projections use of a block. */
function plain({ slot, hash, height, previous, era, issuer, transactions }: ScannedBlock) {
  return {
    ...{ slot, hash, height, previous, era, issuer },
    transactions: transactions.map((one) => ({
      ...{ hash: one.hash, index: one.index, valid: one.valid, inputs: one.inputs, fee: one.fee, validTo: one.validTo },
      outputs: one.outputs.map(({ raw }) => toHex(raw)),
      body: toHex(one.body),
      witnesses: toHex(one.witnesses),
    })),
  };
}

const expectSame = (there: Following, chain: MemoryChain) =>
  expect(there.chain.map(plain)).toEqual(chain.blocks.map(({ scanned }) => plain(scanned)));

const chainOf = (blocks: number): MemoryChain => {
  const chain = new MemoryChain();
  for (let i = 0; i < blocks; i++) chain.add(...(i % 3 === 0 ? [payment()] : []));
  return chain;
};
const at = (chain: MemoryChain, height: number): Point => {
  const { slot, hash } = chain.blocks[height - 1]!.scanned;
  return { slot, hash };
};

describe("following", () => {
  it("gives every block with its transactions, from the origin to the tip and on", async () => {
    const chain = chainOf(250);
    serve(chain);
    const there = following();
    await reaches(there, chain.tip);
    chain.add(payment(), payment());
    await reaches(there, chain.tip);
    expect(there.steps[0]).toMatchObject({ type: "backward", point: { slot: -1, hash: "" } });
    expect(there.steps.filter(({ type }) => type === "backward")).toHaveLength(1);
    expectSame(there, chain);
  });

  it.each([6, 7] as const)("gives the same of a server of version %i without --include-cbor", async (version) => {
    const chain = chainOf(10);
    serve(chain, {}, { version });
    const there = following();
    await reaches(there, chain.tip);
    const shown = ({ transactions, ...block }: ReturnType<typeof plain>, of: ScannedBlock) => ({
      ...block,
      transactions: transactions.map(({ outputs: _, body: __, witnesses: ___, ...one }, i) => ({
        ...one,
        outputs: of.transactions[i]!.outputs.map(({ address, value, datum, script }) => ({
          address,
          value,
          datum,
          script,
        })),
      })),
    });
    expect(there.chain.map((block) => shown(plain(block), block))).toEqual(
      chain.blocks.map(({ scanned }) => shown(plain(scanned), scanned)),
    );
    // the bytes of an output are those that the rows keep
    const [output] = there.chain[0]!.transactions[0]!.outputs;
    expect(readOutput(decode(output!.raw))).toEqual(output);
  });

  it("continues from the newest point on the chain, and from the origin if none is", async () => {
    const chain = chainOf(40);
    const held = chain.blocks.map(({ scanned }) => scanned);
    const points = [40, 36, 21, 4].map((height) => at(chain, height));
    chain.rollback(10);
    for (let i = 0; i < 12; i++) chain.add();
    serve(chain);
    const there = following(points, held);
    await reaches(there, chain.tip);
    expect(there.steps[0]).toMatchObject({ type: "backward", point: points[2] });
    expectSame(there, chain);
    const other = following([{ slot: 77, hash: "ab".repeat(32) }]);
    await reaches(other, chain.tip);
    expect(other.steps[0]).toMatchObject({ type: "backward", point: { slot: -1 } });
  });

  it("gives a rollback to a shorter chain, and one deeper than the network's k", async () => {
    const chain = chainOf(60);
    serve(chain);
    const there = following();
    await reaches(there, chain.tip);
    chain.rollback(13);
    await reaches(there, chain.tip);
    chain.rollback(40, "again");
    chain.add(payment());
    await reaches(there, chain.tip);
    expectSame(there, chain);
    expect(there.steps.filter(({ type }) => type === "backward")).toHaveLength(3);
  });

  it("gives Byron's blocks with the slots of boundary blocks, which no message states; the first names the genesis", async () => {
    const blocks = byronChain(3, 2).map(({ bytes }) => ({ bytes, scanned: scanBlock(bytes) }));
    const chain = new MemoryChain();
    serve(chain, {}, undefined, ({ scanned: { hash: id, previous, height, slot, era, size } }) => ({
      ...{ type: era === 0 ? "ebb" : "bft", era: "byron", id, ancestor: previous!, height },
      ...era === 0
        ? {}
        : { slot, size: { bytes: size }, issuer: { verificationKey: "ab".repeat(64) }, transactions: [] },
    }));
    expect(await port.genesis()).toMatchObject({ value: { hash: undefined } });
    chain.blocks.push(...blocks);
    const there = following();
    await reaches(there, chain.tip);
    const placed = ({ slot, hash, height, previous, era }: ScannedBlock) => ({ slot, hash, height, previous, era });
    expect(there.chain.map(placed)).toEqual(blocks.map(({ scanned }) => placed(scanned)));
    expect(there.chain.filter(({ era }) => era === 0).map(({ slot }) => slot)).toEqual([0, 21_600, 43_200]);
    for (let i = 0; i < 2; i++) expect(await port.genesis()).toMatchObject({ value: { hash: "5f".repeat(32) } });
  });

  it("takes a tip that goes back for a rollback after the block", async () => {
    const chain = chainOf(30);
    serve(chain);
    served.alter = ({ method, times }, answer) => {
      const result = answer.result as { tip: { height: number }; block?: Block };
      if (method !== "nextBlock" || !result.block || times % 2 === 0) return undefined;
      const { slot, id, height } = result.block;
      return { ...answer, result: { ...result, tip: { slot: slot!, id: id!, height: height! } } };
    };
    const there = following();
    await reaches(there, chain.tip);
    expectSame(there, chain);
    expect(served.connections()).toBe(1);
  });

  it("requests blocks only as far as they are taken", async () => {
    const chain = chainOf(1_000);
    serve(chain);
    const steps = port.follow([], new AbortController().signal)[Symbol.asyncIterator]();
    for (let i = 0; i < 4; i++) await steps.next();
    await until("answers", async () => served.requests.filter(({ method }) => method === "nextBlock").length >= 100);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(served.requests.filter(({ method }) => method === "nextBlock").length).toBeLessThan(160);
    expect(served.inFlight()).toBeLessThanOrEqual(100);
    await steps.return!();
  });

  it("requests nothing beyond the next block at the tip", async () => {
    const chain = chainOf(5);
    serve(chain);
    const there = following();
    await reaches(there, chain.tip);
    // one backward step, five blocks and one that is awaited
    await until("a request that waits", async () => served.requests.length >= 9);
    expect(served.inFlight()).toBeLessThan(8);
  });

  it("continues over a new connection where the last one was lost, without repeating a step", async () => {
    const chain = chainOf(30);
    serve(chain);
    const there = following();
    await reaches(there, chain.tip);
    for (let i = 0; i < 3; i++) {
      served.drop();
      chain.add(payment());
      await reaches(there, chain.tip);
    }
    expectSame(there, chain);
    expect(served.connections()).toBeGreaterThan(3);
    expect(there.steps.filter(({ type }) => type === "backward")).toHaveLength(1);
    expect(there.steps).toHaveLength(34);
    expect(said.join("\n")).toMatch(/Ogmios cannot be followed.*closed the connection/);
  });

  it("begins after a block of the operator's choice", async () => {
    const chain = chainOf(20);
    serve(chain, { from: at(chain, 7) });
    const there = following();
    await reaches(there, chain.tip);
    expect(there.steps[0]).toMatchObject({ type: "backward", point: { slot: -1 } });
    expect(there.chain[0]!.height).toBe(8);
    // an index that has begun goes on from its own points, and after a loss of all of them from the start
    const later = following([at(chain, 12)], chain.blocks.slice(0, 12).map(({ scanned }) => scanned));
    await reaches(later, chain.tip);
    expect(later.steps[0]).toMatchObject({ type: "backward", point: at(chain, 12) });
    expect(await isOnChain(port, at(chain, 12), 5_000)).toBe(true);
    expect(await isOnChain(port, { slot: 3, hash: "ab".repeat(32) }, 5_000)).toBe(false);
  });

  it("ends where the chain does not have that block", async () => {
    serve(chainOf(3), { from: { slot: 2, hash: "cd".repeat(32) } });
    await expect(port.follow([], new AbortController().signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "unknown_start",
      message: expect.stringMatching(/does not know the block (cd)+ at slot 2, after which the index should start/),
    });
  });

  it("ends before an era that this release does not know", async () => {
    const chain = chainOf(5);
    serve(chain);
    served.alter = ({ method }, answer) => {
      const result = answer.result as { block?: { era: string; height: number } };
      if (method !== "nextBlock" || result.block?.height !== 4) return undefined;
      return { ...answer, result: { ...result, block: { ...result.block, era: "dijkstra" } } };
    };
    const steps: ChainStep[] = [];
    const follow = async () => {
      for await (const step of port.follow([], new AbortController().signal)) steps.push(step);
    };
    await expect(follow()).rejects.toMatchObject({ code: "era_unknown" });
    expect(steps).toHaveLength(4);
  });

  it("ends at a server of another network", async () => {
    serve(chainOf(3), { magic: 764_824_073 });
    const wrong = { code: "wrong_network", message: expect.stringContaining("magic 42, not 764824073") };
    expect(await port.check()).toMatchObject({ ok: false, error: wrong });
    await expect(port.network()).rejects.toMatchObject(wrong);
    await expect(port.follow([], new AbortController().signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      wrong,
    );
  });
});

type Result = { [name: string]: Json };
type Block = Result;

/** Misbehaviours at the block of height 5 of eight, on the first connection that gets there; and what the log says. */
const MISDEEDS: readonly (readonly [what: string, result: (block: Block, tip: Result) => Result, log: RegExp])[] = [
  ["a tip below the block", (block, tip) => ({ block, tip: { ...tip, height: 4 } }), /is after the tip at height 4/],
  ["a tip before the block", (block, tip) => ({ block, tip: { ...tip, slot: 4 } }), /is after the tip/],
  ["no tip at all", (block) => ({ block, tip: "origin" }), /is after the tip/],
  [
    "another block at the tip's height",
    (block, tip) => ({ block, tip: { ...tip, height: 5 } }),
    /is another than the tip of that height/,
  ],
  ["another ancestor", (block, tip) => ({ block: { ...block, ancestor: "ab".repeat(32) }, tip }), /does not follow/],
  ["the genesis as ancestor", (block, tip) => ({ block: { ...block, ancestor: "genesis" }, tip }), /does not follow/],
  ["a height left out", (block, tip) => ({ block: { ...block, height: 7 }, tip }), /follows height 4/],
  ["a slot that was used", (block, tip) => ({ block: { ...block, slot: 4 }, tip }), /is at slot 4, not after 4/],
  ["a block without a slot", ({ slot: _, ...block }, tip) => ({ block, tip }), /slot is not an integer/],
  ["no block", (_, tip) => ({ tip }), /the block is not an object/],
  ["an odd hash", (block, tip) => ({ block: { ...block, id: "12" }, tip }), /64 hexadecimal digits/],
  [
    "another transaction",
    (block, tip) => ({ block: { ...block, transactions: [{ id: "12".repeat(32), cbor: toHex(payment()) }] }, tip }),
    /is of another one/,
  ],
  [
    "a transaction that is none",
    (block, tip) => ({ block: { ...block, transactions: [{ id: "12".repeat(32), cbor: "8301" }] }, tip }),
    /cannot be read/,
  ],
];

describe("a server that contradicts itself", () => {
  it.each(MISDEEDS)("sends %s: the block is taken from a new connection", async (_what, resultOf, log) => {
    const chain = chainOf(8);
    serve(chain);
    let misdeeds = 0;
    served.alter = ({ method }, answer) => {
      const { block, tip } = answer.result as { block?: Block; tip: Result };
      if (method !== "nextBlock" || block?.height !== 5 || misdeeds++ > 0) return undefined;
      return { ...answer, result: { direction: "forward", ...resultOf(block, tip) } };
    };
    const there = following();
    await reaches(there, chain.tip);
    expect(misdeeds).toBeGreaterThan(1);
    expectSame(there, chain);
    expect(said.join("\n")).toMatch(log);
  });

  it.each<[string, (answer: Result) => unknown, RegExp]>([
    ["no JSON", () => ({ text: "<html>" }), /not JSON/],
    ["nothing in the message", () => ({ text: "" }), /not JSON/],
    ["a list", () => ({ text: "[]" }), /not an object/],
    ["another id", (answer) => ({ ...answer, id: 77_777 }), /an answer to no request/],
    ["no id", ({ id: _, ...answer }) => answer, /an answer to no request/],
    ["the id as text", (answer) => ({ ...answer, id: String(answer.id) }), /an answer to no request/],
    ["another method", (answer) => ({ ...answer, method: "findIntersection" }), /an answer of findIntersection to/],
    ["neither result nor error", ({ result: _, ...answer }) => answer, /without a result/],
    ["an error", ({ result: _, ...answer }) => ({ ...answer, error: { code: -32_603, message: "Oops" } }), /Oops/],
    [
      "an odd direction",
      (answer) => ({ ...answer, result: { direction: "up", tip: "origin" } }),
      /neither forward nor/,
    ],
    [
      "a rollback to a later slot",
      (answer) => ({
        ...answer,
        result: { direction: "backward", point: { slot: 9, id: "ab".repeat(32) }, tip: "origin" },
      }),
      /rolls back to a later slot/,
    ],
    ["the end of the connection", () => "close", /The node was lost/],
    ["half a message", () => "close in the middle", /cannot be followed/],
  ])("answers with %s: following goes on over a new connection", async (_what, misdeed, log) => {
    const chain = chainOf(8);
    serve(chain);
    let misdeeds = 0;
    served.alter = ({ method, times }, answer) =>
      method === "nextBlock" && times === 4 && misdeeds++ === 0 ? misdeed(answer) as never : undefined;
    const there = following();
    await reaches(there, chain.tip);
    expect(misdeeds).toBeGreaterThan(1);
    expectSame(there, chain);
    expect(said.join("\n")).toMatch(log);
  });

  it("intersects elsewhere than at a point of the request: no step is given", async () => {
    const chain = chainOf(8);
    serve(chain);
    let misdeeds = 0;
    served.alter = ({ method }, answer) =>
      method === "findIntersection" && misdeeds++ < 3
        ? { ...answer, result: { ...(answer.result as Result), intersection: { slot: 3, id: "ab".repeat(32) } } }
        : undefined;
    const there = following();
    await reaches(there, chain.tip);
    expect(there.steps.filter(({ type }) => type === "backward")).toHaveLength(1);
    expectSame(there, chain);
    expect(said.join("\n")).toMatch(/a point that was not in the request/);
  });

  it("does not answer: the connection is given up after the deadline", async () => {
    const chain = chainOf(8);
    serve(chain, { answerMs: 100, quietMs: 20 });
    served.alter = ({ connection }) => connection < 3 ? "nothing" : undefined;
    const there = following();
    await reaches(there, chain.tip);
    expectSame(there, chain);
    expect(said.join("\n")).toMatch(/did not answer queryNetwork\/genesisConfiguration within 0.1 s/);
  });

  it("stalls in the middle of the chain: its tip tells that there are blocks", async () => {
    const chain = chainOf(8);
    serve(chain, { quietMs: 20 });
    let stalled = 0;
    served.alter = ({ method, connection, times }) =>
      method === "nextBlock" && connection === 1 && times > 3 && ++stalled > 0 ? "nothing" : undefined;
    const there = following();
    await reaches(there, chain.tip);
    expect(stalled).toBeGreaterThan(0);
    expectSame(there, chain);
    expect(said.join("\n")).toMatch(/gives no block after slot 2, and its tip is at slot 8/);
  });

  it("is silent at the tip: following stays on its connection, and is queried for its tip", async () => {
    const chain = chainOf(8);
    serve(chain, { quietMs: 10 });
    const there = following();
    await reaches(there, chain.tip);
    await until(
      "some looks",
      async () => served.requests.filter(({ method }) => method === "queryNetwork/tip").length > 5,
    );
    chain.add();
    await reaches(there, chain.tip);
    expect(served.connections()).toBe(1);
  });
});

it(`ends with the chain's blocks, whatever happens to it (SEED=${SEED})`, async () => {
  let state = SEED;
  const random = () => ((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648);
  const chain = new MemoryChain();
  serve(chain, { answerMs: 300, quietMs: 30 });
  served.alter = (_, answer) => {
    const drawn = random();
    if (drawn < 0.02) return "close";
    if (drawn < 0.03) return { text: "{" };
    if (drawn < 0.035) return "nothing";
    return drawn < 0.04 ? { ...answer, id: 123_456_789 } : undefined;
  };
  const there = following();
  for (let i = 0; i < 80; i++) {
    if (random() < 0.2) chain.rollback(Math.min(chain.blocks.length, Math.floor(random() * 12)));
    for (let n = 0; n < random() * 6; n++) chain.add(...(random() < 0.5 ? [payment()] : []));
    if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 20));
  }
  served.alter = undefined;
  chain.add(payment());
  await reaches(there, chain.tip);
  expectSame(there, chain);
}, 60_000);
