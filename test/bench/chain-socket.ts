/** The node's socket: blocks that one process serves itself over a UNIX socket, each header read and hashed. */
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { initHash } from "#src/cardano/hash.ts";
import { connectNode } from "#src/node/client.ts";
import { readHeader } from "#src/node/header.ts";
import { serveNode } from "#src/node/server.ts";
import type { SyncStep } from "#src/node/syncClient.ts";
import { type ChainBlock, readChunk, socketPath } from "../support/node_chain.ts";
import { table } from "./machine.ts";

const ROUNDS = 20;
const FILE = fileURLToPath(
  new URL("../../../shared/vectors/blocks/chain/preview-babbage-01836.chunk", import.meta.url),
);

/** A rate by the clock, and by the processor time that both sides took together: what is left of it on a machine that is shared. */
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

/** Follows `blocks` as often as `rounds` says. */
async function measure(blocks: readonly ChainBlock[], rounds: number, depth: number): Promise<Rate> {
  const tip = { slot: 0, hash: "00".repeat(32), height: 1e9 };
  async function* follow(): AsyncGenerator<SyncStep> {
    yield { type: "backward", point: { slot: -1, hash: "" }, tip };
    for (let round = 0; round < rounds; round++) {
      for (const { bytes } of blocks) yield { type: "forward", block: bytes, tip };
    }
    await new Promise(() => {});
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
    if (count === blocks.length * rounds) break;
  }
  const rate = stop(count);
  connection.value.close();
  await server.value.close();
  return rate;
}

/** Prints blocks each second over a socket, by the number asked for ahead, and the share of reading headers in it. */
export async function benchChainSocket(print: (line: string) => void = console.log): Promise<void> {
  if (!existsSync(FILE)) return print("SKIPPED: no chain of real blocks beside the project");
  await initHash();
  const blocks = readChunk(FILE);
  const size = blocks.reduce((sum, { bytes }) => sum + bytes.length, 0) / blocks.length;
  await measure(blocks, 5, 100);
  const rows: (string | number)[][] = [];
  const row = (name: string, { perSecond, processor }: Rate) =>
    rows.push([name, perSecond, (perSecond * size / 1e6).toFixed(1), processor.toFixed(1)]);
  for (const depth of [1, 10, 100]) {
    row(`socket, ${depth} ahead, header read and hashed`, await measure(blocks, depth === 1 ? 4 : ROUNDS, depth));
  }
  const stop = meter();
  for (let round = 0; round < ROUNDS; round++) for (const { bytes } of blocks) readHeader(bytes);
  row("reading and hashing headers alone", stop(ROUNDS * blocks.length));
  table([`${blocks.length} blocks of ${Math.round(size)} B`, "blocks/s", "MB/s", "processor, µs/block"], rows)
    .forEach((line) => print(line));
}
