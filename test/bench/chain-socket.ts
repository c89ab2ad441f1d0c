/** The node's socket: blocks that one process serves to itself over a UNIX socket, each header decoded and hashed. */
import process from "node:process";
import { initHash } from "#src/cardano/hash.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { readHeader } from "#src/node/client/header.ts";
import { serveNode } from "#src/node/server/server.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { type ChainBlock, readChunk, socketPath } from "../support/chain/nodeChain.ts";
import type { ChainRow } from "./chain.ts";

/** Blocks followed for one figure. */
const COUNT = process.argv.includes("--quick") ? 2_000 : 20_000;

/**
 * A rate by wall-clock time, and by the processor time of both sides together, which is the meaningful one on a shared
 * machine.
 */
interface Rate {
  readonly perSecond: number;
  /** Microseconds of processor time for a block. */
  readonly processor: number;
}

function meter(): (count: number) => Rate {
  const start = performance.now();
  const before = process.cpuUsage();
  return (count) => {
    const used = process.cpuUsage(before);
    return {
      perSecond: Math.round(count / ((performance.now() - start) / 1000)),
      processor: (used.user + used.system) / count,
    };
  };
}

/** Follows `blocks` repeatedly until `total` were received. */
async function measure(blocks: readonly ChainBlock[], total: number, depth: number): Promise<Rate> {
  const tip = { slot: 0, hash: "00".repeat(32), height: 1e9 };
  async function* follow(): AsyncGenerator<SyncStep> {
    yield { type: "backward", point: { slot: -1, hash: "" }, tip };
    for (;;) {
      for (const { bytes } of blocks) yield { type: "forward", block: bytes, tip };
    }
  }
  const at = { path: socketPath() };
  const server = await serveNode(at, { magic: 1, follow });
  if (!server.ok) throw new Error(server.error.message);
  const connection = await connectNode(at, { magic: 1, depth });
  if (!connection.ok) throw new Error(connection.error.message);
  let count = 0;
  const stop = meter();
  for await (const step of connection.value.follow([])) {
    if (step.type === "backward") continue;
    const { hash } = readHeader(step.block);
    const expected = blocks[count++ % blocks.length]!;
    if (hash !== expected.tip.hash) throw new Error(`block ${count} has the hash ${hash}`);
    if (count === total) break;
  }
  const rate = stop(count);
  connection.value.close();
  await server.value.close();
  return rate;
}

/** Rows: blocks per second over a socket, by the number of pipelined requests. */
export async function socketRows(): Promise<readonly ChainRow[]> {
  const blocks = readChunk("01836");
  if (blocks.length === 0) return [];
  await initHash();
  await measure(blocks, COUNT / 4, 100);
  const stop = meter();
  for (let i = 0; i < COUNT; i++) readHeader(blocks[i % blocks.length]!.bytes);
  const header = stop(COUNT).processor;
  const rows: ChainRow[] = [];
  for (const depth of [1, 10, 100]) {
    const { perSecond, processor } = await measure(blocks, depth === 1 ? COUNT / 4 : COUNT, depth);
    rows.push([
      `socket: served and followed in one process, ${depth} pipelined, headers hashed`,
      `${perSecond.toLocaleString("en")} blocks/s`,
      `processor: ${processor.toFixed(1)} µs/block on both sides together, ${header.toFixed(1)} of it the header${
        depth === 1 ? "; a turn of the loop on either side for each block" : ""
      }`,
    ]);
  }
  return rows;
}
