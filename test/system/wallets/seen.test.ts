/** Payments in the mempool of a chain in memory: events SEEN and WITHDRAWN, the list of a wallet, and what disturbs them. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { fail, ok } from "#src/base/result.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { spent } from "#src/cardano/block.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace } from "#src/cardano/value.ts";
import { dismiss } from "#src/chain/index/groups.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { sharedWalletMachine } from "#machines/sharedWallet.ts";
import { seenContent } from "#machines/seen.ts";
import { walletInputs, walletMachine } from "#machines/wallet.ts";
import { contentOf } from "#src/runtime/events/content.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { readSeen } from "#src/wallets/seen/rows.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import {
  beginSeen,
  eventsOf,
  seenTables,
  storyOf,
  walletOf,
  watchedChain,
} from "../../support/wallets/watchedMempool.ts";
import { until } from "../../support/base/until.ts";
import { baseAddress, type Parts, stakeKey, transactionOf } from "../../support/wallets/walletIndexModel.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let chain: MemoryChain;
let port: RawChainPort;
let world: ReturnType<typeof watchedChain>;
/** Thrown in the transactions of the watch. */
let failing: Error | undefined;

beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await seenTables(store);
  chain = new MemoryChain();
  port = { ...memoryPort(chain, { random: () => 0 }), utxosByRef: unspentOf };
  failing = undefined;
  restart();
});
afterEach(async () => {
  await world?.end();
  await store?.close();
  await infra?.stop();
});

/** The outputs that no block has spent: those that belong to no wallet are in the ledger from the start. */
const unspentOf: RawChainPort["utxosByRef"] = (refs) => {
  const spentRefs = new Set(chain.blocks.flatMap(({ scanned }) => scanned.transactions.flatMap(spent)).map(refKey));
  const output = { address: outside, value: lovelace(1n), raw: new Uint8Array() };
  const value = refs.filter((ref) => !spentRefs.has(refKey(ref))).map((ref) => ({ ref, output }));
  return Promise.resolve(ok({ point: chain.tip, value }));
};

/** Starts the follower and the watch, as another process would. */
function restart(): void {
  world = watchedChain(store, port, () => {
    if (failing) throw failing;
  });
}

let serial = 0;
/** An input that belongs to no wallet. */
const foreign = (): OutRef => ({ txHash: (++serial + 2 ** 41).toString(16).padStart(64, "0"), index: 0 });
const outside = `60${"ee".repeat(28)}`;
const text = (hex: string) => {
  const read = readAddressHex(hex);
  if (!read.ok) throw new Error(read.error.message);
  return addressText(read.value);
};

/** Puts a transaction into the mempool. */
function submit(parts: Partial<Parts>): { cbor: Uint8Array; hash: string } {
  const cbor = transactionOf({ inputs: [foreign()], outputs: [], fee: 200_000n, ...parts });
  const { hash } = scanTransaction(cbor);
  chain.mempool.set(hash, cbor);
  return { cbor, hash };
}
const pay = (account: string, amount: bigint, more: Partial<Parts> = {}) =>
  submit({ outputs: [{ address: baseAddress(account, 0, 0), value: lovelace(amount) }], ...more });

/** A block of transactions, which leave the mempool; the index has read it. */
async function block(...transactions: readonly { cbor: Uint8Array; hash: string }[]): Promise<void> {
  chain.add(...transactions.map(({ cbor }) => cbor));
  for (const { hash } of transactions) chain.mempool.delete(hash);
  await world.atTip();
}

/** Undoes blocks; a new one follows. */
async function undo(count: number): Promise<void> {
  chain.rollback(count);
  chain.add();
  await world.atTip();
}

async function read(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) await world.watch.poll();
}

const listed = async (account: string) =>
  (await readSeen(store.sql, walletOf(account), { after: 0, limit: 10 })).map(({ hash }) => hash);

async function begin(account = "ann"): Promise<string> {
  const wallet = await beginSeen(store, account);
  chain.add();
  await world.atTip();
  return wallet;
}

describe("a payment from outside", () => {
  it("is seen once, and the block's event ends it", async () => {
    const wallet = await begin();
    const paid = pay("ann", 5_000_000n, { validTo: 900 });
    await read(3);
    const { slot, height } = chain.tip;
    expect((await eventsOf(store, wallet)).slice(1)).toEqual([{
      type: "SEEN",
      hash: paid.hash,
      direction: "incoming",
      amount: "5000000",
      assets: {},
      addresses: [text(baseAddress("ann", 0, 0))],
      validTo: 900,
      at: { slot, height },
      life: 1,
    }]);
    expect(await readSeen(store.sql, wallet, { after: 0, limit: 10 })).toEqual([{
      n: 1,
      hash: paid.hash,
      direction: "incoming",
      amount: 5_000_000n,
      assets: [],
      addresses: [text(baseAddress("ann", 0, 0))],
      cut: false,
      validTo: 900,
      at: { slot, height },
    }]);
    await block(paid);
    // before and after the watch has seen that it left
    expect(await listed("ann")).toEqual([]);
    await read(3);
    expect(await listed("ann")).toEqual([]);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "TRANSACTION"]);
    expect(await store.sql`select 1 from wallet_seen`).toHaveLength(0);
  });

  it("stays seen over restarts", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    await world.end();
    restart();
    await world.atTip();
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    chain.mempool.delete(paid.hash);
    await read();
    await world.end();
    restart();
    await world.atTip();
    await read(3);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "WITHDRAWN left"]);
  });

  it("is written once, with its event, where the process ends in the middle", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    failing = new Error("killed");
    await expect(world.watch.poll()).rejects.toThrow("killed");
    expect(await storyOf(store, wallet)).toEqual([]);
    failing = undefined;
    await read(2);
    chain.mempool.delete(paid.hash);
    failing = new Error("killed");
    for (let i = 0; i < 3; i++) await expect(world.watch.poll()).rejects.toThrow("killed");
    failing = undefined;
    await read(3);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "WITHDRAWN left"]);
  });

  it("is seen again after a rollback that returns it, whether or not the watch has seen its block", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    for (const noticed of [true, false]) {
      await block(paid);
      if (noticed) await read(2);
      chain.mempool.set(paid.hash, paid.cbor);
      await undo(1);
      expect(await listed("ann")).toEqual([]);
      await read(2);
      expect(await listed("ann")).toEqual([paid.hash]);
    }
    const round = ["SEEN", "TRANSACTION", "ROLLED_BACK"];
    expect(await storyOf(store, wallet)).toEqual([...round, ...round, "SEEN"]);
  });

  it("is not withdrawn after a rollback that drops it: the rollback has ended it", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    await block(paid);
    await undo(1);
    await read(3);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "TRANSACTION", "ROLLED_BACK"]);
  });
});

describe("a payment that leaves the mempool without a block", () => {
  it("is withdrawn once, at the second read without it", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    chain.mempool.delete(paid.hash);
    await read();
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    expect(await listed("ann")).toEqual([paid.hash]);
    await read(3);
    expect((await eventsOf(store, wallet)).at(-1)).toEqual({
      type: "WITHDRAWN",
      hash: paid.hash,
      reason: "left",
      life: 1,
    });
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "WITHDRAWN left"]);
    expect(await listed("ann")).toEqual([]);
    // and seen again when it comes back
    chain.mempool.set(paid.hash, paid.cbor);
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "WITHDRAWN left", "SEEN"]);
  });

  it("is not withdrawn if it returns before that", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    for (let i = 0; i < 3; i++) {
      chain.mempool.delete(paid.hash);
      await read();
      chain.mempool.set(paid.hash, paid.cbor);
      await read();
    }
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
  });

  it("is withdrawn with the reason that is known", async () => {
    const wallet = await begin();
    const input = foreign();
    const replaced = pay("ann", 1_000_000n, { inputs: [input] });
    const expired = pay("ann", 2_000_000n, { validTo: chain.tip.slot + 1 });
    const broken = pay("ann", 3_000_000n);
    await read();
    const other = submit({ inputs: [input], outputs: [{ address: outside, value: lovelace(1_000_000n) }] });
    // a block holds it as one whose script failed
    chain.mempool.clear();
    chain.add(other.cbor);
    await world.atTip();
    await store.sql`insert into chain_transaction (hash, block_hash, height, index, valid, from_slot)
      values (${broken.hash}, ${chain.tip.hash}, ${chain.tip.height}, 1, false, ${chain.tip.slot})`;
    await read(3);
    const reasons = (await eventsOf(store, wallet)).filter(({ type }) => type === "WITHDRAWN");
    expect(reasons.map(({ hash, reason }) => [hash, reason])).toEqual([
      [replaced.hash, "conflict"],
      [expired.hash, "expired"],
      [broken.hash, "failed"],
    ]);
  });

  it("is not withdrawn while the network does not answer or the index is behind", async () => {
    const wallet = await begin();
    const paid = pay("ann", 1_000_000n);
    await read();
    const away = () => Promise.resolve(fail("network_unreachable", "The node is away."));
    const faulty = { ...port };
    await world.end();
    world = watchedChain(store, faulty);
    await world.atTip();
    await read();
    chain.mempool.delete(paid.hash);
    faulty.mempool = away;
    await read(5);
    faulty.mempool = port.mempool;
    faulty.tip = away;
    await read(5);
    // a network ahead of the index: the block may hold it
    faulty.tip = async () => ({ ok: true, value: { slot: 10_000, hash: "ab".repeat(32), height: 10_000 } });
    await read(5);
    // a mempool of which the read gave a part
    faulty.tip = port.tip;
    faulty.mempool = async () => ({ ok: true, value: { hashes: new Set(), transactions: [], complete: false } });
    await read(5);
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    faulty.mempool = port.mempool;
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN", "WITHDRAWN left"]);
  });
});

describe("whose", () => {
  it("gives what wallets gain and lose, through chains of unconfirmed transactions", async () => {
    const ann = await begin("ann");
    const bob = await begin("bob");
    const token = `${"ab".repeat(28)}01`;
    const first = submit({
      outputs: [{ address: baseAddress("ann", 0, 3), value: { lovelace: 9_000_000n, assets: new Map([[token, 7n]]) } }],
    });
    await read();
    const second = submit({
      inputs: [{ txHash: first.hash, index: 0 }],
      outputs: [
        { address: baseAddress("bob", 0, 1), value: { lovelace: 2_000_000n, assets: new Map([[token, 3n]]) } },
        { address: baseAddress("ann", 1, 0), value: { lovelace: 6_800_000n, assets: new Map([[token, 4n]]) } },
      ],
      withdrawals: new Map([[`e0${stakeKey("ann")}`, 100_000n]]),
    });
    await read();
    const seen = async (wallet: string, hash: string) =>
      (await eventsOf(store, wallet)).filter((one) => one.hash === hash)
        .map(({ direction, amount, assets, addresses }) => ({ direction, amount, assets, addresses }));
    expect(await seen(ann, first.hash)).toEqual([{
      direction: "incoming",
      amount: "9000000",
      assets: { [token]: "7" },
      addresses: [text(baseAddress("ann", 0, 3))],
    }]);
    expect(await seen(ann, second.hash)).toEqual([{
      direction: "outgoing",
      amount: "2300000",
      assets: { [token]: "-3" },
      addresses: [text(baseAddress("ann", 1, 0))],
    }]);
    expect(await seen(bob, second.hash)).toEqual([{
      direction: "incoming",
      amount: "2000000",
      assets: { [token]: "3" },
      addresses: [text(baseAddress("bob", 0, 1))],
    }]);
    // the same amounts as the block's
    await block(first, second);
    const landed = (await eventsOf(store, ann)).filter(({ type }) => type === "TRANSACTION");
    expect(landed.map(({ hash, direction, amount }) => [hash, direction, amount])).toEqual([
      [first.hash, "incoming", "9000000"],
      [second.hash, "outgoing", "2300000"],
    ]);
  });

  it("finds payments to Byron wallets, and to addresses that a pool reaches only later", async () => {
    const root = "11".repeat(64);
    const pathKey = byronPathKey(root);
    const wallet = walletOf("random");
    await beginSeen(store, "random", { wallet, kind: "random", network: 0, pathKey: toHex(pathKey) });
    const ann = await begin("ann");
    const address = randomAddress({ pathKey, path: [HARD, HARD + 5], key: root, magic: 42 });
    submit({ outputs: [{ address, value: lovelace(4_000_000n) }] });
    const beyond = submit({ outputs: [{ address: baseAddress("ann", 0, 25), value: lovelace(1_000_000n) }] });
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    expect((await eventsOf(store, wallet)).at(-1)).toMatchObject({ amount: "4000000", addresses: [text(address)] });
    expect(await storyOf(store, ann)).toEqual([]);
    // index 10 extends the pool to 31
    const use = submit({ outputs: [{ address: baseAddress("ann", 0, 10), value: lovelace(1_000_000n) }] });
    await block(use);
    await read(2);
    expect(await storyOf(store, ann, beyond.hash)).toEqual(["SEEN"]);
  });

  it("sees what stands in the mempool when a wallet is created", async () => {
    chain.add();
    const paid = pay("ann", 1_000_000n);
    await world.atTip();
    await read(2);
    const wallet = await begin("ann");
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    expect(await listed("ann")).toEqual([paid.hash]);
  });

  it("forgets a deleted wallet, and one of the same account begins again", async () => {
    const wallet = await begin("ann");
    pay("ann", 1_000_000n);
    await read();
    await store.sql.begin((sql) => dismiss(sql, "wallet", [wallet]));
    chain.mempool.clear();
    await read(3);
    await until("the wallet's rows are erased", async () => {
      world.follower.wake();
      return (await store.sql`select 1 from chain_member`).length === 0;
    });
    expect(await store.sql`select 1 from wallet_seen`).toHaveLength(0);
    await read(2);
    expect(await storyOf(store, wallet)).toEqual(["SEEN"]);
    await beginSeen(store, "ann", undefined, 2);
    await world.atTip();
    pay("ann", 2_000_000n);
    await read(2);
    expect((await eventsOf(store, wallet)).at(-1)).toMatchObject({ type: "SEEN", amount: "2000000", life: 2 });
  });
});

it("keeps an event of a transaction with hundreds of assets and addresses below 8,000 bytes", async () => {
  const wallet = await begin();
  const outputs = Array.from({ length: 20 }, (_, i) => ({
    address: baseAddress("ann", 0, i),
    value: {
      lovelace: 2_000_000n,
      assets: new Map(
        Array.from(
          { length: 10 },
          (_, k) =>
            [
              `${"ab".repeat(28)}${"cd".repeat(31)}${(i * 10 + k).toString(16).padStart(2, "0")}`,
              2n ** 63n - 1n,
            ] as const,
        ),
      ),
    },
  }));
  submit({ outputs, validTo: 2 ** 53 - 1 });
  await read();
  const event = (await eventsOf(store, wallet)).at(-1)!;
  expect(event).toMatchObject({ type: "SEEN", amount: "40000000", cut: true });
  expect(Object.keys(event.assets as object).length).toBeGreaterThan(20);
  expect((event.addresses as string[]).length).toBeGreaterThan(15);
  expect(new TextEncoder().encode(JSON.stringify(event)).length).toBeLessThan(8_000);
  expect(walletInputs.parse(event)).toEqual(event);
  // the content of its event, which is not too large for one
  const { type: _, life: __, ...content } = event;
  expect(contentOf({ schemas: seenContent, guarded: true }, event as unknown as Json)).toEqual(content);
});

it("reads a mempool of 10,000 transactions, and withdraws all of them", async () => {
  const wallet = await begin();
  for (let i = 0; i < 10_000; i++) pay(i % 10 === 0 ? "ann" : "zoe", BigInt(1_000_000 + i));
  await read(2);
  const story = await storyOf(store, wallet);
  expect(story).toEqual(Array.from({ length: 1_000 }, () => "SEEN"));
  chain.mempool.clear();
  await read(3);
  expect(await storyOf(store, wallet)).toEqual([...story, ...story.map(() => "WITHDRAWN left")]);
});

it("says at any time what is in the mempool, over blocks, rollbacks, restarts and failures", async () => {
  const random = seeded(7);
  const below = (most: number) => Math.floor(random() * most);
  const accounts = ["ann", "bob"];
  for (const account of accounts) await begin(account);
  const undone: { cbor: Uint8Array; hash: string }[][] = [];
  for (let i = 0; i < 60; i++) {
    for (let k = below(3); k > 0; k--) pay(accounts[below(2)]!, BigInt(1_000_000 + below(1_000_000)));
    const waiting = [...chain.mempool].map(([hash, cbor]) => ({ hash, cbor }));
    const lot = random();
    if (lot < 0.35) {
      const some = waiting.filter(() => random() < 0.5);
      undone.push(some);
      await block(...some);
    } else if (lot < 0.5 && undone.length > 2) {
      const blocks = undone.splice(-1 - below(2));
      if (random() < 0.6) { for (const { hash, cbor } of blocks.flat()) chain.mempool.set(hash, cbor); }
      undone.push([]);
      await undo(blocks.length);
    } else if (lot < 0.65) {
      for (const { hash } of waiting) if (random() < 0.3) chain.mempool.delete(hash);
    } else if (lot < 0.7) {
      await world.end();
      restart();
      await world.atTip();
    }
    failing = random() < 0.2 ? new Error("killed") : undefined;
    await world.watch.poll().catch(() => {});
    failing = undefined;
  }
  await read(3);
  for (const account of accounts) {
    const open = new Set<string>();
    const inBlock = new Map<string, number>();
    for (const { type, hash, slot } of await eventsOf(store, walletOf(account))) {
      if (type === "ROLLED_BACK") {
        for (const [one, at] of inBlock) if (at > Number(slot)) inBlock.delete(one);
      } else if (type === "TRANSACTION") {
        open.delete(hash!);
        inBlock.set(hash!, Number(slot));
      } else if (type === "SEEN") {
        expect([open.has(hash!), inBlock.has(hash!)]).toEqual([false, false]);
        open.add(hash!);
      } else if (type === "WITHDRAWN") expect(open.delete(hash!)).toBe(true);
    }
    const address = baseAddress(account, 0, 0);
    const mine = [...chain.mempool].filter(([, cbor]) =>
      scanTransaction(cbor).outputs.some((one) => one.address === address)
    );
    expect([...open].sort()).toEqual(mine.map(([hash]) => hash).sort());
    expect((await listed(account)).length).toBe(Math.min(10, open.size));
  }
});

it("is accepted by the machines wherever TRANSACTION is, and its content has no more than is described", () => {
  for (const machine of [walletMachine, sharedWalletMachine]) {
    const states = Object.entries(machine.config.states ?? {}).map(([name, state]) =>
      [name, Object.keys(state?.on ?? {})] as const
    );
    const accepting = (type: string) => states.filter(([, types]) => types.includes(type)).map(([name]) => name);
    expect(accepting("TRANSACTION")).toEqual(["beginning", "restoring", "live"]);
    expect(accepting("SEEN")).toEqual(accepting("TRANSACTION"));
    expect(accepting("WITHDRAWN")).toEqual(accepting("TRANSACTION"));
  }
  const withdrawn = { hash: "ab".repeat(32), reason: "left" };
  expect(seenContent.WITHDRAWN.parse({ type: "WITHDRAWN", ...withdrawn, life: 3 })).toEqual(withdrawn);
});
