/**
 * The wallets' index compared with a plain model: on a chain that lags, drops and rolls back, with crashes at every
 * line, wallets with any start block that are added at once or long after, address pools that run out, and the same
 * account in several wallets.
 */
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { createLog, silentLog } from "#src/base/log.ts";
import { fromHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import { origin, type Point, type ScannedBlock } from "#src/cardano/block.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { lovelace, type Value } from "#src/cardano/value.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower, type FollowerOptions } from "#src/chain/index/follower.ts";
import { dismiss, enrol } from "#src/chain/index/groups.ts";
import { memberPosition } from "../../support/chain/memberPosition.ts";
import { BalanceReplica } from "#src/client/balances.ts";
import { prune, pruneTransientRows } from "#src/chain/index/prune.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Queries, type Store } from "#src/store/store.ts";
import { beginWallet, prepareWallet } from "#src/wallets/index/begin.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { walletSupply } from "#src/wallets/index/supply.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { heldBy, Publisher } from "../../support/wallets/balanceEvents.ts";
import { type ChainFaults, MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import {
  baseAddress,
  deriver,
  KEY_DEPOSIT,
  keyAt,
  type ModelState,
  type ModelWallet,
  replayWallet,
  stakeKey,
  transactionOf,
} from "../../support/wallets/walletIndexModel.ts";

const RUNS = Number(process.env.WALLET_RUNS ?? 3);
const STEPS = 100;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let made = deriver();
beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  made = deriver();
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets/index", "wallets/seen"));
  await store.sql`create table heard (n bigint generated always as identity, body jsonb)`;
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });
const walletId = (name: string) => Array.from(name, (c) => c.charCodeAt(0).toString(16)).join("").padEnd(40, "0");

async function begin({ wallet, account, gap, start }: ModelWallet): Promise<void> {
  const prepared = await prepareWallet(
    {
      wallet,
      kind: "shelley",
      network: 0,
      gap,
      prefix: "1852H/1815H/0H",
      account,
      stake: { kind: "key", hash: stakeKey(account) },
    },
    start,
    made.derive,
  );
  await store.sql.begin(async (sql) => {
    expect(await beginWallet(sql, prepared, enrol)).toEqual({ ok: true, value: null });
  });
}

/** The index's content for a wallet, in the model's form. */
async function readState(sql: Queries, wallet: string): Promise<ModelState> {
  const pools = await sql<{ role: number; size: number; used: number }[]>`
    select role, size, used from wallet_pool where wallet = ${wallet} and to_slot is null order by role`;
  const uses = await sql<{ role: bigint; index: bigint }[]>`
    select role, index from wallet_use where wallet = ${wallet} order by role, index`;
  const utxos = await sql<{ ref: string }[]>`
    select ref from wallet_utxo where wallet = ${wallet} and to_slot is null order by ref`;
  const holdings = await sql<{ asset: string; quantity: string }[]>`
    select asset, quantity from wallet_holding where wallet = ${wallet} and to_slot is null order by asset collate "C"`;
  const transactions = await sql<Record<string, bigint>[]>`
    select * from wallet_transaction where wallet = ${wallet} order by from_slot, index`;
  for (const { role, used } of pools) {
    expect(used).toBe(
      Math.max(-1, ...uses.filter((use) => Number(use.role) === role).map(({ index }) => Number(index))),
    );
  }
  return {
    pools: pools.map(({ role, size }) => ({
      size,
      used: uses.filter((use) => Number(use.role) === role).map(({ index }) => Number(index)),
    })),
    utxos: utxos.map(({ ref }) => ref),
    holdings: Object.fromEntries(holdings.map(({ asset, quantity }) => [asset, BigInt(quantity)])),
    transactions: transactions.map((row) => ({
      hash: String(row.hash),
      slot: Number(row.from_slot),
      net: row.net!,
      fee: row.fee ?? undefined,
      taken: row.deposit_taken!,
      returned: row.deposit_returned!,
      withdrawal: row.withdrawal ?? undefined,
    })),
  };
}

/** A follower of a chain in memory, and how it ends. */
function follow(chain: MemoryChain, moods: ChainFaults, more: Partial<FollowerOptions> = {}) {
  const stop = new AbortController();
  const follower = new Follower({
    store,
    port: memoryPort(chain, moods),
    projections: [walletProjection({ keyDeposit: KEY_DEPOSIT })],
    supplies: new Map([["wallet", walletSupply(store.sql, (order) => made.derive(order))]]),
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
    ...more,
  });
  const running = follower.run(stop.signal);
  return {
    follower,
    settled: () =>
      until("everything is read at the tip", async () => {
        const [restoring] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
        return !restoring && (await readCursor(store.sql)).at.hash === chain.tip.hash;
      }),
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

let serial = 0;
/** An input that belongs to no wallet. */
const seed = () => ({ txHash: (++serial + 2 ** 41).toString(16).padStart(64, "0"), index: 0 });
const paying = (...addresses: readonly string[]) =>
  transactionOf({
    inputs: [seed()],
    outputs: addresses.map((address) => ({ address, value: lovelace(1_000_000n) })),
    fee: 200_000n,
  });

/** Makes random transactions about some wallets. */
class Payer {
  constructor(private readonly random: () => number) {}

  private below(most: number): number {
    return Math.floor(this.random() * most);
  }

  private value(): Value {
    const assets = new Map<string, bigint>();
    while (this.random() < 0.3) assets.set("ab".repeat(28) + `0${this.below(4)}`, BigInt(1 + this.below(50)));
    return { lovelace: BigInt(1_000_000 + this.below(1_000_000)), assets };
  }

  /** An address of a wallet: within its pools, at their very end, or beyond. */
  private address(wallet: ModelWallet, { pools }: ModelState): string {
    const role = this.random() < 0.7 ? 0 : 1;
    const { size } = pools[role]!;
    const lot = this.random();
    const index = lot < 0.5 ? this.below(size) : lot < 0.8 ? size - 1 : size + this.below(30);
    // without a stake part, or with another one, it still belongs to the wallet; with a script's header to none
    const key = keyAt(wallet.account, role, index);
    const form = this.random();
    return form < 0.8
      ? baseAddress(wallet.account, role, index)
      : form < 0.9
      ? `60${key}`
      : form < 0.95
      ? `70${key}`
      : `00${key}${"cd".repeat(28)}`;
  }

  next(wallets: readonly ModelWallet[], chain: MemoryChain): Uint8Array[] {
    const blocks = chain.blocks.map(({ scanned }) => scanned);
    const transactions: Uint8Array[] = [];
    for (const wallet of wallets) {
      if (this.random() > 0.4) continue;
      const state = replayWallet(wallet, blocks);
      const inputs = state.utxos.filter(() => this.random() < 0.3).map(parseRefKey);
      const outputs = [...Array(1 + this.below(3))].map(() => ({
        address: this.address(wallet, state),
        value: this.value(),
      }));
      const fee = BigInt(170_000 + this.below(1_000));
      if (this.random() < 0.1 && inputs.length > 0) {
        const [first] = outputs;
        transactions.push(transactionOf({
          inputs: [seed()],
          outputs,
          fee,
          collateral: inputs,
          ...(this.random() < 0.5 ? { collateralReturn: first! } : {}),
          totalCollateral: 500_000n,
          withdrawals: new Map([[`e0${stakeKey(wallet.account)}`, 5n]]),
          valid: false,
        }));
        continue;
      }
      const key = [0, fromHex(stakeKey(wallet.account))];
      const lot = this.random();
      transactions.push(transactionOf({
        inputs: [...inputs, seed()],
        outputs: this.random() < 0.1 ? [] : outputs,
        fee,
        ...(this.random() < 0.1
          ? { withdrawals: new Map([[`e0${stakeKey(wallet.account)}`, BigInt(this.below(1_000))]]) }
          : {}),
        certificates: lot < 0.05 ? [[0, key]] : lot < 0.1 ? [[7, key, 3_000_000n]] : lot < 0.15 ? [[1, key]] : [],
      }));
    }
    return transactions;
  }
}

/** The events that were committed, in the order of the input log. */
const written: FollowerOptions["append"] = async (sql, touched) => {
  for (const one of touched) await sql`insert into heard (body) values (${toJson(one)}::text::jsonb)`;
};

/** A replica after all events that were committed, and one that was saved and loaded half way. */
async function replicas(): Promise<readonly [BalanceReplica, BalanceReplica]> {
  const rows = await store.sql<{ body: Touched }[]>`select body from heard order by n`;
  const publisher = new Publisher();
  const events = rows.flatMap(({ body }) => publisher.events(body));
  const whole = new BalanceReplica();
  let resumed = new BalanceReplica();
  events.forEach((event, i) => {
    whole.apply(event);
    resumed.apply(event);
    if (i === Math.floor(events.length / 2)) {
      resumed = new BalanceReplica(JSON.parse(JSON.stringify(resumed.save())));
      // a stream may deliver again what was applied
      for (const again of events.slice(Math.max(0, i - 5), i + 1)) resumed.apply(again);
    }
  });
  return [whole, resumed];
}

/** Expects that events alone give the balances of wallets that the index has. */
async function expectReplicas(wallets: readonly ModelWallet[], blocks: readonly ScannedBlock[]): Promise<void> {
  for (const replica of await replicas()) {
    for (const wallet of wallets) {
      const { holdings } = replayWallet(wallet, blocks);
      const held = Object.entries(holdings).filter(([asset, quantity]) => asset === "" || quantity > 0n);
      expect([wallet.wallet, heldBy(replica, wallet.wallet)]).toEqual([wallet.wallet, {
        "": 0n,
        ...Object.fromEntries(held),
      }]);
    }
  }
}

describe("compared with a plain model", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => i + 1))("run %i", async (run) => {
    // the events are the same in every run of a seed, their timing is not
    const random = seeded(run);
    const luck = seeded(run + 1_000);
    const chain = new MemoryChain();
    const payer = new Payer(random);
    const events: Touched[] = [];
    let calm = false;
    let crashes = 0;
    const { follower, settled, end } = follow(chain, { random: luck, drop: 0.02, ...(run % 2 ? { lagMs: 2 } : {}) }, {
      append: async (sql, touched) => {
        events.push(...touched);
        await written(sql, touched);
      },
      near: run % 2 ? 20 : 0,
      keepBlocks: 30,
      onStep: (step) => {
        if (calm || luck() > 0.03) return;
        crashes++;
        throw new Error(`crash at ${step}`);
      },
    });
    const wallets: (ModelWallet & { readonly at: number })[] = [];
    let rollbacks = 0;
    try {
      for (let i = 0; i < STEPS; i++) {
        if (chain.blocks.length > 6 && random() < 0.08) {
          chain.rollback(1 + Math.floor(random() * 6));
          rollbacks++;
        }
        if (i % 25 === 0) {
          const account = `account ${i}`;
          const gap = [10, 20, 11, 37][i / 25]!;
          const start = i === 0 ? origin : pointOf(chain.tip);
          wallets.push({ wallet: walletId(`w${i}`), account, gap, start, at: i + Math.floor(random() * 60) });
          // the same account with another gap, read from the origin
          wallets.push({
            wallet: walletId(`a${i}`),
            account,
            gap: 10,
            start: origin,
            at: i + Math.floor(random() * 60),
          });
        }
        chain.add(...payer.next(wallets.filter(({ wallet }) => wallet.startsWith("77")), chain));
        for (const wallet of wallets) if (wallet.at === i) await begin(wallet);
        follower.wake();
        await sleep(luck() * 20);
      }
      calm = true;
      for (const wallet of wallets) if (wallet.at >= STEPS) await begin(wallet);
      follower.wake();
      await settled();
      for (let i = 0; i < 5; i++) chain.add(...payer.next(wallets, chain));
      await settled();
      const blocks = chain.blocks.map(({ scanned }) => scanned);
      let seen = 0;
      for (const wallet of wallets) {
        // the start block of a wallet on an abandoned branch does not exist: it is read from there on anyway
        const state = await readState(store.sql, wallet.wallet);
        expect([wallet.wallet, state]).toEqual([wallet.wallet, replayWallet(wallet, blocks)]);
        seen += state.transactions.length;
      }
      await expectReplicas(wallets, blocks);
      console.log(
        `run ${run}: ${blocks.length} blocks stand, ${rollbacks} rollbacks, ${crashes} crashes, ${seen} transactions, ` +
          `${made.state.orders} orders of stock`,
      );
      expect(seen).toBeGreaterThan(100);
      expect(rollbacks).toBeGreaterThan(2);
      expect(made.state.orders).toBeGreaterThan(2 * wallets.length);
      expect(events.some(({ event }) => event.type === "RESTORED")).toBe(true);
      expect(events.filter(({ event }) => event.type === "TRANSACTION").length).toBeGreaterThan(20);
      // and back over any depth
      for (const depth of [1, 7, 20]) {
        chain.rollback(depth);
        chain.add();
        await settled();
        const left = chain.blocks.map(({ scanned }) => scanned);
        for (const wallet of wallets) {
          expect([depth, wallet.wallet, await readState(store.sql, wallet.wallet)]).toEqual([
            depth,
            wallet.wallet,
            replayWallet(wallet, left),
          ]);
        }
        await expectReplicas(wallets, left);
      }
      expect(events.some(({ event }) => event.type === "ROLLED_BACK")).toBe(true);
    } finally {
      await end();
    }
  });
});

describe("events", () => {
  const wallet: ModelWallet = { wallet: walletId("one"), account: "one", gap: 20, start: origin };
  const late: ModelWallet = { ...wallet, wallet: walletId("late") };
  const calm: ChainFaults = { random: () => 0 };
  const receive = (index: number) => baseAddress(wallet.account, 0, index);
  const scannedOf = (chain: MemoryChain) => chain.blocks.map(({ scanned }) => scanned);

  it("say everything of wallets that are read with all others, however far the tip is", async () => {
    const chain = new MemoryChain();
    await begin(wallet);
    const first = follow(chain, calm, { append: written });
    await first.settled();
    await first.end();
    for (let i = 0; i < 60; i++) chain.add(paying(receive(i)));
    const { follower, settled, end } = follow(chain, calm, { keepBlocks: 10, append: written });
    try {
      await settled();
      await begin(late);
      follower.wake();
      await settled();
      await expectReplicas([wallet, late], scannedOf(chain));
      const counts = await store.sql<{ wallet: string; n: number }[]>`
        select body->'entity'->>'id' as wallet, count(*)::int as n from heard
        where body->'event'->>'type' = 'TRANSACTION' group by 1 order by 1 desc`;
      expect(counts[0]).toEqual({ wallet: wallet.wallet, n: 60 });
      // what a restoration reads is in its whole balance at the end
      expect(counts[1]?.n ?? 0).toBeLessThan(20);
    } finally {
      await end();
    }
  });

  it("have at most 8,000 bytes each: more assets and addresses follow, or are counted", async () => {
    const chain = new MemoryChain();
    await begin(wallet);
    const { follower, settled, end } = follow(chain, calm, { append: written });
    const assets = new Map(
      Array.from({ length: 300 }, (_, i) => [`${"ab".repeat(28)}${i.toString(16).padStart(64, "0")}`, 2n ** 63n - 1n]),
    );
    const minted = transactionOf({
      inputs: [seed()],
      outputs: [
        { address: receive(0), value: { lovelace: 50_000_000n, assets } },
        ...Array.from({ length: 90 }, (_, i) => ({ address: receive(i % 45), value: lovelace(1_000_000n) })),
      ],
      fee: 200_000n,
    });
    try {
      await settled();
      chain.add(paying(receive(19), receive(38)));
      chain.add(minted);
      await settled();
      const { transactions: [mint] } = chain.blocks.at(-1)!.scanned;
      await expectReplicas([wallet], scannedOf(chain));
      const heard = async (type: string) =>
        (await store.sql<{ body: Touched }[]>`select body from heard where body->'event'->>'type' = ${type}
          order by n desc`).map(({ body }) => body.event);
      const [transaction] = await heard("TRANSACTION");
      expect(transaction).toMatchObject({
        hash: mint!.hash,
        direction: "incoming",
        amount: "140000000",
        lovelace: "140000000",
        fee: "200000",
        block: { hash: chain.tip.hash, height: chain.tip.height, slot: chain.tip.slot },
      });
      expect(transaction).not.toHaveProperty("withdrawal");
      const { received, receivedLeftOut, assets: first, following } = transaction as unknown as {
        readonly received: readonly { readonly address: string; readonly lovelace: string }[];
        readonly receivedLeftOut: number;
        readonly assets: Readonly<Record<string, string>>;
        readonly following: number;
      };
      // the first address has all the assets, so it is left out
      expect(received[0]).toEqual({ address: hexAddressText(receive(1)), lovelace: "2000000" });
      expect([received.length, receivedLeftOut]).toEqual([17, 28]);
      const parts = (await heard("ASSETS")).reverse();
      expect(following).toBe(parts.length);
      expect(parts.map((part) => part.following ?? 0)).toEqual(parts.map((_, i) => parts.length - 1 - i));
      const all = parts.map((part) => part.assets as Readonly<Record<string, string>>).concat(first).map(
        Object.entries,
      );
      expect(new Map(all.flat())).toEqual(new Map([...assets].map(([asset, quantity]) => [asset, String(quantity)])));
      expect(all.flat()).toHaveLength(300);
      // whole balances have them too
      await begin(late);
      follower.wake();
      chain.add(paying(receive(1)));
      await settled();
      await expectReplicas([wallet, late], scannedOf(chain));
      chain.rollback(1);
      chain.add();
      await settled();
      await expectReplicas([wallet, late], scannedOf(chain));
      // down to before the restoration of the second
      chain.rollback(2);
      chain.add();
      await settled();
      await expectReplicas([wallet, late], scannedOf(chain));
    } finally {
      await end();
    }
  });

  it("list the wallet's own addresses with what they received, change among them", async () => {
    const chain = new MemoryChain();
    await begin(wallet);
    const { settled, end } = follow(chain, calm, { append: written });
    const asset = `${"cd".repeat(28)}00`;
    try {
      await settled();
      chain.add(transactionOf({
        inputs: [seed()],
        outputs: [{ address: receive(0), value: { lovelace: 9_000_000n, assets: new Map([[asset, 5n]]) } }],
        fee: 1n,
      }));
      const { transactions: [first] } = chain.blocks.at(-1)!.scanned;
      // lovelace stays the same, an asset goes; rewards pay the fee
      chain.add(transactionOf({
        inputs: [{ txHash: first!.hash, index: 0 }],
        outputs: [
          {
            address: baseAddress(wallet.account, 1, 0),
            value: { lovelace: 4_000_000n, assets: new Map([[asset, 2n]]) },
          },
          { address: baseAddress("other", 0, 0), value: { lovelace: 1_500_000n, assets: new Map([[asset, 3n]]) } },
          { address: baseAddress(wallet.account, 1, 0), value: lovelace(5_000_000n) },
        ],
        fee: 500_000n,
        withdrawals: new Map([[`e0${stakeKey(wallet.account)}`, 2_000_000n]]),
      }));
      await settled();
      await expectReplicas([wallet], scannedOf(chain));
      const rows = await store.sql<{ body: Touched }[]>`
        select body from heard where body->'event'->>'type' = 'TRANSACTION' order by n desc`;
      const { transactions: [second] } = chain.blocks.at(-1)!.scanned;
      expect(rows[0]?.body.event).toEqual({
        type: "TRANSACTION",
        slot: chain.tip.slot,
        hash: second!.hash,
        direction: "outgoing",
        amount: "2000000",
        block: { hash: chain.tip.hash, height: chain.tip.height, slot: chain.tip.slot },
        lovelace: "0",
        fee: "500000",
        withdrawal: "2000000",
        assets: { [asset]: "-3" },
        received: [{
          address: hexAddressText(baseAddress(wallet.account, 1, 0)),
          lovelace: "9000000",
          assets: { [asset]: "2" },
        }],
      });
    } finally {
      await end();
    }
  });
});

describe("pools", () => {
  const wallet: ModelWallet = { wallet: walletId("one"), account: "one", gap: 20, start: origin };
  const calm: ChainFaults = { random: () => 0 };
  const receive = (index: number) => baseAddress(wallet.account, 0, index);

  const expectExact = async (chain: MemoryChain, utxos: number) => {
    const expected = replayWallet(wallet, chain.blocks.map(({ scanned }) => scanned));
    expect(expected.utxos).toHaveLength(utxos);
    expect(await readState(store.sql, wallet.wallet)).toEqual(expected);
  };

  it("lose nothing when a block pays the last address of a pool and the next one beyond it", async () => {
    const chain = new MemoryChain();
    await begin(wallet);
    const { settled, end } = follow(chain, calm);
    try {
      await settled();
      chain.add(paying(receive(19)));
      chain.add(paying(receive(24)));
      await settled();
      await expectExact(chain, 2);
      // 45 is the first index out of reach, which cannot be known
      chain.add(paying(receive(45)));
      await settled();
      await expectExact(chain, 2);
      chain.add(paying(receive(44)));
      chain.add(paying(receive(45)));
      await settled();
      await expectExact(chain, 4);
    } finally {
      await end();
    }
  });

  it("lose nothing within one block, whatever the order of its outputs", async () => {
    const chain = new MemoryChain();
    await begin(wallet);
    const { settled, end } = follow(chain, calm);
    try {
      chain.add(paying(receive(55)), paying(receive(37), receive(19)), paying(receive(38)));
      await settled();
      await expectExact(chain, 4);
    } finally {
      await end();
    }
  });

  it("lose nothing in a restore that finds each address by the previous one, in blocks folded together", async () => {
    const chain = new MemoryChain();
    // each block pays the last address that the previous one brings into reach
    for (let i = 0; i < 150; i++) chain.add(paying(receive(20 * (i + 1) - 1)));
    const { follower, settled, end } = follow(chain, calm, { near: 0 });
    try {
      await settled();
      await begin(wallet);
      follower.wake();
      await settled();
      await expectExact(chain, 150);
      expect(made.state.keys).toBeGreaterThan(3_000);
      expect(made.state.orders).toBeLessThan(150);
    } finally {
      await end();
    }
  });

  it("forget what ended before any rollback, unless they are read separately", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 60; i++) chain.add(paying(receive(i)));
    const other = { ...wallet, wallet: walletId("other") };
    const ended = async (id: string) => {
      const found = [];
      for (const table of ["wallet_pool", "wallet_holding"]) {
        const rows = await store.sql<{ to_slot: bigint }[]>`select to_slot from ${store.sql(table)}
          where wallet = ${id} and to_slot is not null order by to_slot`;
        found.push(rows.map((row) => Number(row.to_slot)));
      }
      return found;
    };
    const keepBlocks = 15;
    // what it forgets by itself depends on timing
    const first = follow(chain, calm);
    try {
      await begin(wallet);
      await begin(other);
      first.follower.wake();
      await first.settled();
    } finally {
      await first.end();
    }
    await store.sql`insert into chain_cursor (id, slot, hash, height, tip_slot, tip_height)
      select 'apart', slot, hash, height, tip_slot, tip_height from chain_cursor where id = 'main'`;
    await store.sql`update chain_member set cursor = 'apart' where member = ${other.wallet}`;
    const before = await ended(other.wallet);
    expect(before[0]).toHaveLength(60);
    expect(before[1]).toHaveLength(59);
    while (await prune(store.sql, keepBlocks));
    while (await pruneTransientRows(store.sql, [walletProjection({ keyDeposit: KEY_DEPOSIT })]));
    const oldest = chain.tip.slot - keepBlocks;
    expect(await ended(wallet.wallet)).toEqual(before.map((slots) => slots.filter((slot) => slot >= oldest)));
    expect(await ended(other.wallet)).toEqual(before);
    await expectExact(chain, 60);
    // as far back as possible
    chain.rollback(keepBlocks);
    for (let i = 0; i < 4; i++) chain.add(paying(receive(50 + i)));
    const second = follow(chain, calm, { keepBlocks });
    try {
      await second.settled();
      await expectExact(chain, 49);
    } finally {
      await second.end();
    }
  });

  it.each([
    ["a supply has no maker", new Map(), "no provider for the data that wallet requests"],
    ["a made supply is missing", new Map([["wallet", () => Promise.resolve(async () => {})]]), "is requested again"],
  ])("report it if %s", async (_, supplies, expected) => {
    const chain = new MemoryChain();
    chain.add(paying(receive(19)));
    chain.add(paying(receive(39)));
    await begin(wallet);
    const lines: string[] = [];
    const { end } = follow(chain, calm, { supplies, log: createLog("warn", {}, (line) => void lines.push(line)) });
    try {
      await until("it is reported", async () => lines.some((line) => line.includes(expected)));
      // earlier blocks are read anyway, by the cursor that reads the wallet
      expect((await memberPosition(store.sql, "wallet", wallet.wallet))?.at.height).toBe(1);
    } finally {
      await end();
    }
  });

  it("wait while no process can derive, and continue once one can", async () => {
    const chain = new MemoryChain();
    chain.add(paying(receive(19)));
    chain.add(paying(receive(39)));
    chain.add(paying(receive(59)));
    await begin(wallet);
    let broken = true;
    let refused = 0;
    const derive = made.derive;
    const refuse = () => {
      refused++;
      return Promise.reject(new Error("overloaded"));
    };
    made = { ...made, derive: (order) => broken ? refuse() : derive(order) };
    const { settled, end } = follow(chain, calm);
    try {
      await until("it was retried", async () => refused > 1);
      broken = false;
      await settled();
      await expectExact(chain, 3);
    } finally {
      await end();
    }
  });

  it("leave no row of a wallet that ends, and it may be added again", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 5; i++) chain.add(paying(receive(i)));
    await begin(wallet);
    const { follower, settled, end } = follow(chain, calm);
    try {
      await settled();
      await expectExact(chain, 5);
      await dismiss(store.sql, "wallet", [wallet.wallet]);
      follower.wake();
      await until("it is gone", async () => (await store.sql`select 1 from chain_member`).length === 0);
      const tables = ["index", "address", "stock", "pool", "use", "utxo", "holding", "transaction"];
      for (const table of tables) {
        expect([table, ...await store.sql`select 1 from ${store.sql(`wallet_${table}`)}`]).toEqual([table]);
      }
      await begin({ ...wallet, gap: 30 });
      follower.wake();
      await settled();
      expect((await readState(store.sql, wallet.wallet)).utxos).toHaveLength(5);
      expect((await readState(store.sql, wallet.wallet)).pools[0]!.size).toBe(35);
    } finally {
      await end();
    }
  });
});

it("finds the addresses of a random wallet by opening their paths", async () => {
  const chain = new MemoryChain();
  const mine = byronPathKey("11".repeat(64));
  const other = byronPathKey("22".repeat(64));
  const key = "33".repeat(64);
  const hard = 2 ** 31;
  const paths = [[hard, hard + 7], [hard + 5, 2 ** 32 - 1], [0, 3]] as const;
  const addresses = paths.map((path) => randomAddress({ pathKey: mine, path, key, magic: 42 }));
  const foreign = randomAddress({ pathKey: other, path: [hard, hard], key, magic: 42 });
  const first = chain.add(paying(...addresses, foreign), paying(addresses[0]!));
  const random = {
    wallet: walletId("random"),
    kind: "random",
    network: 0,
    pathKey: Buffer.from(mine).toString("hex"),
  } as const;
  await store.sql.begin(async (sql) => {
    await beginWallet(sql, await prepareWallet(random, origin, made.derive), enrol);
  });
  const { settled, end } = follow(chain, { random: () => 0 });
  try {
    await settled();
    const utxos = await store.sql<{ role: bigint; index: bigint }[]>`
      select role, index from wallet_utxo where to_slot is null order by ref, role, index`;
    expect(utxos.map(({ role, index }) => `${role}/${index}`).sort()).toEqual(
      [paths[0], paths[0], paths[1], paths[2]].map(([account, index]) => `${account}/${index}`).sort(),
    );
    const uses = await store.sql<{ address: string }[]>`select address from wallet_use`;
    expect(uses.map(({ address }) => address).sort()).toEqual([...addresses].sort());
    const ref = { txHash: first.transactions[0]!.hash, index: 1 };
    chain.add(
      transactionOf({ inputs: [ref], outputs: [{ address: foreign, value: lovelace(900_000n) }], fee: 100_000n }),
    );
    await settled();
    const [spending] = await store.sql`select net, hash from wallet_transaction where net < 0`;
    expect(spending).toMatchObject({ net: -1_000_000n });
    expect(await store.sql`select 1 from wallet_utxo where ref = ${refKey(ref)} and to_slot is null`).toEqual([]);
  } finally {
    await end();
  }
});
