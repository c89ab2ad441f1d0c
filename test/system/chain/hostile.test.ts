/**
 * A network that sends invalid steps: the index keeps what it has, and is exact once the network sends valid ones
 * again.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { origin, type Point } from "#src/cardano/block.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { prune } from "#src/chain/index/prune.ts";
import type { RawStep } from "#src/chain/provider/port.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const KEPT = 10;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

const chain = new MemoryChain();
for (let i = 0; i < 40; i++) chain.add();
/** Another chain, with other slots. */
const other = new MemoryChain();
other.add();
other.rollback(1);
for (let i = 0; i < 60; i++) other.add();

const { tip } = chain;
const block = (of: MemoryChain, height: number): RawStep => bytes(of.blocks[height - 1]!.bytes);
const bytes = (block: Uint8Array): RawStep => ({ type: "forward", block, tip });
const back = (point: Point): RawStep => ({ type: "backward", point, tip });
const at = (height: number): Point => chain.blocks[height - 1]!.scanned;
const nowhere = "ab".repeat(32);

/**
 * Has the index follow a session of invalid steps and then the chain; gives the lowest height of its cursor, and what
 * it logged.
 */
async function follow(falseSteps: readonly RawStep[]): Promise<{ lowest: number; said: string }> {
  const honest = memoryPort(chain, { random: () => 0 });
  let sessions = 0;
  let lowest = Infinity;
  const said: string[] = [];
  const follower = new Follower({
    store,
    port: {
      ...honest,
      async *follow(points, signal) {
        if (sessions++ === 0) yield* falseSteps;
        else yield* honest.follow(points, signal);
      },
    },
    projections: [transactionProjection, utxoProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    onMoved: ({ height }) => lowest = Math.min(lowest, height),
    log: createLog("warn", {}, (line) => said.push(line)),
    keepBlocks: KEPT,
    eraWaitMs: 50,
  });
  const stop = new AbortController();
  const running = follower.run(stop.signal);
  await until(
    "the index is at the tip",
    async () => sessions > 1 && (await readCursor(store.sql)).at.hash === tip.hash,
    5_000,
    5,
  );
  stop.abort();
  await running;
  return { lowest, said: said.join("\n") };
}

const blocks = () => store.sql`select slot, hash, height, previous from chain_block order by slot`;

test.each<[what: string, lowest: number, said: RegExp, ...steps: RawStep[]]>([
  ["a rollback to an unknown block", Infinity, /deeper/, back({ slot: 35, hash: nowhere })],
  ["a rollback to a future block", Infinity, /deeper/, back({ slot: 1_000_000, hash: nowhere })],
  ["a rollback beyond the kept blocks", Infinity, /deeper/, back(at(tip.height - KEPT - 5))],
  ["a rollback to the origin", Infinity, /deeper/, back(origin)],
  ["another chain", Infinity, /does not follow/, back(tip), block(other, 41)],
  ["another chain, from a point that both have", 38, /does not follow/, back(at(38)), block(other, 39)],
  ["all but one block", 36, /does not follow/, back(at(36)), block(chain, 38)],
  ["blocks in the wrong order", 36, /does not follow/, back(at(36)), block(chain, 38), block(chain, 37)],
  ["a block twice", 36, /does not follow/, back(at(36)), block(chain, 37), block(chain, 38), block(chain, 37)],
  ["no block", Infinity, /expected/, back(tip), bytes(new Uint8Array(200))],
  ["half a block", Infinity, /truncated/, back(tip), bytes(chain.blocks[3]!.bytes.subarray(0, 50))],
  [
    "a block of an unsupported era",
    Infinity,
    /era 9/,
    back(tip),
    bytes(encode([9, new Encoded(chain.blocks[3]!.bytes)])),
  ],
])("a network that sends %s", async (_, lowest, said, ...falseSteps) => {
  await follow([]);
  await prune(store.sql, KEPT);
  const before = await blocks();
  expect(before.length).toBeLessThan(chain.blocks.length);
  const result = await follow(falseSteps);
  expect(result.lowest).toBe(lowest);
  expect(result.said).toMatch(said);
  expect(await blocks()).toEqual(before);
});

test("a block of an unsupported era stops the index before it, reported once, until the chain continues without it", async () => {
  await follow([]);
  const before = chain.tip;
  chain.add();
  const last = chain.tip;
  const next = encode([9, new Encoded(chain.blocks[3]!.bytes)]);
  const honest = memoryPort(chain, { random: () => 0 });
  const said: string[] = [];
  const halted: (string | undefined)[] = [];
  const follower = new Follower({
    store,
    port: {
      ...honest,
      async *follow(points, signal) {
        halted.push(follower.halted?.code);
        const [newest] = points;
        // the previous block is read, and stays
        expect(newest?.slot).toBe(halted.length === 1 ? before.slot : last.slot);
        if (halted.length <= 3) {
          yield back(newest!);
          if (newest!.slot === before.slot) yield block(chain, last.height);
          yield bytes(next);
          return;
        }
        // the block was rolled back: another one is in its place
        chain.add();
        yield* honest.follow(points, signal);
      },
    },
    projections: [transactionProjection, utxoProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: createLog("warn", {}, (line) => said.push(line)),
    keepBlocks: KEPT,
    eraWaitMs: 20,
  });
  const stop = new AbortController();
  const running = follower.run(stop.signal);
  await until(
    "the index is at the new block",
    async () => (await readCursor(store.sql)).at.height === last.height + 1,
    5_000,
    5,
  );
  stop.abort();
  await running;
  expect(halted).toEqual([undefined, "era_unknown", "era_unknown", "era_unknown"]);
  expect(said.filter((line) => line.includes("era_unknown"))).toHaveLength(1);
  expect(said.join("\n")).toMatch(new RegExp(`"height":${last.height}`));
  expect(follower.halted).toBeUndefined();
});
