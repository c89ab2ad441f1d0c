/**
 * Outputs of watched addresses, queried from a network whose answers are behind the cursor, ahead of it, or on an
 * abandoned branch; with a chain in memory, and over a node's socket.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { readUtxos, utxoProjection } from "#src/chain/index/utxo.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { MemoryChain, memoryPort } from "../../../support/chain/memoryChain.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { ADDRESSES } from "../../../support/tokens/randomHistory.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { nodeOf } from "../../../support/chain/nodePort.ts";
import { ogmiosOf } from "../../../support/chain/ogmiosChain.ts";
import { seeded } from "../../../support/base/seededRandom.ts";
import { until } from "../../../support/base/until.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let chain: MemoryChain;
let random: () => number;
let serial: number;
const stop = { now: () => {} };
let running: Promise<void>;
let follower: Follower;
/** The chain as followed and as queried. */
let inner: ChainPort;
let unserve: () => Promise<void>;

beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index"));
  chain = new MemoryChain();
  random = seeded(11);
  serial = 0;
});
afterEach(async () => {
  stop.now();
  await running;
  await unserve?.();
  await store?.close();
  await infra?.stop();
});

/** A block in which outputs move between the addresses. */
function add(): void {
  const live = [...chain.utxos().values()].filter(() => random() < 0.1).map(({ ref }) => ref);
  const seed = { txHash: (++serial + 2 ** 42).toString(16).padStart(64, "0"), index: 0 };
  const outputs = ADDRESSES.map((address) => ({ address, value: lovelace(1_000_000n) }));
  chain.add(encodeTransaction({ inputs: [...live, seed], outputs, fee: 0n }));
}

/** Follows a port with some methods replaced. */
function follow(other: Partial<ChainPort>, near = 20): void {
  const end = new AbortController();
  stop.now = () => end.abort();
  follower = new Follower({
    store,
    port: { ...inner, ...other },
    projections: [transactionProjection, utxoProjection],
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
    near,
  });
  running = follower.run(end.signal);
}

const atTip = () => until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash);
const watch = (address: string) => ensureWatched(store, [address], () => follower.wake(), Date.now() + 20_000);

/** The outputs at addresses according to the chain, after the blocks up to a height. */
const held = (addresses: readonly string[], height = chain.tip.height) =>
  [...chain.utxos(height).values()].filter(({ output }) => addresses.includes(output.address));

async function expectExact(address: string): Promise<void> {
  await atTip();
  const rows = await readUtxos(store.sql, [address]);
  expect(rows.length).toBeGreaterThan(3);
  expect(rows.map(({ ref }) => refKey(ref)).sort()).toEqual(held([address]).map(({ ref }) => refKey(ref)).sort());
}

/** Answers of a point some blocks below the tip. */
function behind(blocks: number): Partial<ChainPort> & { queryCount: number } {
  const port = {
    queryCount: 0,
    utxosByAddress: async (addresses: readonly string[]) => {
      port.queryCount++;
      const height = chain.tip.height - blocks;
      const { slot, hash } = chain.blocks[height - 1]!.scanned;
      return ok({ point: { slot, hash }, value: held(addresses, height) });
    },
  };
  return port;
}

describe.each(["of a chain in memory", "over a socket", "over Ogmios"])("an answer %s", (kind) => {
  beforeEach(async () => {
    const node = kind === "over a socket"
      ? await nodeOf(chain, { random }, () => Infinity)
      : kind === "over Ogmios"
      ? ogmiosOf(chain, { random })
      : undefined;
    inner = node?.port ?? memoryPort(chain, { random });
    unserve = node?.stop ?? (() => Promise.resolve());
  });

  it("that is always behind is brought forward by the blocks read since then", async () => {
    for (let i = 0; i < 40; i++) add();
    const port = behind(7);
    follow(port);
    await atTip();
    expect((await watch(ADDRESSES[0]!)).ok).toBe(true);
    expect(port.queryCount).toBe(1);
    await expectExact(ADDRESSES[0]!);
    // including outputs that were spent in those blocks
    chain.rollback(4);
    await expectExact(ADDRESSES[0]!);
    add();
    await expectExact(ADDRESSES[0]!);
    // and after a rollback below its point it is queried again
    chain.rollback(12);
    for (let i = 0; i < 8; i++) add();
    await atTip();
    expect((await watch(ADDRESSES[0]!)).ok).toBe(true);
    expect(port.queryCount).toBeGreaterThan(1);
    await expectExact(ADDRESSES[0]!);
  });

  it("from farther behind is queried again until it can be brought forward", async () => {
    for (let i = 0; i < 80; i++) add();
    let port = behind(60);
    follow({ utxosByAddress: (addresses) => port.utxosByAddress!(addresses) });
    await atTip();
    const watched = watch(ADDRESSES[1]!);
    await until("it is queried again", async () => port.queryCount > 2);
    port = behind(2);
    expect((await watched).ok).toBe(true);
    await expectExact(ADDRESSES[1]!);
  });

  it.each([20, 0])("that is ahead waits for the follower, with single blocks within %i of the tip", async (near) => {
    for (let i = 0; i < 60; i++) add();
    let open = 20;
    // the stream stops at a height, while answers are of the tip
    follow({
      async *follow(points, signal) {
        for await (const step of inner.follow(points, signal)) {
          const height = step.type === "backward"
            ? 0
            : step.type === "scanned"
            ? step.block.height
            : scanBlock(step.block).height;
          while (height > open && !signal.aborted) await sleep(2);
          yield step;
        }
      },
    }, near);
    await until("the first blocks", async () => (await readCursor(store.sql)).at.height === 20);
    const watched = watch(ADDRESSES[2]!);
    await sleep(100);
    expect(await readUtxos(store.sql, [ADDRESSES[2]!])).toEqual([]);
    for (let i = 0; i < 30; i++) add();
    open = Infinity;
    expect((await watched).ok).toBe(true);
    await expectExact(ADDRESSES[2]!);
  });

  it("from an abandoned branch is queried again", async () => {
    for (let i = 0; i < 20; i++) add();
    let answered = 0;
    follow({
      utxosByAddress: async (addresses) => {
        const answer = await inner.utxosByAddress(addresses);
        if (answered++ === 0) {
          chain.rollback(3);
          for (let i = 0; i < 5; i++) add();
        }
        return answer;
      },
    });
    await until("it is queried again", async () => {
      await watch(ADDRESSES[0]!);
      return answered > 1;
    });
    await atTip();
    // the first answer may have been received before the rollback, and dropped with it
    expect((await watch(ADDRESSES[0]!)).ok).toBe(true);
    await expectExact(ADDRESSES[0]!);
  });
});

it("however many wait for outputs that do not arrive, one statement at a time polls for all of them", async () => {
  let statements = 0;
  const sql = new Proxy(store.sql, {
    apply: (target, self, args) => {
      // only a template is a statement
      if ((args[0] as { raw?: unknown }).raw !== undefined) statements++;
      return Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args);
    },
  });
  const WAITERS = 100;
  const MS = 1_500;
  const counted = { ...store, sql };
  const answers = await Promise.all(
    Array.from({ length: WAITERS }, (_, i) => ensureWatched(counted, [`nobody-${i}`], () => {}, Date.now() + MS)),
  );
  expect(answers.every((one) => !one.ok && one.error.code === "index_behind")).toBe(true);
  console.log(`${WAITERS} waiters for ${MS} ms: ${statements} statements`);
  // two statements for each, and one poll each 15 ms
  expect(statements).toBeLessThan(WAITERS * 2 + MS / 15 + 50);
});
