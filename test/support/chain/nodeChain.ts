/**
 * Chains of real blocks for the node's socket: read from the vectors, served from memory, fragmented and interrupted on
 * the way.
 */
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import type { Point, Tip } from "#src/cardano/block.ts";
import { readHeader } from "#src/node/client/header.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { originTip } from "#src/node/protocols/values.ts";
import { blocksOf, chunks } from "./vectorBlocks.ts";

/** A block and its position. */
export interface ChainBlock {
  readonly bytes: Uint8Array;
  readonly tip: Tip;
}

/** A run of linked blocks from the vectors, by a part of its name; none if they are missing. */
export function readChunk(name: string): ChainBlock[] {
  const chunk = chunks.find(({ file }) => file.includes(name));
  return chunk ? blocksOf(chunk).map((bytes) => ({ bytes, tip: readHeader(bytes) })) : [];
}

/** A chain in memory that a test extends and rolls back, and that reports its steps like a network. */
export class ServedChain {
  private blocks: ChainBlock[] = [];
  private waiting: (() => void)[] = [];
  /** Number of open streams. */
  open = 0;
  /** Number of steps sent on all streams. */
  stepsSent = 0;

  get tip(): Tip {
    return this.blocks.at(-1)?.tip ?? originTip;
  }

  add(...blocks: readonly ChainBlock[]): void {
    this.blocks.push(...blocks);
    this.ring();
  }

  /** Removes the last `count` blocks, and returns them. */
  rollBack(count: number): ChainBlock[] {
    const taken = this.blocks.splice(this.blocks.length - count, count);
    this.ring();
    return taken;
  }

  private ring(): void {
    for (const wake of this.waiting.splice(0)) wake();
  }

  readonly follow = async function* (
    this: ServedChain,
    points: readonly Point[],
    signal: AbortSignal,
  ): AsyncGenerator<SyncStep, void, void> {
    const indexOf = (point: Point) => this.blocks.findIndex(({ tip }) => tip.hash === point.hash);
    const found = points.map(indexOf).find((index) => index >= 0) ?? -1;
    const sent = this.blocks.slice(0, found + 1);
    this.open++;
    try {
      yield { type: "backward", point: pointOf(sent.at(-1)), tip: this.tip };
      while (!signal.aborted) {
        if (sent.length > 0 && this.blocks[sent.length - 1] !== sent.at(-1)) {
          while (sent.length > 0 && this.blocks[sent.length - 1] !== sent.at(-1)) sent.pop();
          yield { type: "backward", point: pointOf(sent.at(-1)), tip: this.tip };
          continue;
        }
        const next = this.blocks[sent.length];
        if (next) {
          sent.push(next);
          this.stepsSent++;
          yield { type: "forward", block: next.bytes, tip: this.tip };
          continue;
        }
        await new Promise<void>((resolve) => {
          const wake = () => {
            signal.removeEventListener("abort", wake);
            resolve();
          };
          this.waiting.push(wake);
          signal.addEventListener("abort", wake);
        });
      }
    } finally {
      this.open--;
    }
  }.bind(this);
}

function pointOf(block: ChainBlock | undefined): Point {
  return block ? { slot: block.tip.slot, hash: block.tip.hash } : { slot: -1, hash: "" };
}

let sockets = 0;

/** A short and unique path for a socket. */
export function socketPath(): string {
  return path.join(os.tmpdir(), `arbor-${process.pid}-${sockets++}.sock`);
}

/**
 * A proxy between a client and a server that fragments the traffic again: segments of the multiplexer into segments of
 * random size, and those into writes of random size. After `breakAfter` bytes from the server a connection is broken;
 * `drop` breaks all open connections.
 */
export async function fragment(
  to: string,
  random: () => number,
): Promise<{ path: string; breakAfter: number; connections: number; drop: () => void; close: () => Promise<void> }> {
  const at = socketPath();
  const open = new Set<net.Socket>();
  const drop = () => {
    for (const socket of open) socket.destroy();
  };
  const relay = { path: at, breakAfter: Infinity, connections: 0, drop, close: () => Promise.resolve() };
  const server = net.createServer((near) => {
    relay.connections++;
    const far = net.connect({ path: to });
    let left = relay.breakAfter;
    const end = () => {
      near.destroy();
      far.destroy();
      open.delete(near);
      open.delete(far);
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    const pass = (from: net.Socket, into: net.Socket, counts: boolean) => {
      const cutter = new Cutter(random);
      from.on("data", (chunk: Uint8Array) => {
        for (const piece of cutter.cut(chunk)) {
          if (counts && (left -= piece.length) < 0) return end();
          if (!into.write(piece) && !from.isPaused()) {
            from.pause();
            into.once("drain", () => from.resume());
          }
        }
      });
    };
    pass(near, far, false);
    pass(far, near, true);
  });
  await new Promise<void>((resolve) => server.listen({ path: at }, () => resolve()));
  relay.close = async () => {
    drop();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return relay;
}

class Cutter {
  private held = new Uint8Array(0);
  constructor(private readonly random: () => number) {}

  *cut(chunk: Uint8Array): Generator<Uint8Array> {
    const bytes = new Uint8Array(this.held.length + chunk.length);
    bytes.set(this.held);
    bytes.set(chunk, this.held.length);
    const out: number[] = [];
    let at = 0;
    while (bytes.length - at >= 8) {
      const length = bytes[at + 6]! << 8 | bytes[at + 7]!;
      if (bytes.length - at - 8 < length) break;
      for (let done = 0; done < length;) {
        const most = this.random() < 0.2 ? 3 : 4000;
        const step = Math.min(length - done, 1 + Math.floor(this.random() * most));
        out.push(...bytes.subarray(at, at + 6), step >> 8, step & 255);
        for (let i = 0; i < step; i++) out.push(bytes[at + 8 + done + i]!);
        done += step;
      }
      at += 8 + length;
    }
    this.held = bytes.slice(at);
    const all = Uint8Array.from(out);
    for (let done = 0; done < all.length;) {
      const step = 1 + Math.floor(this.random() * 9000);
      yield all.slice(done, done + step);
      done += step;
    }
  }
}
