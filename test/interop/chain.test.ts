/**
 * Real blocks of every era, served by us, decoded by other implementations and sent on to our client: their results for
 * each equal our scanner's.
 */
import { afterEach, describe, expect, test } from "vitest";
import { scanBlock } from "#src/cardano/scan.ts";
import { readHeader } from "#src/node/client/header.ts";
import { connectNode } from "#src/node/client/connection.ts";
import { serveNode } from "#src/node/server/server.ts";
import { blockFile, blocksOf, chunks, singles } from "../support/chain/vectorBlocks.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { ServedChain, socketPath } from "../support/chain/nodeChain.ts";
import { until } from "../support/base/until.ts";
import { hasPallas, hasRelay, type Relay, startRelay } from "./relay.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Serves blocks through a relay; returns what our client received. */
async function relayed(
  blocks: readonly Uint8Array[],
  by: "relay" | "pallas",
): Promise<{ relay: Relay; heard: readonly Uint8Array[] }> {
  const chain = new ServedChain();
  chain.add(...blocks.map((bytes) => ({ bytes, tip: readHeader(bytes) })));
  const path = socketPath();
  const server = valueOf(await serveNode({ path }, { magic: 42, follow: chain.follow }));
  closing.push(() => server.close());
  const relay = await startRelay(path, by);
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

/** A certificate of this block names a pool with twice the digits of a pool's hash. */
const LONG_POOL = "8c21f437fde62128f7dde93f9efc5c6ba7a19b88fe73e1d23cc5e5c6730ed78f";

const relays = [
  { name: "gouroboros", by: "relay", there: hasRelay },
  { name: "pallas", by: "pallas", there: hasPallas },
] as const;

describe.each(relays)("real blocks through $name", ({ name, by, there }) => {
  test.skipIf(!there || chunks.length === 0).each(["chunks", "singles"] as const)("%s", async (kind) => {
    const blocks = kind === "chunks" ? chunks.flatMap(blocksOf) : singles.map(({ file }) => blockFile(file));
    const { relay, heard } = await relayed(blocks, by);
    const differing = heard.flatMap((bytes, i) => Buffer.compare(bytes, blocks[i]!) === 0 ? [] : [i]);
    expect(differing).toEqual([]);
    const ours = blocks.map((bytes) => {
      const { slot, height, hash, transactions } = scanBlock(bytes);
      const ids = by === "pallas" ? { ids: transactions.map(({ hash }) => hash) } : {};
      return { slot, height, hash, transactions: transactions.length, ...ids };
    });
    await until("the last line of the relay", () => Promise.resolve(relay.blocks.length === blocks.length));
    const unread = relay.blocks.flatMap(({ error }, i) => error === undefined ? [] : [ours[i]!.hash]);
    expect(unread).toEqual(by === "pallas" && kind === "singles" ? [LONG_POOL] : []);
    const theirs = relay.blocks.map(({ slot, height, hash, transactions, ids }) => {
      return { slot, height, hash, transactions, ...(ids ? { ids } : {}) };
    });
    expect(theirs.filter((_, i) => relay.blocks[i]!.error === undefined)).toEqual(
      ours.filter(({ hash }) => !unread.includes(hash)),
    );
    const sum = ours.reduce((all, { transactions }) => all + transactions, 0);
    console.info(`${name}: ${ours.length} blocks with ${sum} transactions (${kind}) passed, ${unread.length} unread`);
  });
});
