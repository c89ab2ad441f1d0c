/** Following where two blocks share a slot: in Byron an epoch's first main block has the slot of its boundary block. */
import { afterEach, expect, test } from "vitest";
import type { Point } from "#src/cardano/block.ts";
import { connectNode, type ConnectOptions } from "#src/node/client/connection.ts";
import { followNode } from "#src/node/client/follow.ts";
import { serveNode } from "#src/node/server/server.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";
import { byronChain } from "../../../support/chain/byron.ts";
import { fragment, ServedChain, socketPath } from "../../../support/chain/nodeChain.ts";
import { seeded } from "../../../support/base/seededRandom.ts";

const blocks = byronChain(4, 5);
const hashes = blocks.map(({ tip }) => tip.hash);
const of = (index: number): Point => ({ slot: blocks[index]!.tip.slot, hash: hashes[index]! });
/** Positions in the chain of an epoch's boundary block and of the main block after it. */
const BOUNDARY = 6, FIRST = 7;

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(chain: ServedChain): Promise<string> {
  const path = socketPath();
  const server = await serveNode({ path }, { magic: 42, follow: chain.follow });
  if (!server.ok) throw new Error(server.error.message);
  closing.push(() => server.value.close());
  return path;
}

const options: ConnectOptions = { magic: 42 };
/** A step, by the position of its block in the chain; −1 is the origin. */
const placeOf = (step: SyncStep) =>
  step.type === "backward" ? { back: hashes.indexOf(step.point.hash) } : {
    block: blocks.findIndex(({ bytes }) =>
      bytes.length === step.block.length && bytes.every((byte, i) => byte === step.block[i])
    ),
  };

test("the blocks have Byron's form", () => {
  expect(blocks[BOUNDARY]!.tip).toMatchObject({ slot: 21_600, height: 5 });
  expect(blocks[FIRST]!.tip).toMatchObject({ slot: 21_600, height: 6 });
  expect(new Set(hashes).size).toBe(24);
});

test("a chain that ends with a boundary block is given to its end, and continues", async () => {
  const chain = new ServedChain();
  chain.add(...blocks.slice(0, FIRST));
  const connected = await connectNode({ path: await serve(chain) }, options);
  if (!connected.ok) throw new Error(connected.error.message);
  closing.push(() => connected.value.close());
  const steps: unknown[] = [];
  for await (const step of connected.value.follow([])) {
    steps.push(placeOf(step));
    if (steps.length === FIRST + 1) setTimeout(() => chain.add(...blocks.slice(FIRST)), 5);
    if (steps.length === blocks.length + 1) break;
  }
  expect(steps).toEqual([{ back: -1 }, ...blocks.map((_, block) => ({ block }))]);
});

test("each of the two is a point to intersect with, and the newer one is used", async () => {
  const chain = new ServedChain();
  chain.add(...blocks);
  const path = await serve(chain);
  const first = async (points: readonly Point[]) => {
    const connected = await connectNode({ path }, options);
    if (!connected.ok) throw new Error(connected.error.message);
    const steps: unknown[] = [];
    for await (const step of connected.value.follow(points)) {
      steps.push(placeOf(step));
      if (steps.length === 2) break;
    }
    connected.value.close();
    return steps;
  };
  expect(await first([of(BOUNDARY)])).toEqual([{ back: BOUNDARY }, { block: FIRST }]);
  expect(await first([of(FIRST)])).toEqual([{ back: FIRST }, { block: FIRST + 1 }]);
  expect(await first([of(FIRST), of(BOUNDARY)])).toEqual([{ back: FIRST }, { block: FIRST + 1 }]);
  const other = { slot: of(FIRST).slot, hash: "00".repeat(32) };
  expect(await first([other, of(BOUNDARY)])).toEqual([{ back: BOUNDARY }, { block: FIRST }]);
});

test("a follower whose connection breaks between the two continues with the second; one rolled back to the first is notified", async () => {
  const chain = new ServedChain();
  chain.add(...blocks.slice(0, FIRST));
  const relay = await fragment(await serve(chain), seeded(1));
  closing.push(relay.close);
  const steps: unknown[] = [];
  for await (
    const step of followNode(
      { path: relay.path },
      { ...options, firstWaitMs: 1, longestWaitMs: 3 },
      [],
      new AbortController().signal,
    )
  ) {
    steps.push(placeOf(step));
    const connections = relay.connections;
    if (steps.length === FIRST + 1) {
      // the follower is at the boundary block
      relay.drop();
      chain.add(blocks[FIRST]!);
    } else if (steps.length === FIRST + 2) {
      expect(connections).toBe(2);
      // the follower is at the main block of the same slot
      relay.drop();
      chain.rollBack(1);
    } else if (steps.length === FIRST + 3) {
      chain.add(...blocks.slice(FIRST, FIRST + 2));
    } else if (steps.length === FIRST + 5) break;
  }
  expect(steps.slice(FIRST)).toEqual([
    { block: BOUNDARY },
    { block: FIRST },
    { back: BOUNDARY },
    { block: FIRST },
    { block: FIRST + 1 },
  ]);
});
