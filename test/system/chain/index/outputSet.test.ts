/**
 * The set of all outputs of a follower on a chain that lags, rolls back and drops, with crashes: its root is that of the
 * unspent outputs, by the definition.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { defined } from "#src/base/present.ts";
import { created, spent } from "#src/cardano/block.ts";
import { redeemAddress } from "#src/cardano/byron.ts";
import { genesisOutput } from "#src/cardano/genesisOutputs.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { allOutputsProjection } from "#src/chain/index/allOutputs.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import {
  followerUtxoRoot,
  leaveOutputSet,
  OutputSet,
  readRootSnapshots,
  readSnapshotsUntil,
} from "#src/chain/index/outputSet.ts";
import type { ChainPort, ChainStep, RawStep } from "#src/chain/provider/port.ts";
import { encodeRef } from "#src/csmt/key.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import { verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { seeded } from "../../../support/base/seededRandom.ts";
import { until } from "../../../support/base/until.ts";
import { type ChainFaults, MemoryChain, memoryPort } from "../../../support/chain/memoryChain.ts";
import { bitText, modelRoot } from "../../../support/csmt/model.ts";
import { spend } from "../../../support/devnet/devnet.ts";
import { valueOf } from "../../../support/devnet/devnetWorld.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";
import { person } from "../../../support/wallets/person.ts";

const KEEP = 12;
/** The roots of which blocks stay. */
const EVERY = 3;
const alice = person("alice");
const addresses = [alice.base, alice.enterprise, person("bob").base, person("carol").enterprise];
const genesis: readonly Utxo[] = Array.from({ length: 30 }, (_, i) => ({
  ref: { txHash: toHex(blake2b256(Uint8Array.of(i))), index: 0 },
  output: madeOutput({ address: addresses[i % 3]!, value: lovelace(1_000_000_000n) }),
}));

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

/** A chain of random payments, and the unspent outputs at its tip. */
class Payments {
  readonly chain = new MemoryChain();
  constructor(readonly random: () => number) {}

  unspent(): Map<string, Utxo> {
    const live = new Map(genesis.map((utxo) => [refKey(utxo.ref), utxo]));
    for (const { scanned } of this.chain.blocks) {
      for (const transaction of scanned.transactions) {
        for (const ref of spent(transaction)) live.delete(refKey(ref));
        for (const utxo of created(transaction)) live.set(refKey(utxo.ref), utxo);
      }
    }
    return live;
  }

  /** Adds a block of up to three transactions, of which later ones may spend outputs of earlier ones. */
  add(): void {
    const live = [...this.unspent().values()];
    const transactions: Uint8Array[] = [];
    for (let n = Math.floor(this.random() * 4); n > 0 && live.length > 0; n--) {
      const inputs = live.splice(Math.floor(this.random() * live.length), 1 + Math.floor(this.random() * 2));
      const total = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
      const count = 1 + Math.floor(this.random() * 3);
      const outputs = Array.from(
        { length: count },
        () => [addresses[Math.floor(this.random() * addresses.length)]!, total / BigInt(count + 1)] as const,
      );
      const made = spend({ from: alice, inputs, outputs });
      transactions.push(made.cbor);
      live.push(...made.created);
    }
    this.chain.add(...transactions);
  }

  /** Each block whose root stays, with the root. */
  snapshots(): { slot: number; hash: string; root: string | null }[] {
    const live = new Map(genesis.map((utxo) => [refKey(utxo.ref), utxo]));
    return this.chain.blocks.flatMap(({ scanned: { slot, hash, height, transactions } }) => {
      for (const transaction of transactions) {
        for (const ref of spent(transaction)) live.delete(refKey(ref));
        for (const utxo of created(transaction)) live.set(refKey(utxo.ref), utxo);
      }
      return height % EVERY === 0 ? [{ slot, hash, root: modelOf([...live.values()]) }] : [];
    });
  }

  root(): string | null {
    return modelOf([...this.unspent().values()]);
  }
}

/** The root of some outputs, by the definition. */
function modelOf(outputs: readonly Utxo[]): string | null {
  const elements = outputs.map(({ ref, output }) =>
    [
      bitText(concat(blake2b256(fromHex(output.address)), encodeRef(ref))),
      blake2b256(canonicalOutput(output)),
    ] as const
  );
  const root = modelRoot(elements);
  return root && toHex(root);
}

const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  await store
    .sql`truncate chain_block, chain_output, chain_output_whole, chain_output_tree, chain_output_place, chain_output_root,
      chain_output_snapshot`;
  await store.sql`update chain_cursor set slot = -1, hash = '', height = 0, tip_slot = -1, tip_height = 0`;
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a follower that keeps the set. */
async function follow(
  chain: MemoryChain,
  network: ChainFaults | ChainPort,
  { crash = () => false, near = 20, treeAtOnce, beginning = genesis }: {
    readonly crash?: () => boolean;
    readonly near?: number;
    readonly treeAtOnce?: number;
    readonly beginning?: readonly Utxo[];
  } = {},
) {
  const fence = () => Promise.resolve();
  const outputs = new OutputSet({
    store,
    fence,
    log: silentLog,
    keepBlocks: KEEP,
    snapshotEvery: EVERY,
    ...defined({ treeAtOnce }),
  });
  valueOf(await outputs.open(() => Promise.resolve(beginning)));
  const stop = new AbortController();
  const follower = new Follower({
    store,
    port: "follow" in network ? network : memoryPort(chain, network),
    projections: [allOutputsProjection],
    outputs,
    near,
    keepBlocks: KEEP,
    fence,
    append: () => Promise.resolve(),
    ring: () => {},
    log: silentLog,
    onStep: (step) => {
      if (crash()) throw new Error(`crash at ${step}`);
    },
  });
  const running = follower.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  stops.push(end);
  return end;
}

const reads = () => followerUtxoRoot(store);

async function reached(chain: MemoryChain): Promise<void> {
  await until(
    "the follower is at the tip",
    async () => (await readCursor(store.sql)).at.hash === chain.tip.hash,
    60_000,
  );
}

async function keptRoots() {
  const found = await readRootSnapshots(store.sql, EVERY, { after: -1, until: Number.MAX_SAFE_INTEGER });
  return found.map(({ slot, hash, root }) => ({ slot, hash, root: root && toHex(root) }));
}

async function rootOf(): Promise<string | null> {
  const { root } = valueOf(await reads().root());
  return root && toHex(root);
}

describe.each([[1, 20], [2, 0]])("run %i, with blocks of their own from %i before the tip", (seed, near) => {
  it("has the root of the unspent outputs, over rollbacks and crashes", async () => {
    const random = seeded(seed);
    const payments = new Payments(random);
    const { chain } = payments;
    let calm = false;
    await follow(chain, { random, drop: 0.02 }, { crash: () => !calm && random() < 0.02, near });
    for (let i = 0; i < 90; i++) {
      if (chain.blocks.length > KEEP && random() < 0.1) chain.rollback(1 + Math.floor(random() * 6));
      payments.add();
      if (i % 15 === 14) {
        await reached(chain);
        expect(await rootOf()).toBe(payments.root());
      } else if (random() < 0.5) await sleep(random() * 15);
    }
    calm = true;
    await reached(chain);
    expect(await rootOf()).toBe(payments.root());
    const roots = valueOf(await reads().roots());
    expect(roots[0]).toMatchObject({ slot: chain.tip.slot, hash: chain.tip.hash });
    expect(toHex(roots[0]!.root!)).toBe(payments.root());
    expect(roots.length).toBeLessThanOrEqual(KEEP + 2);
    // those of all blocks from the first one on that stay, also of settled ones
    expect(await keptRoots()).toEqual(payments.snapshots());
    expect(payments.snapshots().length).toBeGreaterThan(KEEP);
  });
});

it("proves outputs, their absence and all of an address; those of the genesis too", async () => {
  const payments = new Payments(seeded(3));
  await follow(payments.chain, { random: payments.random });
  for (let i = 0; i < 10; i++) payments.add();
  await reached(payments.chain);
  const unspent = payments.unspent();
  const { root } = valueOf(await reads().root());
  for (const { ref, output } of [...unspent.values()].slice(0, 20)) {
    const proved = valueOf(await reads().output(ref));
    expect(valueOf(verifyOutput(root, { ref, cbor: proved!.value.cbor }, proved!.proof)).address).toBe(output.address);
  }
  const gone = genesis.find(({ ref }) => !unspent.has(refKey(ref)))!;
  expect(valueOf(await reads().output(gone.ref))).toBeUndefined();
  const absent = valueOf(await reads().outputAt(gone.output.address, gone.ref));
  expect(absent.value).toBeUndefined();
  valueOf(verifyNoOutput(root, { address: gone.output.address, ref: gone.ref }, absent.proof));
  for (const address of addresses) {
    const all = valueOf(await reads().address(address));
    expect(all.value).toHaveLength([...unspent.values()].filter(({ output }) => output.address === address).length);
    valueOf(verifyAddress(root, { address, outputs: all.value }, all.proof));
  }
});

it("builds its tree again at a start, and does not answer while it is behind", async () => {
  const payments = new Payments(seeded(4));
  const end = await follow(payments.chain, { random: payments.random });
  for (let i = 0; i < 20; i++) payments.add();
  await reached(payments.chain);
  await end();
  await store.sql`truncate chain_output_tree, chain_output_place`;
  expect(await reads().root()).toMatchObject({ error: { code: "utxo_root_unavailable" } });
  await follow(payments.chain, { random: payments.random });
  expect(await rootOf()).toBe(payments.root());
  await store.sql`update chain_cursor set tip_height = height + 100, tip_slot = slot + 500`;
  expect(await reads().root()).toMatchObject({ error: { code: "utxo_root_unavailable" } });
  const { slot } = payments.chain.tip;
  expect(await reads().progress()).toEqual({ ready: false, slot, tipSlot: slot + 500 });
});

describe("a large tree", () => {
  /** Keeps a build from writing until it is released. */
  async function holdRows(): Promise<() => Promise<void>> {
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    let locked = () => {};
    const ready = new Promise<void>((resolve) => locked = resolve);
    const holding = store.sql.begin(async (sql) => {
      await sql`lock table chain_output_tree in access share mode`;
      locked();
      await held;
    });
    await ready;
    const letGo = async () => {
      release();
      await holding;
    };
    // before the follower ends, which waits for its build
    stops.unshift(letGo);
    return letGo;
  }

  it("is built while blocks are added and rolled back, and steps crash", async () => {
    const random = seeded(7);
    const payments = new Payments(random);
    const { chain } = payments;
    for (let i = 0; i < KEEP + 8; i++) payments.add();
    const end = await follow(chain, { random });
    await reached(chain);
    await end();
    await store.sql`truncate chain_output_tree, chain_output_place`;
    const letGo = await holdRows();
    let calm = false;
    await follow(chain, { random, drop: 0.02 }, { crash: () => !calm && random() < 0.05, near: 0, treeAtOnce: 0 });
    for (let i = 0; i < 40; i++) {
      if (random() < 0.2) chain.rollback(1 + Math.floor(random() * 3));
      payments.add();
      if (i % 4 === 0) await reached(chain);
    }
    expect(await reads().root()).toMatchObject({ error: { code: "utxo_root_unavailable" } });
    calm = true;
    await reached(chain);
    const span = { after: -1, until: chain.tip.slot };
    expect(await readSnapshotsUntil(store.sql, span)).toBeLessThan(chain.tip.slot);
    await letGo();
    await until("the tree is built", async () => (await reads().root()).ok);
    expect(await readSnapshotsUntil(store.sql, span)).toBe(chain.tip.slot);
    // blocks before the build began have none
    const [kept, all] = [await keptRoots(), payments.snapshots()];
    expect(kept.map(({ slot }) => slot)).toEqual(all.map(({ slot }) => slot));
    expect(all).toEqual(expect.arrayContaining(kept.filter(({ root }) => root !== undefined)));
    expect(kept.at(-1)).toEqual(all.at(-1));
    expect(await rootOf()).toBe(payments.root());
    payments.add();
    chain.rollback(2);
    payments.add();
    await reached(chain);
    expect(await rootOf()).toBe(payments.root());
  });

  it("is built from the beginning after an interruption", async () => {
    const payments = new Payments(seeded(8));
    const { chain, random } = payments;
    const small = await follow(chain, { random });
    for (let i = 0; i < 5; i++) payments.add();
    await reached(chain);
    await small();
    await store.sql`truncate chain_output_tree, chain_output_place`;
    const letGo = await holdRows();
    const end = await follow(chain, { random }, { treeAtOnce: 0 });
    payments.add();
    await reached(chain);
    const ended = end();
    await letGo();
    await ended;
    expect(await store.sql`select 1 from chain_output_place`).toHaveLength(0);
    payments.add();
    await follow(chain, { random }, { treeAtOnce: 0 });
    await reached(chain);
    await until("the tree is built", async () => (await reads().root()).ok);
    expect(await rootOf()).toBe(payments.root());
  });
});

describe("with balances that keys redeem", () => {
  const redeem = (n: number): Utxo => ({
    ...genesisOutput(redeemAddress(new Uint8Array(32).fill(n)), 1_000_000_000n),
  });
  const balances = [redeem(1), redeem(2), redeem(3)];

  /** A chain whose first blocks are of other eras. */
  async function followEras(chain: MemoryChain, eraAt: (height: number) => number) {
    const port = memoryPort(chain, { random: seeded(9) });
    const of = (step: RawStep): ChainStep => {
      if (step.type === "backward") return step;
      const block = scanBlock(step.block);
      return { type: "scanned", block: { ...block, era: eraAt(block.height) }, tip: step.tip };
    };
    return await follow(chain, {
      ...port,
      async *follow(points, signal) {
        for await (const step of port.follow(points, signal)) yield of(step);
      },
    }, { beginning: [...genesis, ...balances] });
  }

  it.each([[1, "the first block"], [4, "the fourth block"]])("ends them with Allegra, at block %i", async (first) => {
    const payments = new Payments(seeded(first));
    const { chain } = payments;
    await followEras(chain, (height) => height < first ? 2 : height < first + 2 ? 3 : 7);
    const unspent = (ref: Utxo["ref"]) => reads().output(ref).then((read) => valueOf(read) !== undefined);
    const without = modelOf([...payments.unspent().values()]);
    const withThem = modelOf([...payments.unspent().values(), ...balances]);
    for (let height = 1; height < first; height++) chain.add();
    if (first > 1) {
      await reached(chain);
      expect(await rootOf()).toBe(withThem);
      expect(await Promise.all(balances.map(({ ref }) => unspent(ref)))).toEqual([true, true, true]);
    }
    chain.add();
    chain.add();
    await reached(chain);
    expect(await rootOf()).toBe(without);
    expect(await Promise.all(balances.map(({ ref }) => unspent(ref)))).toEqual([false, false, false]);
    chain.rollback(2);
    if (first > 1) {
      await reached(chain);
      expect(await rootOf()).toBe(withThem);
    }
    chain.add();
    await reached(chain);
    expect(await rootOf()).toBe(without);
  });
});

it("refuses to begin in the middle of a chain, also after a follower without it", async () => {
  const payments = new Payments(seeded(5));
  const end = await follow(payments.chain, { random: payments.random });
  for (let i = 0; i < 3; i++) payments.add();
  await reached(payments.chain);
  await end();
  await leaveOutputSet(store);
  const outputs = new OutputSet({ store, fence: () => Promise.resolve(), log: silentLog, keepBlocks: KEEP });
  expect(await outputs.open(() => Promise.resolve(genesis))).toMatchObject({
    error: { code: "outputs_incomplete", details: { slot: payments.chain.tip.slot } },
  });
});

it("has no root once an output is spent that it does not know", async () => {
  const payments = new Payments(seeded(6));
  await follow(payments.chain, { random: payments.random });
  const unknown: Utxo = { ...genesis[0]!, ref: { txHash: "ff".repeat(32), index: 0 } };
  payments.chain.add(spend({ from: alice, inputs: [unknown], outputs: [[alice.base, 1_000_000n]] }).cbor);
  await reached(payments.chain);
  expect(await reads().root()).toMatchObject({ error: { code: "utxo_root_unavailable" } });
  expect(await store.sql`select 1 from chain_output_whole`).toHaveLength(0);
});
