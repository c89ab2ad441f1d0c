/**
 * Work that is too long for one write transaction is split, and each part leaves consistent rows: the follower dies
 * between any two of them, and the next one ends with exact rows.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { origin } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { readCursor, readCursorById } from "#src/chain/index/cursor.ts";
import { Follower, type FollowerStep } from "#src/chain/index/follower.ts";
import {
  assignMembers,
  dismiss,
  enrol,
  joinMembers,
  readRestoreProgress,
  releaseMembers,
} from "#src/chain/index/groups.ts";
import { BETWEEN_BLOCKS } from "#src/chain/index/checkpoint.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { readUtxos, utxoProjection } from "#src/chain/index/utxo.ts";
import { ensureWatched, eraseLapsedWatches } from "#src/chain/index/watchedAddresses.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { MemoryChain, memoryPort } from "../../../support/chain/memoryChain.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { ADDRESSES } from "../../../support/tokens/randomHistory.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import {
  beginPocket,
  pocketAddress,
  pocketProjection,
  pocketTables,
  readPocket,
  replayPocket,
} from "../../../support/chain/restoredProjection.ts";
import { until } from "../../../support/base/until.ts";

const ADDRESS = ADDRESSES[0]!;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let chain: MemoryChain;
let events: { type: string; slot: number }[];
beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, [...migrationsOf("chain/index"), { id: "pockets-1", sql: pocketTables }]);
  chain = new MemoryChain();
  events = [];
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

/** Adds blocks that pay a pocket and an address; those with another `mark` are of another branch. */
function add(to: MemoryChain, count: number, mark = 0): void {
  for (let i = 0; i < count; i++) {
    const height = to.blocks.length;
    const seed = { txHash: (height + 2 ** 41 + mark * 2 ** 20).toString(16).padStart(64, "0"), index: 0 };
    const last = to.blocks.at(-1)?.scanned.transactions[0];
    // every third block spends what the previous one paid to the address
    const inputs = last && height % 3 === 0 ? [seed, { txHash: last.hash, index: 1 }] : [seed];
    const outputs = [pocketAddress("a", height), ADDRESS].map((address) => ({ address, value: lovelace(1_000_000n) }));
    to.add(encodeTransaction({ inputs, outputs, fee: 0n }));
  }
}

/** Runs a follower until its work is done, or until it dies at a fault point. */
async function live(
  work: (follower: Follower) => Promise<unknown>,
  options: { dies?: (step: FollowerStep) => boolean; apart?: boolean; append?: () => void } = {},
): Promise<"died" | "done"> {
  const stop = new AbortController();
  let died = () => {};
  const death = new Promise<"died">((resolve) => died = () => resolve("died"));
  const inner = memoryPort(chain, { random: () => 0.5 });
  let streams = 0;
  const follower = new Follower({
    store,
    port: {
      ...inner,
      // the first stream is the main indexer's; others may be held back
      async *follow(points, signal) {
        if (streams++ > 0 && options.apart === false) {
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        } else yield* inner.follow(points, signal);
      },
    },
    projections: [transactionProjection, utxoProjection, pocketProjection],
    fence: async () => {},
    append: async (_, touched) => {
      events.push(...touched.map(({ event }) => ({ type: event.type, slot: Number(event.slot) })));
      options.append?.();
    },
    ring: () => {},
    log: silentLog,
    onStep: (step) => {
      if (stop.signal.aborted || options.dies?.(step)) {
        stop.abort();
        died();
        throw new Error(`dies at ${step}`);
      }
    },
  });
  const running = follower.run(stop.signal);
  try {
    return await Promise.race([death, work(follower).then(() => "done" as const)]);
  } finally {
    stop.abort();
    await running;
  }
}

/** Dies at the n-th fault point of a name. */
function nth(name: FollowerStep, n: number): (step: FollowerStep) => boolean {
  let count = 0;
  return (step) => step === name && ++count === n;
}

const atTip = () => until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash);
const watched = (follower: Follower) =>
  ensureWatched(store, [ADDRESS], () => follower.wake(), Date.now() + 20_000).then(({ ok }) => expect(ok).toBe(true));
const held = (height?: number) =>
  [...chain.utxos(height).values()].filter(({ output }) => output.address === ADDRESS).map(({ ref }) => refKey(ref))
    .sort();
const kept = async () => (await readUtxos(store.sql, [ADDRESS])).map(({ ref }) => refKey(ref)).sort();

/** The rows are those of the chain up to the cursor. */
async function expectWhole(): Promise<number> {
  const { at } = await readCursor(store.sql);
  const blocks = chain.blocks.slice(0, at.height).map(({ scanned }) => scanned);
  expect(blocks.at(-1)?.hash).toBe(at.hash);
  const hashes = await store.sql<{ hash: string }[]>`select hash from chain_transaction order by from_slot`;
  expect(hashes.map(({ hash }) => hash)).toEqual(blocks.map(({ transactions }) => transactions[0]!.hash));
  const points = await store.sql<{ hash: string }[]>`select hash from chain_block order by slot`;
  expect(points.map(({ hash }) => hash)).toEqual(blocks.map(({ hash }) => hash));
  const [watch] = await store.sql`select 1 from chain_watch where ready`;
  expect(await kept()).toEqual(watch ? held(at.height) : []);
  const [member] = await store.sql`select 1 from chain_member where cursor = 'main'`;
  if (member) expect(await readPocket(store.sql, "a")).toEqual(replayPocket("a", blocks).refs);
  return at.height;
}

describe("a deep rollback", () => {
  it.each([1, 2, 3])("leaves consistent rows after %i of its transactions, and continues", async (n) => {
    add(chain, 3);
    await live(async (follower) => {
      await beginPocket(store.sql, "a", origin);
      await watched(follower);
      add(chain, 157);
      await atTip();
      await until("it has joined", async () => (await readRestoreProgress(store.sql, ["pockets"])).members === 0);
    });
    expect(await expectWhole()).toBe(160);
    const whole = [...chain.blocks];
    chain.blocks.splice(20);
    expect(await live(() => new Promise(() => {}), { dies: nth("after-undo", n) })).toBe("died");
    chain.blocks.splice(0, Infinity, ...whole);
    const height = await expectWhole();
    expect(height).toBeGreaterThan(20);
    expect(height).toBeLessThan(160);
    chain.blocks.splice(20);
    add(chain, 30, 1);
    await live(atTip);
    expect(await expectWhole()).toBe(50);
  });

  it("leaves nothing of an aborted transaction, and those before it unchanged", async () => {
    add(chain, 100);
    await live(atTip);
    const whole = [...chain.blocks];
    chain.blocks.splice(0);
    let calls = 0;
    const broken = live(() => new Promise(() => {}), {
      append: () => {
        if (++calls > 1) throw new Error("breaks off");
      },
      dies: nth("before-undo", 3),
    });
    expect(await broken).toBe("died");
    chain.blocks.splice(0, Infinity, ...whole);
    expect(await expectWhole()).toBe(84);
  });
});

it("reads the rows of a dense block little more than once", async () => {
  add(chain, 2);
  await live(async (follower) => {
    await watched(follower);
    await atTip();
  });
  const outputs = Array.from({ length: 400 }, () => ({ address: ADDRESS, value: lovelace(1_000_000n) }));
  const spent: string[] = [];
  // far from the tip, where blocks share a transaction as far as their changes fit
  for (let i = 0; i < 60; i++) {
    const seed = { txHash: (i + 2 ** 43).toString(16).padStart(64, "0"), index: 0 };
    spent.push(refKey(seed));
    chain.add(encodeTransaction({ inputs: [seed], outputs, fee: 0n }));
  }
  add(chain, 100);
  const known = new Set(spent);
  let read = 0;
  const { sql } = store;
  store = {
    ...store,
    sql: new Proxy(sql, {
      apply(target, self, [strings, ...values]: [readonly string[], ...unknown[]]) {
        for (const value of values) {
          const list = typeof value === "object" && value !== null && "value" in value ? value.value : undefined;
          if (Array.isArray(list)) read += list.filter((one) => known.has(one)).length;
        }
        return Reflect.apply(target, self, [strings, ...values]);
      },
    }),
  };
  await live(atTip);
  // twice, because sixteen are read before it is known how dense they are, and two queries name what a block spends
  expect(read).toBeGreaterThanOrEqual(spent.length);
  expect(read).toBeLessThanOrEqual(4 * spent.length);
});

it("continues from between two blocks, and from a branch that the main cursor has left", async () => {
  add(chain, 80);
  await live(async (follower) => {
    await watched(follower);
    await atTip();
    await beginPocket(store.sql, "a", origin);
    follower.wake();
    await new Promise(() => {});
  }, { dies: nth("before-join", 1) });
  const [apart] = await store.sql<
    { id: string; height: bigint }[]
  >`select id, height from chain_cursor where id <> 'main'`;
  const height = Number(apart!.height);
  expect(height).toBeGreaterThan(40);
  // another branch with the same slots as the first
  const fork = new MemoryChain();
  add(fork, 10);
  add(fork, 90, 1);
  expect(fork.blocks[9]!.scanned.hash).toBe(chain.blocks[9]!.scanned.hash);
  chain.blocks.splice(0, Infinity, ...fork.blocks);
  await live(atTip, { apart: false });
  expect((await readCursorById(store.sql, apart!.id))!.at.height).toBe(height);
  expect(await live(() => new Promise(() => {}), { dies: nth("after-undo", 2) })).toBe("died");
  expect((await readCursorById(store.sql, apart!.id))!.at).toMatchObject({ hash: BETWEEN_BLOCKS });
  await live(() =>
    until("it has joined", async () => (await readRestoreProgress(store.sql, ["pockets"])).members === 0)
  );
  expect(await expectWhole()).toBe(100);
});

describe("an address with many outputs", () => {
  /** Blocks of 450 outputs at the address. */
  const many = () => {
    for (let i = 0; i < 4; i++) {
      const seed = { txHash: (chain.blocks.length + 2 ** 42).toString(16).padStart(64, "0"), index: 0 };
      const outputs = Array.from({ length: 450 }, () => ({ address: ADDRESS, value: lovelace(1_000_000n) }));
      chain.add(encodeTransaction({ inputs: [seed], outputs, fee: 0n }));
    }
  };

  it.each([2, 3, 4])("stays wanted until the last part is written, dying before part %i", async (n) => {
    many();
    add(chain, 2);
    const died = await live(async (follower) => {
      await atTip();
      await watched(follower);
    }, { dies: nth("answering", n) });
    expect(died).toBe("died");
    expect(await kept()).toHaveLength((n - 1) * 500);
    expect(await store.sql`select ready from chain_watch`).toEqual([{ ready: false }]);
    // the rows written before are replaced when the outputs are queried again
    add(chain, 5);
    await live(async (follower) => {
      await watched(follower);
      await atTip();
    });
    expect(await kept()).toEqual(held());
  });

  it("is erased in parts, and complete again if it is used meanwhile", async () => {
    many();
    await live(async (follower) => {
      await watched(follower);
      await atTip();
    });
    await store.sql`update chain_watch set used_at = now() - interval '2 hours'`;
    expect(await eraseLapsedWatches(store.sql)).toBe(true);
    expect(await kept()).toHaveLength(1_300);
    await live(watched);
    expect(await kept()).toEqual(held());
    await store.sql`update chain_watch set used_at = now() - interval '2 hours'`;
    let parts = 1;
    while (await eraseLapsedWatches(store.sql)) parts++;
    expect(parts).toBe(4);
    expect(await store.sql`select 1 from chain_utxo union all select 1 from chain_watch`).toEqual([]);
  });
});

it("assigns, joins and releases many members in parts", async () => {
  await store.sql`update chain_cursor set slot = 1000, hash = 'here', height = 10`;
  const members = Array.from({ length: 4_500 }, (_, i) => `thing ${i}`);
  await enrol(store.sql, "pockets", members, { slot: 500, hash: "birth" });
  const cursors = () =>
    store.sql<{ cursor: string | null; things: number }[]>`
      select cursor, count(*)::int as things from chain_member group by cursor order by things desc`;
  const fenced = <T>(work: (sql: Store["sql"]) => Promise<T>) =>
    store.sql.begin((sql) => work(sql as never)) as Promise<T>;
  expect(await fenced((sql) => assignMembers(sql, ["pockets"], () => true))).toMatchObject({ any: true, current: [] });
  const [waiting, begun] = await cursors();
  expect([waiting, begun]).toMatchObject([{ cursor: null, things: 2_500 }, { things: 2_000 }]);
  const cursor = begun!.cursor!;
  // no other group may begin, but this one has not passed the members' start point
  while ((await fenced((sql) => assignMembers(sql, ["pockets"], () => false))).any);
  expect(await cursors()).toEqual([{ cursor, things: 4_500 }]);
  expect(await readRestoreProgress(store.sql, ["pockets"])).toEqual({ groups: 1, members: 4_500, behind: 500 });

  await store.sql`update chain_cursor set slot = 1000, hash = 'here' where id = ${cursor}`;
  const joined = [];
  for (let more = true; more;) {
    const some = await fenced((sql) => joinMembers(sql, cursor));
    expect(some).toMatchObject({ at: { slot: 1_000 } });
    joined.push(...some!.members);
    more = some!.more;
  }
  expect(joined.sort()).toEqual(members.sort());
  expect(await cursors()).toEqual([{ cursor: "main", things: 4_500 }]);
  expect(await store.sql`select id from chain_cursor`).toEqual([{ id: "main" }]);
  expect(await readRestoreProgress(store.sql, ["pockets"])).toEqual({ groups: 0, members: 0, behind: 0 });

  await dismiss(store.sql, "pockets", members);
  let parts = 0;
  while (await fenced(releaseMembers)) parts++;
  expect(parts).toBe(2);
  expect(await cursors()).toEqual([{ cursor: null, things: 4_500 }]);
});
