/**
 * Members that are restored from an earlier start point and then join the main cursor: on a chain that lags, drops and
 * rolls back, with crashes at every fault point, in memory and over a node's socket; and on the devnet, with the
 * follower killed in between.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sleep, VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { origin, type Point, type ScannedBlock } from "#src/cardano/block.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { MAIN, readCursor } from "#src/chain/index/cursor.ts";
import { Follower, type FollowerStep } from "#src/chain/index/follower.ts";
import { dismiss } from "#src/chain/index/groups.ts";
import { memberPosition } from "../support/chain/memberPosition.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import { startDevnet } from "#src/devnet/devnet.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type ChainFaults, MemoryChain, memoryPort } from "../support/chain/memoryChain.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { nodeOf } from "../support/chain/nodePort.ts";
import {
  beginPocket,
  GAP,
  pocketAddress,
  pocketProjection,
  pocketTables,
  readPocket,
  replayPocket,
} from "../support/chain/restoredProjection.ts";
import { seeded } from "../support/base/seededRandom.ts";
import { until } from "../support/base/until.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";

const RUNS = Number(process.env.FOLLOWER_RUNS ?? 2);
const STEPS = 120;
const FOLLOWER = fileURLToPath(new URL("../support/chain/restoredProjectionProcess.ts", import.meta.url));

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, [...migrationsOf("runtime", "chain/index", "devnet"), { id: "pockets-1", sql: pocketTables }]);
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

/**
 * Creates the next transactions of pockets: they pay within the address gap, spend what they have, and pay each other.
 */
class Payer {
  private serial = 0;
  constructor(private readonly random: () => number) {}

  next(pockets: readonly string[], blocks: readonly ScannedBlock[]): Uint8Array[] {
    const transactions: Uint8Array[] = [];
    for (const pocket of pockets) {
      if (this.random() > 0.3) continue;
      const { refs, used } = replayPocket(pocket, blocks);
      const inputs = refs.filter(() => this.random() < 0.4).map(parseRefKey);
      const outputs = [...Array(1 + Math.floor(this.random() * 2))].map((_, i) => ({
        // the second output may use an address that the wallet only discovers by the first
        address: pocketAddress(pocket, i === 0 ? Math.floor(this.random() * (used + GAP)) : used + GAP - 1),
        value: lovelace(1_000_000n),
      }));
      const seed = { txHash: (++this.serial + 2 ** 41).toString(16).padStart(64, "0"), index: 0 };
      transactions.push(encodeTransaction({ inputs: [...inputs, seed], outputs, fee: 0n }));
    }
    return transactions;
  }
}

const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });

describe("on a chain that lags, drops and rolls back", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => i + 1))("everything is found, run %i", async (seed) => {
    const random = seeded(seed);
    const chain = new MemoryChain();
    const payer = new Payer(random);
    const moods: ChainFaults = { random, drop: 0.02, ...(seed % 2 ? { lagMs: 2 } : {}) };
    let calm = false;
    let crashes = 0;
    const events: Touched[] = [];
    // the last run uses a socket whose connections break
    const node = seed === RUNS
      ? await nodeOf(chain, moods, () => calm ? Infinity : 500 + Math.floor(random() * 40_000))
      : undefined;
    const follower = new Follower({
      store,
      port: node?.port ?? memoryPort(chain, moods),
      projections: [transactionProjection, utxoProjection, pocketProjection],
      fence: async () => {},
      append: async (_, touched) => void events.push(...touched),
      ring: () => {},
      log: silentLog,
      near: seed % 2 ? 20 : 0,
      keepBlocks: 30,
      onStep: (step) => {
        if (calm || random() > 0.08) return;
        crashes++;
        throw new Error(`crash at ${step}`);
      },
    });
    const stop = new AbortController();
    const running = follower.run(stop.signal);
    const born: string[] = [];
    const late: { pocket: string; start: Point; at: number }[] = [];
    let rollbacks = 0;
    try {
      for (let i = 0; i < STEPS; i++) {
        if (chain.blocks.length > 6 && random() < 0.06) {
          chain.rollback(1 + Math.floor(random() * 6));
          rollbacks++;
        }
        if (i % 25 === 0) {
          const pocket = `pocket-${i}`;
          born.push(pocket);
          // enrolled at once, or long after its start point
          late.push({ pocket, start: i === 0 ? origin : pointOf(chain.tip), at: i + Math.floor(random() * 60) });
        }
        const blocks = chain.blocks.map(({ scanned }) => scanned);
        chain.add(...payer.next(born, blocks));
        for (const { pocket, start, at } of late) {
          if (at !== i) continue;
          await store.sql.begin((sql) => beginPocket(sql, pocket, start));
          // the same addresses, read from the origin
          await store.sql.begin((sql) => beginPocket(sql, `${pocket}:again`, origin));
          follower.wake();
        }
        await sleep(random() * 8);
      }
      calm = true;
      for (const { pocket, start, at } of late) {
        if (at >= STEPS) await store.sql.begin((sql) => beginPocket(sql, pocket, start));
      }
      follower.wake();
      await until("everything is read at the tip", async () => {
        const [apart] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
        return !apart && (await readCursor(store.sql)).at.hash === chain.tip.hash;
      });
      // and they continue together
      for (let i = 0; i < 5; i++) chain.add(...payer.next(born, chain.blocks.map(({ scanned }) => scanned)));
      await until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash);
    } finally {
      stop.abort();
      await running;
      await node?.stop();
    }
    if (node) expect(node.connections()).toBeGreaterThan(5);
    console.log(`run ${seed}: ${chain.blocks.length} blocks stand, ${rollbacks} rollbacks, ${crashes} crashes`);
    const blocks = chain.blocks.map(({ scanned }) => scanned);
    let held = 0;
    const pockets = await store.sql<{ member: string }[]>`select member from chain_member`;
    expect(pockets.length).toBeGreaterThan(born.length);
    for (const { member } of pockets) {
      const { refs } = replayPocket(member, blocks);
      held += refs.length;
      expect([member, await readPocket(store.sql, member)]).toEqual([member, refs]);
    }
    expect(held).toBeGreaterThan(5);
    expect(crashes + rollbacks).toBeGreaterThan(3);
    expect(await store.sql`select id from chain_cursor`).toEqual([{ id: "main" }]);
    expect(events.some(({ event }) => event.type === "JOINED")).toBe(true);
  });

  /** A chain whose every block pays pockets, its follower, and a way to hold the first fault point of a name. */
  async function paying(
    kind: string,
    names: readonly string[],
    options: { open?: () => number; apart?: (step: FollowerStep) => Promise<void>; chain?: MemoryChain } = {},
  ) {
    const { chain = new MemoryChain() } = options;
    const places = new Map<string, number>();
    const add = (count: number) => {
      for (let i = 0; i < count; i++) {
        const outputs = names.map((name) => {
          const place = places.get(name) ?? 0;
          places.set(name, place + 1);
          return { address: pocketAddress(name, place), value: lovelace(1_000_000n) };
        });
        const seed = { txHash: (chain.blocks.length + 2 ** 41).toString(16).padStart(64, "0"), index: 0 };
        chain.add(encodeTransaction({ inputs: [seed], outputs, fee: 0n }));
      }
    };
    let release = () => {};
    let reached = false;
    let hold: { step: string; until: Promise<void> } | undefined;
    const random = seeded(1);
    const node = kind === "over a socket" ? await nodeOf(chain, { random }, () => Infinity) : undefined;
    const inner = node?.port ?? memoryPort(chain, { random });
    let streams = 0;
    const follower = new Follower({
      store,
      port: {
        ...inner,
        // the first stream is the main indexer's; the others stop at a height
        async *follow(points, signal) {
          const gated = streams++ > 0 && options.open !== undefined;
          for await (const step of inner.follow(points, signal)) {
            const height = step.type === "forward" ? scanBlock(step.block).height : 0;
            while (gated && height > options.open!() && !signal.aborted) await sleep(2);
            yield step;
          }
        },
      },
      projections: [pocketProjection],
      fence: async () => {},
      append: async () => {},
      ring: () => {},
      log: silentLog,
      onStep: (step, cursor) => {
        if (cursor !== MAIN && options.apart) return options.apart(step);
        if (reached || hold?.step !== step) return;
        reached = true;
        return hold.until;
      },
    });
    const stop = new AbortController();
    const running = follower.run(stop.signal);
    return {
      chain,
      add,
      follower,
      streams: () => streams,
      hold: (step: string) => {
        hold = { step, until: new Promise<void>((resolve) => release = resolve) };
      },
      release: () => release(),
      held: () => until("a step is held", async () => reached),
      atTip: () => until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash),
      joined: (pocket: string) =>
        until("it has joined", async () => (await memberPosition(store.sql, "pockets", pocket))?.restoring === false),
      expectExact: async (pocket: string) => {
        const { refs } = replayPocket(pocket, chain.blocks.map(({ scanned }) => scanned));
        expect(refs).toHaveLength(chain.blocks.length);
        expect(await readPocket(store.sql, pocket)).toEqual(refs);
      },
      end: async () => {
        release();
        stop.abort();
        await running;
        await node?.stop();
      },
    };
  }

  const both = it.each(["in memory", "over a socket"]);

  both("a member that is added while a batch is folded without it is in that batch, %s", async (kind) => {
    const world = await paying(kind, ["a"]);
    try {
      world.hold("folded");
      world.add(30);
      await world.held();
      // it starts at the main cursor's position, so that reads it
      await beginPocket(store.sql, "a", origin);
      world.follower.wake();
      await world.joined("a");
      world.release();
      await world.atTip();
      await world.expectExact("a");
    } finally {
      await world.end();
    }
  });

  both("a member that is removed while a batch is folded with it leaves no rows, %s", async (kind) => {
    const world = await paying(kind, ["a", "b"]);
    try {
      world.add(30);
      await world.atTip();
      world.hold("folded");
      await store.sql.begin(async (sql) => {
        for (const name of ["a", "b"]) await beginPocket(sql, name, origin);
      });
      world.follower.wake();
      await world.held();
      await dismiss(store.sql, "pockets", ["a"]);
      world.follower.wake();
      await until("it is gone", async () => {
        const rows = await store.sql`select 1 from chain_member where member = 'a'`;
        return rows.length === 0;
      });
      world.release();
      await world.joined("b");
      expect(await store.sql`select 1 from pocket_address where pocket = 'a'`).toEqual([]);
      expect(await store.sql`select 1 from pocket_output where pocket = 'a'`).toEqual([]);
      await world.expectExact("b");
    } finally {
      await world.end();
    }
  });

  both("joins at the main cursor's block and not before, %s", async (kind) => {
    let open = 18;
    const world = await paying(kind, ["a"], { open: () => open });
    try {
      world.add(20);
      await world.atTip();
      await beginPocket(store.sql, "a", origin);
      world.follower.wake();
      await until("it is below", async () => (await memberPosition(store.sql, "pockets", "a"))?.at.height === 18);
      await sleep(100);
      expect(await memberPosition(store.sql, "pockets", "a")).toMatchObject({ at: { height: 18 }, restoring: true });
      open = Infinity;
      world.add(3);
      await world.joined("a");
      world.add(3);
      await world.atTip();
      await world.expectExact("a");
    } finally {
      await world.end();
    }
  });

  both("a member that no block concerns needs no block to be read again, %s", async (kind) => {
    const world = await paying(kind, ["a"]);
    try {
      world.add(120);
      await world.atTip();
      const fresh = Array.from({ length: 12 }, (_, i) => `fresh ${i}`);
      for (const name of fresh) {
        await beginPocket(store.sql, name, origin);
        world.follower.wake();
        await world.joined(name);
        world.add(1);
      }
      expect(world.streams()).toBe(1);
      // a pocket with used addresses is read from the first block that uses them
      await beginPocket(store.sql, "a", origin);
      world.follower.wake();
      await world.joined("a");
      expect(world.streams()).toBe(2);
      await world.atTip();
      await world.expectExact("a");
      for (const name of fresh) expect(await readPocket(store.sql, name)).toEqual([]);
    } finally {
      await world.end();
    }
  });

  both("members that are added one after another after a restart are read together, %s", async (kind) => {
    const before = await paying(kind, ["a"]);
    before.add(150);
    try {
      await before.atTip();
    } finally {
      await before.end();
    }
    const world = await paying(kind, ["b"], { chain: before.chain, open: () => open });
    let open = 60;
    try {
      await until("the main indexer has begun", async () => world.streams() > 0);
      for (let i = 0; i < 12; i++) {
        await beginPocket(store.sql, `fresh ${i}`, origin);
        world.follower.wake();
        await until("a member is being read", async () => world.streams() > 1);
      }
      open = Infinity;
      for (let i = 0; i < 12; i++) await world.joined(`fresh ${i}`);
      // the main indexer, and at most two others for groups that began before the blocks were known
      expect(world.streams()).toBeLessThanOrEqual(3);
    } finally {
      await world.end();
    }
  });

  describe("members with the same addresses and different start points", () => {
    let serial = 0;
    /** Adds blocks that pay the first address of `a`. */
    const pay = (chain: MemoryChain, count: number) => {
      for (let i = 0; i < count; i++) {
        const inputs = [{ txHash: (++serial + 2 ** 41).toString(16).padStart(64, "0"), index: 0 }];
        chain.add(
          encodeTransaction({ inputs, outputs: [{ address: pocketAddress("a", 0), value: lovelace(1n) }], fee: 0n }),
        );
      }
    };
    const scanned = (chain: MemoryChain) => chain.blocks.map((block) => block.scanned);
    const refsAfter = (chain: MemoryChain, height: number) =>
      replayPocket("a", scanned(chain).filter((block) => block.height > height)).refs;

    both("each has everything after its own start point, read together, %s", async (kind) => {
      const chain = new MemoryChain();
      pay(chain, 20);
      const world = await paying(kind, [], { chain });
      try {
        await world.atTip();
        const births = { "a:old": 0, "a:middle": 5, "a:young": 15, "a:tip": 20 };
        await store.sql.begin(async (sql) => {
          for (const [name, height] of Object.entries(births)) {
            await beginPocket(sql, name, height === 0 ? origin : pointOf(scanned(chain)[height - 1]!));
          }
        });
        world.follower.wake();
        for (const name of Object.keys(births)) await world.joined(name);
        expect(world.streams()).toBe(2);
        pay(chain, 3);
        await world.atTip();
        for (const [name, height] of Object.entries(births)) {
          expect([name, await readPocket(store.sql, name)]).toEqual([name, refsAfter(chain, height)]);
        }
      } finally {
        await world.end();
      }
    });

    both("a member whose start point is after the main cursor has nothing of earlier blocks, %s", async (kind) => {
      const chain = new MemoryChain();
      const world = await paying(kind, [], { chain });
      try {
        world.hold("scanned");
        pay(chain, 20);
        await world.held();
        await beginPocket(store.sql, "a:ahead", pointOf(scanned(chain)[14]!));
        world.follower.wake();
        await world.joined("a:ahead");
        world.release();
        await world.atTip();
        expect(await readPocket(store.sql, "a:ahead")).toEqual(refsAfter(chain, 15));
      } finally {
        await world.end();
      }
    });

    it.each([
      ["in memory", "before", 8],
      ["in memory", "after", 15],
      ["over a socket", "before", 8],
      ["over a socket", "after", 15],
    ])(
      "a rollback below a start point loses nothing of the new branch, %s, read up to %s the fork",
      async (kind, _, read) => {
        let open = read;
        const chain = new MemoryChain();
        pay(chain, 20);
        const world = await paying(kind, [], { chain, open: () => open });
        try {
          await world.atTip();
          await store.sql.begin(async (sql) => {
            await beginPocket(sql, "a:old", origin);
            await beginPocket(sql, "a:young", pointOf(scanned(chain)[17]!));
          });
          world.follower.wake();
          await until(
            "it is below",
            async () => (await memberPosition(store.sql, "pockets", "a:old"))?.at.height === read,
          );
          // the start point's block is gone, and blocks of the new branch have earlier slots
          chain.rollback(8, "again");
          pay(chain, 10);
          await world.atTip();
          open = Infinity;
          pay(chain, 1);
          for (const name of ["a:old", "a:young"]) {
            await world.joined(name);
          }
          await world.atTip();
          expect(await readPocket(store.sql, "a:old")).toEqual(refsAfter(chain, 0));
          expect(await readPocket(store.sql, "a:young")).toEqual(refsAfter(chain, 12));
        } finally {
          await world.end();
        }
      },
    );
  });

  both("a member joins while blocks arrive faster than it reads them, %s", async (kind) => {
    const apart = async (step: FollowerStep) => {
      if (step === "folded") await sleep(150);
    };
    const world = await paying(kind, ["a"], { apart });
    let coming: ReturnType<typeof setInterval> | undefined;
    try {
      world.add(60);
      await world.atTip();
      // the process has hardly any time left
      coming = setInterval(() => {
        world.add(1);
        for (const end = performance.now() + 50; performance.now() < end;);
      }, 100);
      await beginPocket(store.sql, "a", origin);
      world.follower.wake();
      await world.joined("a");
      clearInterval(coming);
      expect(world.chain.blocks.length).toBeLessThan(250);
      await world.atTip();
      await world.expectExact("a");
    } finally {
      clearInterval(coming);
      await world.end();
    }
  });
});

/** Runs a follower of the devnet to its end; gives the signal that ended it. */
async function run(kill: string): Promise<string | null> {
  const child = spawn(process.execPath, ["run", "-A", FOLLOWER], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL: infra.databaseUrl,
      NATS_URL: infra.natsUrl,
      ...(infra.natsToken ? { NATS_TOKEN: infra.natsToken } : {}),
      KILL: kill,
    },
  });
  return await new Promise((resolve) => child.on("close", (_code, signal) => resolve(signal)));
}

it("on the devnet, continues after kill -9 at any point, including rollbacks", async () => {
  const bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  const started = await startDevnet({
    store,
    bus,
    evaluate: () => Promise.reject(new Error("no script was expected")),
    log: silentLog,
    clock: new VirtualClock(1_800_000_000_000),
    options: { blockMs: 0, leaseMs: 60_000 },
  });
  if (!started.ok) throw new Error(started.error.message);
  const devnet = started.value;
  const random = seeded(3);
  const pay = async (pocket: string, place: number) => {
    await devnet.faucet.pay(pocketAddress(pocket, place), 2_000_000n);
    if (random() < 0.7) expect((await devnet.makeBlock()).ok).toBe(true);
  };
  const start = await devnet.makeBlock();
  if (!start.ok) throw new Error(start.error.message);
  try {
    const pockets = ["u", "v", "w", "x", "y", "z"];
    for (let place = 0; place < 60; place++) await pay(pockets[place % 6]!, Math.floor(place / 6));
    await devnet.makeBlock();
    expect(await run("")).toBe(null);
    const kills = ["folded:2", "before-commit:2", "before-join:1", "after-join:1", "before-undo:1", "after-undo:1"];
    const lived: string[] = [];
    for (const [i, kill] of kills.entries()) {
      // some blocks to undo for those that a rollback kills
      if (kill === "before-undo:1") expect(await run("")).toBe(null);
      // what was read is undone between two runs; the next one has another member to restore
      if (i > 0) expect((await devnet.rollback({ blocks: 2 })).ok).toBe(true);
      await beginPocket(store.sql, pockets[i]!, i % 2 ? origin : pointOf(start.value));
      for (const pocket of pockets) await pay(pocket, 10 + i);
      await devnet.makeBlock();
      if (await run(kill) !== "SIGKILL") lived.push(kill);
    }
    expect(lived).toEqual([]);
    expect(await run("")).toBe(null);
    const blocks = (await readBlocks(store.sql, 0, 10_000)).blocks.map(({ bytes }) => scanBlock(bytes));
    for (const pocket of pockets) {
      const { refs } = replayPocket(pocket, blocks);
      expect(refs.length).toBeGreaterThan(5);
      expect([pocket, await readPocket(store.sql, pocket)]).toEqual([pocket, refs]);
    }
  } finally {
    await devnet.stop();
    await bus.close();
  }
});
