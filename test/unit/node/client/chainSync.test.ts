/**
 * Following real chains over a real socket: cuts, broken connections, rollbacks, slow readers, many clients, aborts.
 */
import { afterEach, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { origin, type Point, type Tip } from "#src/cardano/block.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { NodeError } from "#src/node/errors.ts";
import { followNode, type FollowState } from "#src/node/client/follow.ts";
import { readHeader } from "#src/node/client/header.ts";
import { type NodeServer, type NodeServerOptions, serveNode } from "#src/node/server/server.ts";
import type { NodeHandlers } from "#src/node/server/handlers.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { type ChainBlock, fragment, readChunk, ServedChain, socketPath } from "../../../support/chain/nodeChain.ts";
import { seeded } from "../../../support/base/seededRandom.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(
  handlers: Omit<NodeHandlers, "magic">,
  options: NodeServerOptions = {},
): Promise<{ path: string; server: NodeServer }> {
  const at = { path: socketPath() };
  const server = await serveNode(at, { magic: 2, ...handlers }, options);
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  return { ...at, server: server.value };
}

async function connect(path: string, depth?: number): Promise<NodeConnection> {
  const connection = await connectNode({ path }, { magic: 2, ...(depth === undefined ? {} : { depth }) });
  if (!connection.ok) throw new Error(connection.error.message);
  closing.push(() => connection.value.close());
  return connection.value;
}

/** A follower that keeps the chain it gets, and throws when a step does not fit. */
class Kept {
  readonly blocks: Tip[] = [];
  steps = 0;
  rollbacks = 0;

  take(step: SyncStep): void {
    this.steps++;
    if (step.type === "forward") {
      const tip = readHeader(step.block);
      const before = this.blocks.at(-1);
      if (before && tip.height !== before.height + 1) throw new Error(`${tip.height} after ${before.height}`);
      this.blocks.push(tip);
      return;
    }
    this.rollbacks++;
    while (this.blocks.length > 0 && this.blocks.at(-1)!.hash !== step.point.hash) this.blocks.pop();
    if (step.point.slot >= 0 && this.blocks.length === 0 && this.steps > 1) {
      throw new Error("a rollback to an unknown block");
    }
  }
}

const names = [
  "preview-genesis-00000-00004",
  "preview-hardfork-00059-00060",
  "preview-babbage-00299",
  "preview-babbage-01836",
];

/** The stream of a connection and of a followed node have the type of the chain port's `follow`. */
const _ofTheConnection: (connection: NodeConnection) => RawChainPort["follow"] = (connection) => (points, signal) =>
  connection.follow(points, signal);
const _ofANode: RawChainPort["follow"] = (points, signal) => followNode({ path: "" }, { magic: 1 }, points, signal);
const _toServe: (port: RawChainPort) => NodeHandlers = (port) => ({ magic: 1, follow: port.follow });

describe("chain-sync over a socket", () => {
  const small = readChunk("preview-babbage-00299");
  const tips = (blocks: readonly ChainBlock[]) => blocks.map(({ tip }) => tip);

  it.each(names)("gives %s unchanged, however it is cut on the way", async (name) => {
    const blocks = readChunk(name);
    const chain = new ServedChain();
    chain.add(...blocks);
    const { path } = await serve(chain);
    const relay = await fragment(path, seeded(blocks.length));
    closing.push(relay.close);
    const connection = await connect(relay.path);
    let at = 0;
    for await (const step of connection.follow([])) {
      if (step.type === "backward") expect(step.point).toEqual(origin);
      else if (toHex(step.block) !== toHex(blocks[at++]!.bytes)) throw new Error(`block ${at} differs`);
      expect(step.tip).toEqual(chain.tip);
      if (at === blocks.length) break;
    }
    expect(at).toBe(blocks.length);
  });

  it("starts at the newest point that the node has", async () => {
    const chain = new ServedChain();
    chain.add(...small);
    const { path } = await serve(chain);
    const first = async (points: readonly Point[]) => {
      const connection = await connect(path);
      const steps: SyncStep[] = [];
      for await (const step of connection.follow(points)) {
        steps.push(step);
        if (steps.length === 2) break;
      }
      connection.close();
      return steps.map((step) => step.type === "backward" ? step.point.slot : readHeader(step.block).slot);
    };
    const [a, b, c] = tips(small);
    const unknown = { slot: b!.slot + 1, hash: "00".repeat(32) };
    expect(await first([unknown, b!, a!])).toEqual([b!.slot, c!.slot]);
    expect(await first([unknown])).toEqual([-1, a!.slot]);
    expect(await first([origin])).toEqual([-1, a!.slot]);
  });

  it("continues after rollbacks among pipelined requests, at random, and at the tip", async () => {
    const random = seeded(7);
    const chain = new ServedChain();
    let given = 60;
    chain.add(...small.slice(0, given));
    const { path } = await serve(chain);
    const connection = await connect(path, 50);
    const kept = new Kept();
    const roll = () => {
      const back = Math.min(given, 1 + Math.floor(random() * 20));
      chain.rollBack(back);
      given -= back;
    };
    const grow = () => {
      const more = 1 + Math.floor(random() * 9);
      chain.add(...small.slice(given, given + more));
      given = Math.min(small.length, given + more);
    };
    for await (const step of connection.follow([])) {
      kept.take(step);
      const end = kept.steps >= 600;
      if (kept.blocks.length === small.length && end) break;
      if (!end && random() < 0.08) roll();
      if (random() < 0.5) grow();
      // another chain than the one that was given
      if (kept.blocks.at(-1)?.hash === chain.tip.hash) given === small.length ? roll() : grow();
    }
    expect(kept.blocks).toEqual(tips(small));
    expect(kept.rollbacks).toBeGreaterThan(5);
  });

  it("waits at the tip with one open request, and gets a block and a rollback as they happen", async () => {
    const chain = new ServedChain();
    chain.add(...small.slice(0, 5));
    const { path } = await serve(chain);
    const connection = await connect(path);
    const kept = new Kept();
    let most = 0;
    const events: (() => void)[] = [
      () => chain.add(small[5]!),
      () => chain.rollBack(3),
      () => chain.add(...small.slice(3, 8)),
    ];
    for await (const step of connection.follow([])) {
      kept.take(step);
      if (kept.blocks.length === 8) break;
      if (kept.blocks.at(-1)?.hash !== chain.tip.hash) continue;
      setTimeout(() => {
        most = Math.max(most, connection.outstanding);
        events.shift()?.();
      }, 5);
    }
    expect(kept.blocks).toEqual(tips(small.slice(0, 8)));
    expect(most).toBe(1);
  });

  it("reconnects when the connection breaks, and gets rollbacks that happened meanwhile", async () => {
    const random = seeded(3);
    const chain = new ServedChain();
    chain.add(...small);
    const { path } = await serve(chain);
    const relay = await fragment(path, random);
    closing.push(relay.close);
    relay.breakAfter = 60_000;
    const kept = new Kept();
    const states: FollowState[] = [];
    const options = {
      magic: 2,
      firstWaitMs: 1,
      longestWaitMs: 5,
      onState: (state: FollowState) => void states.push(state),
    };
    let stage = 0;
    for await (const step of followNode({ path: relay.path }, options, [], new AbortController().signal)) {
      kept.take(step);
      if (stage === 0 && relay.connections === 3) {
        // the chain is now shorter than what was given
        stage = 1;
        relay.drop();
        chain.rollBack(small.length - kept.blocks.length + 7);
      } else if (stage === 1 && kept.blocks.at(-1)?.hash === chain.tip.hash) {
        // at the tip: the connection breaks, and the chain grows meanwhile
        stage = 2;
        setTimeout(() => {
          relay.drop();
          chain.add(...small.slice(kept.blocks.length));
        }, 10);
      }
      if (kept.blocks.length === small.length) break;
    }
    expect(stage).toBe(2);
    expect(kept.rollbacks).toBeGreaterThan(1);
    expect(kept.blocks).toEqual(tips(small));
    expect(states.filter(({ type }) => type === "connected").length).toBeGreaterThan(4);
    expect(new Set(states.flatMap((state) => state.type === "disconnected" ? [state.failure.code] : []))).toEqual(
      new Set(["connection_lost"]),
    );
  });

  it("follows a node that is away at first, and throws what another attempt cannot fix", async () => {
    const chain = new ServedChain();
    chain.add(...small.slice(0, 3));
    const at = { path: socketPath() };
    const states: FollowState[] = [];
    const options = {
      magic: 2,
      firstWaitMs: 1,
      longestWaitMs: 4,
      onState: (state: FollowState) => void states.push(state),
    };
    setTimeout(async () => {
      const server = await serveNode(at, { magic: 2, ...chain });
      if (server.ok) closing.push(() => server.value.close());
    }, 30);
    const kept = new Kept();
    for await (const step of followNode(at, options, [], new AbortController().signal)) {
      kept.take(step);
      if (kept.blocks.length === 3) break;
    }
    expect(states[0]).toMatchObject({ type: "disconnected", failure: { code: "socket_missing" } });
    const wrong = followNode(at, { ...options, magic: 1 }, [], new AbortController().signal).next();
    await expect(wrong).rejects.toMatchObject({ code: "wrong_magic" });
    const few = followNode({ path: socketPath() }, { ...options, attempts: 3 }, [], new AbortController().signal)
      .next();
    await expect(few).rejects.toMatchObject({ code: "socket_missing" });
  });

  it("leaves nothing open after an abort, at the tip or in the middle", async () => {
    const chain = new ServedChain();
    chain.add(...small);
    const { path, server } = await serve(chain);
    for (const at of [0, 1, 37, small.length]) {
      const stop = new AbortController();
      let blocks = 0;
      for await (const step of followNode({ path }, { magic: 2 }, [], stop.signal)) {
        if (step.type === "forward") blocks++;
        if (blocks === at) setTimeout(() => stop.abort(), at === small.length ? 10 : 0);
      }
      expect(blocks).toBeGreaterThanOrEqual(at);
    }
    while (server.connections > 0 || chain.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("follows twice on one connection: outstanding answers are received first", async () => {
    const chain = new ServedChain();
    chain.add(...small);
    const { path } = await serve(chain);
    const connection = await connect(path);
    for (let round = 0; round < 3; round++) {
      const kept = new Kept();
      for await (const step of connection.follow([])) {
        kept.take(step);
        if (kept.blocks.length === 70) break;
      }
      expect(kept.blocks).toEqual(tips(small.slice(0, 70)));
    }
  });

  it("serves many readers at once; a slow one only delays its own chain", async () => {
    const blocks = readChunk("preview-babbage-01836");
    const chain = new ServedChain();
    chain.add(...blocks);
    const { path } = await serve(chain);
    const slow = (await connect(path)).follow([]);
    await slow.next();
    await slow.next();
    const before = chain.stepsSent;
    const all = await Promise.all([...Array(6).keys()].map(async () => {
      const kept = new Kept();
      for await (const step of (await connect(path)).follow([])) {
        kept.take(step);
        if (kept.blocks.length === blocks.length) break;
      }
      return kept.blocks.length;
    }));
    expect(all).toEqual(Array(6).fill(blocks.length));
    // the slow client was sent what it had requested and no more
    expect(chain.stepsSent - before).toBeLessThan(6 * blocks.length + 150);
    expect((await slow.next()).value).toMatchObject({ type: "forward" });
    await slow.return();
  });

  it("throws for a block of an unknown era, and the connection ends with that reason", async () => {
    const chain = { follow: small[0] && oddFollow(small[0]) } as NodeHandlers;
    const { path } = await serve(chain);
    const connection = await connect(path);
    const steps = connection.follow([]);
    await steps.next();
    await expect(steps.next()).rejects.toMatchObject({ code: "era_unknown" });
    expect((connection.ended.reason as NodeError).code).toBe("era_unknown");
    expect(await connection.mempool()).toMatchObject({ ok: false, error: { code: "era_unknown" } });
  });

  it("ends a stream with the reason when its server stops", async () => {
    const chain = new ServedChain();
    chain.add(...small.slice(0, 2));
    const { path, server } = await serve(chain);
    const connection = await connect(path);
    const steps = connection.follow([]);
    for (let i = 0; i < 3; i++) await steps.next();
    const waiting = expect(steps.next()).rejects.toMatchObject({ code: "connection_lost" });
    await server.close();
    await waiting;
    await expect(connection.follow([]).next()).rejects.toMatchObject({ code: "connection_lost" });
  });
});

function oddFollow(block: ChainBlock): NonNullable<NodeHandlers["follow"]> {
  return async function* () {
    const tip = { ...block.tip, height: block.tip.height + 1 };
    yield { type: "backward", point: origin, tip };
    // this server does not decode the blocks that it forwards
    const odd = block.bytes.slice();
    odd[1] = 9;
    yield { type: "forward", block: odd, tip };
  };
}
