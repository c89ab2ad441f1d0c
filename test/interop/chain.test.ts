/** Real blocks of every era, served by us, read by gouroboros and told to our client: what it reads in each is what our scanner reads. */
import { afterEach, describe, expect, test } from "vitest";
import { scanBlock } from "#src/cardano/scan.ts";
import { readHeader } from "#src/node/header.ts";
import { connectNode } from "#src/node/client.ts";
import { serveNode } from "#src/node/server.ts";
import { blockFile, blocksOf, chunks, singles } from "../support/blocks.ts";
import { valueOf } from "../support/devnet_world.ts";
import { ServedChain, socketPath } from "../support/node_chain.ts";
import { until } from "../support/until.ts";
import { hasRelay, type Relay, startRelay } from "./relay.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Serves blocks through a relay; gives how our client heard them. */
async function relayed(blocks: readonly Uint8Array[]): Promise<{ relay: Relay; heard: readonly Uint8Array[] }> {
  const chain = new ServedChain();
  chain.add(...blocks.map((bytes) => ({ bytes, tip: readHeader(bytes) })));
  const path = socketPath();
  const server = valueOf(await serveNode({ path }, { magic: 42, follow: chain.follow }));
  closing.push(() => server.close());
  const relay = await startRelay(path);
  closing.push(() => relay.stop());
  const connection = valueOf(await connectNode({ path: relay.path }, { magic: 42 }));
  closing.push(() => connection.close());
  const heard: Uint8Array[] = [];
  for await (const step of connection.follow([])) {
    if (step.type === "forward") heard.push(step.block);
    if (heard.length === blocks.length) break;
  }
  return { relay, heard };
}

describe.skipIf(!hasRelay || chunks.length === 0)("real blocks through gouroboros", () => {
  test.each(["chunks", "singles"] as const)("%s", async (kind) => {
    const blocks = kind === "chunks" ? chunks.flatMap(blocksOf) : singles.map(({ file }) => blockFile(file));
    const { relay, heard } = await relayed(blocks);
    const differing = heard.flatMap((bytes, i) => Buffer.compare(bytes, blocks[i]!) === 0 ? [] : [i]);
    expect(differing).toEqual([]);
    const ours = blocks.map((bytes) => {
      const { slot, height, hash, transactions } = scanBlock(bytes);
      return { slot, height, hash, transactions: transactions.length };
    });
    await until("the last line of the relay", () => Promise.resolve(relay.blocks.length === blocks.length));
    const theirs = relay.blocks.map(({ slot, height, hash, transactions }) => ({ slot, height, hash, transactions }));
    expect(theirs).toEqual(ours);
    const sum = ours.reduce((all, { transactions }) => all + transactions, 0);
    console.info(`gouroboros: ${ours.length} blocks with ${sum} transactions (${kind}) read alike`);
  });
});
