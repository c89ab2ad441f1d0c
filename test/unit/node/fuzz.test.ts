/** Garbage to both sides: the connection ends with a reason, other connections go on, nothing is thrown elsewhere. */
import net from "node:net";
import process from "node:process";
import { afterEach, describe, expect, it } from "vitest";
import { concat } from "#src/base/bytes.ts";
import { ok } from "#src/base/result.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { NodeError } from "#src/node/errors.ts";
import { handshake, versionTable } from "#src/node/protocols/handshake.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import { originTip } from "#src/node/protocols/values.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { seeded } from "../../support/base/seededRandom.ts";

const closing: (() => unknown)[] = [];
const outside: unknown[] = [];
const note = (error: unknown) => void outside.push(error);
process.on("unhandledRejection", note);
process.on("uncaughtException", note);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  expect(outside).toEqual([]);
});

const sdu = (protocol: number, payload: Uint8Array) =>
  concat(
    new Uint8Array(4),
    Uint8Array.of(protocol >> 8, protocol & 255, payload.length >> 8, payload.length & 255),
    payload,
  );

const propose = sdu(0, concat(...handshake.encode({ type: "propose", versions: versionTable([20], 2, false) })));
const accept = sdu(
  0x8000,
  concat(...handshake.encode({ type: "accept", version: 20, data: { magic: 2, query: false } })),
);

/** Bytes from random ones to almost valid messages. */
function garbage(random: () => number, fromServer: boolean): Uint8Array {
  const int = (n: number) => Math.floor(random() * n);
  const bytes = () => Uint8Array.from({ length: 1 + int(40) }, () => int(256));
  const item = (depth: number): Encodable => {
    const kind = int(depth > 3 ? 4 : 6);
    if (kind === 0) return int(40);
    if (kind === 1) return bytes();
    if (kind === 2) return "text";
    if (kind === 3) return random() < 0.5;
    return Array.from({ length: int(4) }, () => item(depth + 1));
  };
  const one = () => {
    const kind = random();
    const protocol = [0, 5, 6, 7, 9, int(40)][int(6)]! | (fromServer !== random() < 0.05 ? 0x8000 : 0);
    if (kind < 0.2) return bytes();
    if (kind < 0.4) return sdu(protocol, bytes());
    const message = encode([int(13), ...Array.from({ length: int(4) }, () => item(0))]);
    return sdu(protocol, kind < 0.5 ? message.subarray(0, 1 + int(message.length)) : message);
  };
  return concat(...Array.from({ length: 1 + int(6) }, one));
}

async function serve(): Promise<{ path: string; server: NodeServer; ended: NodeError[] }> {
  const at = { path: socketPath() };
  const ended: NodeError[] = [];
  const server = await serveNode(at, {
    magic: 2,
    follow: async function* (_, signal) {
      yield { type: "backward", point: { slot: -1, hash: "" }, tip: originTip };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    submit: () => Promise.resolve(undefined),
    mempool: () => Promise.resolve({ slot: 1, capacity: 1, transactions: [] }),
    acquire: () => Promise.resolve(ok({ query: (query) => Promise.resolve(query) })),
  }, { onEnd: (reason) => ended.push(reason) });
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  return { ...at, server: server.value, ended };
}

describe("garbage", () => {
  it("from clients ends only their own connections", async () => {
    const { path, server, ended } = await serve();
    const steady = await connectNode({ path }, { magic: 2 });
    if (!steady.ok) throw new Error(steady.error.message);
    closing.push(() => steady.value.close());
    const random = seeded(11);
    for (let round = 0; round < 300; round++) {
      const socket = net.connect({ path });
      await new Promise<void>((resolve) => {
        socket.on("error", () => {});
        socket.on("close", () => resolve());
        const send = () => {
          const bytes = garbage(random, false);
          const half = Math.floor(random() * bytes.length);
          socket.write(bytes.subarray(0, half));
          // a valid beginning is not answered with a close: then the client closes
          socket.write(bytes.subarray(half), () => setTimeout(() => socket.destroy(), 2));
        };
        socket.on("data", () => {});
        if (random() < 0.1) return send();
        socket.once("data", send);
        socket.write(propose);
      });
    }
    expect(await steady.value.submit(Uint8Array.of(1))).toEqual(ok({ accepted: true }));
    while (server.connections > 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ended).toHaveLength(300);
    for (const reason of ended) expect(reason).toBeInstanceOf(NodeError);
    expect(ended.filter(({ code }) => code === "protocol_violation").length).toBeGreaterThan(100);
  });

  it("from a server fails every wait with one reason", async () => {
    const random = seeded(12);
    const at = { path: socketPath() };
    const open = new Set<net.Socket>();
    const peer = net.createServer((socket) => {
      open.add(socket);
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write(random() < 0.9 ? accept : garbage(random, true));
        socket.on("data", () => {
          socket.write(garbage(random, true), () => setTimeout(() => socket.destroy(), 2));
        });
        setTimeout(() => socket.destroy(), 20);
      });
    });
    await new Promise<void>((resolve) => peer.listen(at, () => resolve()));
    closing.push(() => {
      for (const socket of open) socket.destroy();
      return new Promise<void>((resolve) => peer.close(() => resolve()));
    });
    const codes = new Map<string, number>();
    for (let round = 0; round < 200; round++) {
      const connection = await connectNode(at, { magic: 2 });
      const count = (code: string) => codes.set(code, (codes.get(code) ?? 0) + 1);
      if (!connection.ok) {
        count(connection.error.code);
        continue;
      }
      const { value } = connection;
      const steps = (async () => {
        for await (const _ of value.follow([])) { /* as far as it goes */ }
      })().then(() => undefined, (error) => error as NodeError);
      const [submitted, acquired, pool, failed] = await Promise.all([
        value.submit(Uint8Array.of(1)),
        value.acquire("tip"),
        value.mempool(),
        steps,
      ]);
      expect(failed).toBeInstanceOf(NodeError);
      const reason = value.ended.reason as NodeError;
      for (const result of [submitted, acquired, pool]) {
        if (!result.ok && result.error.code !== "point_too_old" && result.error.code !== "point_not_on_chain") {
          expect(result.error.message).toBe(reason.message);
        }
      }
      count(reason.code);
    }
    expect(codes.get("protocol_violation")).toBeGreaterThan(50);
    expect(
      [...codes.keys()].filter((code) =>
        !["protocol_violation", "connection_lost", "not_a_node", "too_large"].includes(code)
      ),
    ).toEqual([]);
  });

  it("in the form of floods ends the connection: endless requests, endless messages", async () => {
    const { path, ended, server } = await serve();
    const flood = async (piece: Uint8Array) => {
      const socket = net.connect({ path });
      await new Promise<void>((resolve) => {
        socket.on("error", () => {});
        socket.on("close", () => resolve());
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.once("data", () => {
          socket.on("data", () => {});
          socket.on("drain", more);
          more();
        });
        socket.write(propose);
      });
      return ended.at(-1)!.code;
    };
    // the server waits at its tip meanwhile
    expect(await flood(sdu(5, new Uint8Array(12_000).map((_, i) => i % 2 ? 0 : 0x81)))).toBe("too_large");
    expect(await flood(sdu(6, new Uint8Array(12_000).fill(0x9f, 0, 1)))).toBe("too_large");
    expect(await flood(sdu(0, new Uint8Array(12_000)))).toMatch(/protocol_violation|too_large/);
    expect(server.connections).toBe(0);
  });

  it("in the form of silence after the handshake's first half is ended in time", async () => {
    const at = { path: socketPath() };
    const server = await serveNode(at, { magic: 2 }, { handshakeTimeout: 30 });
    if (!server.ok) throw new Error(server.error.message);
    closing.push(() => server.value.close());
    const socket = net.connect(at);
    await new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
      socket.on("data", () => {});
      socket.write(propose.subarray(0, 9));
    });
    expect(server.value.connections).toBe(0);
  });
});
