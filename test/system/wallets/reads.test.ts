/**
 * Reads of wallets: holdings and pending transactions, addresses, change, history with each filter at its boundary,
 * owners.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { origin, type ScannedTransaction } from "#src/cardano/block.ts";
import { readAddressHex } from "#src/cardano/address.ts";
import { byronAddress } from "#src/cardano/byron.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { type OutRef, parseRefKey, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace, type Value } from "#src/cardano/value.ts";
import { atPoint, readReserved, reserve, TAKE_OVER } from "#src/chain/pending/spendable.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { enrol } from "#src/chain/index/groups.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { packCoins, unpackCoins } from "#src/wallets/builds/jobCodec.ts";
import { beginWallet, prepareWallet } from "#src/wallets/index/begin.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { readAssets, readBuildable, readHoldings, readOwnUtxos } from "#src/wallets/index/read.ts";
import { countOwnAddresses, ownersOf, readAddresses, storeRandomAddresses } from "#src/wallets/index/readAddresses.ts";
import { readHistory, readTransaction } from "#src/wallets/index/readHistory.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import { walletSupply } from "#src/wallets/index/supply.ts";
import type { HistoryQuery, IndexedWallet, PendingTransaction } from "#src/wallets/index/types.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import {
  baseAddress,
  deriver,
  KEY_DEPOSIT,
  keyAt,
  stakeKey,
  transactionOf,
} from "../../support/wallets/walletIndexModel.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let chain: MemoryChain;
let follower: Follower;
let stop: AbortController;
let running: Promise<void>;
const { derive } = deriver();

const alice = "a1".repeat(20);
const bob = "b0".repeat(20);
const byron = "c0".repeat(20);
const pathKey = byronPathKey("11".repeat(64));
const sequential = (wallet: string, account: string): IndexedWallet => ({
  wallet,
  kind: "shelley",
  network: 0,
  gap: 10,
  prefix: "1852H/1815H/0H",
  account,
  stake: { kind: "key", hash: stakeKey(account) },
});
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets/index", "wallets/seen"));
  chain = new MemoryChain();
  const specs = [
    sequential(alice, "alice"),
    sequential(bob, "bob"),
    { wallet: byron, kind: "random", network: 0, pathKey: hex(pathKey) } as const,
  ];
  for (const spec of specs) {
    const prepared = await prepareWallet(spec, origin, derive);
    await store.sql.begin(async (sql) => void await beginWallet(sql, prepared, enrol));
  }
  follower = new Follower({
    store,
    port: memoryPort(chain, { random: () => 0 }),
    projections: [walletProjection({ keyDeposit: KEY_DEPOSIT })],
    supplies: new Map([["wallet", walletSupply(store.sql, derive)]]),
    fence: async () => {},
    append: async () => {},
    ring: () => {},
    log: silentLog,
  });
  stop = new AbortController();
  running = follower.run(stop.signal);
});
afterEach(async () => {
  stop?.abort();
  await running;
  await store?.close();
  await infra?.stop();
});

const settled = () =>
  until("everything is read at the tip", async () => {
    const [restoring] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
    return !restoring && (await readCursor(store.sql)).at.hash === chain.tip.hash;
  });

let serial = 0;
const seed = (): OutRef => ({ txHash: (++serial + 2 ** 41).toString(16).padStart(64, "0"), index: 0 });
const A = "ab".repeat(28) + "01";
const B = "ab".repeat(28) + "02";
const foreign = `60${"ee".repeat(28)}`;
const coins = (amount: bigint, assets: [string, bigint][] = []): Value => ({
  lovelace: amount,
  assets: new Map(assets),
});
const out = (address: string, value: Value | bigint) => ({
  address,
  value: typeof value === "bigint" ? lovelace(value) : value,
});
const receive = (index: number, account = "alice") => baseAddress(account, 0, index);
const change = (index: number, account = "alice") => baseAddress(account, 1, index);
const path = (role: number, index: number) => [HARD + 1852, HARD + 1815, HARD, role, index];
const scan = (parts: Parameters<typeof transactionOf>[0]) => scanTransaction(transactionOf(parts));
const inLedger = async (...transactions: ScannedTransaction[]) => {
  const block = chain.add(...transactions.map(wholeOf));
  await settled();
  return block;
};
/** The original bytes of a scanned transaction. */
const wholes = new Map<string, Uint8Array>();
function wholeOf({ hash }: ScannedTransaction): Uint8Array {
  return wholes.get(hash)!;
}
function transaction(parts: Parameters<typeof transactionOf>[0]): ScannedTransaction {
  const scanned = scan(parts);
  wholes.set(scanned.hash, transactionOf(parts));
  return scanned;
}
const refOf = ({ hash }: ScannedTransaction, index = 0): OutRef => ({ txHash: hash, index });

describe("holdings", () => {
  it("are those of the ledger, less pending inputs, plus pending change", async () => {
    const first = transaction({
      inputs: [seed()],
      outputs: [
        out(receive(0), coins(5_000_000n, [[A, 7n]])),
        out(receive(1), 3_000_000n),
        out(receive(0, "bob"), 2_000_000n),
      ],
      fee: 1n,
    });
    await inLedger(first);
    const spend = transaction({
      inputs: [refOf(first)],
      outputs: [out(foreign, coins(1_000_000n, [[A, 2n]])), out(change(0), coins(3_900_000n, [[A, 5n]]))],
      fee: 100_000n,
    });
    // the next pending one spends the change of the first
    const chained = transaction({
      inputs: [refOf(spend, 1)],
      outputs: [out(foreign, 900_000n), out(change(1), coins(2_900_000n, [[A, 5n]]))],
      fee: 100_000n,
    });
    const read = async (pending: ScannedTransaction[]) =>
      await readHoldings(store.sql, [alice, bob, byron, "00".repeat(20)], new Map([[alice, pending]]));
    const calm = await read([]);
    expect([...calm.keys()].sort()).toEqual([alice, bob, byron].sort());
    expect(calm.get(alice)).toEqual({ available: coins(8_000_000n, [[A, 7n]]), total: coins(8_000_000n, [[A, 7n]]) });
    expect(calm.get(bob)!.total).toEqual(coins(2_000_000n));
    expect(calm.get(byron)!.total).toEqual(coins(0n));
    const one = (await read([spend])).get(alice)!;
    expect(one).toEqual({ available: coins(3_000_000n), total: coins(6_900_000n, [[A, 5n]]) });
    const two = (await read([spend, chained])).get(alice)!;
    expect(two).toEqual({ available: coins(3_000_000n), total: coins(5_900_000n, [[A, 5n]]) });
    // the index is ahead of the submission service
    await inLedger(spend);
    const ahead = (await read([spend, chained])).get(alice)!;
    expect(ahead).toEqual({ available: coins(3_000_000n), total: coins(5_900_000n, [[A, 5n]]) });
    expect((await read([])).get(bob)!.total).toEqual(coins(2_000_000n));
  });

  it("name every asset that was ever held, also within one block, and forget it after a rollback", async () => {
    const first = transaction({ inputs: [seed()], outputs: [out(receive(0), coins(2_000_000n, [[A, 1n]]))], fee: 1n });
    const gone = transaction({
      inputs: [refOf(first)],
      outputs: [out(foreign, coins(1_000_000n, [[A, 1n]]))],
      fee: 1n,
    });
    await inLedger(first, gone);
    expect(await readAssets(store.sql, alice)).toEqual([A]);
    await inLedger(
      transaction({ inputs: [seed()], outputs: [out(receive(0), coins(2_000_000n, [[B, 2n ** 64n - 1n]]))], fee: 1n }),
    );
    await inLedger(
      transaction({ inputs: [seed()], outputs: [out(receive(1), coins(2_000_000n, [[B, 2n ** 64n - 1n]]))], fee: 1n }),
    );
    expect(await readAssets(store.sql, alice)).toEqual([A, B]);
    const held = (await readHoldings(store.sql, [alice], new Map())).get(alice)!;
    expect(held.total).toEqual(coins(4_000_000n, [[B, 2n * (2n ** 64n - 1n)]]));
    chain.rollback(3);
    chain.add();
    await settled();
    expect(await readAssets(store.sql, alice)).toEqual([]);
  });

  it("are those that no pending transaction spends", async () => {
    const first = transaction({ inputs: [seed()], outputs: [1n, 10n].map((n, i) => out(receive(i), n)), fee: 1n });
    await inLedger(first);
    const pending = transaction({ inputs: [refOf(first, 1)], outputs: [out(foreign, 1n)], fee: 1n });
    const amounts = async (...open: ReturnType<typeof transaction>[]) =>
      (await readOwnUtxos(store.sql, alice, open)).map(({ utxo }) => utxo.output.value.lovelace).sort();
    expect(await amounts()).toEqual([1n, 10n]);
    expect(await amounts(pending)).toEqual([1n]);
  });
});

describe("the inputs of a build", () => {
  it("are the rows of the wallet, decoded and packed for a thread alike", async () => {
    const rows = async () => {
      const found = await store.sql<{ ref: string; role: bigint; index: bigint; output: Uint8Array }[]>`
        select ref, role, index, output from wallet_utxo where wallet = ${alice} and to_slot is null`;
      return new Map(found.map(({ ref, role, index, output }) => [ref, {
        utxo: { ref: parseRefKey(ref), output: storedOutput(output) },
        path: path(Number(role), Number(index)),
        preference: 0,
      }]));
    };
    const compared = async (count: number) => {
      const { utxos } = await readBuildable(store.sql, alice, { pending: [], reserved: readReserved, change: 1 });
      const packed = structuredClone(packCoins(utxos));
      const plain = utxos.map(({ utxo, path, preference }) => ({ utxo, path, preference }));
      expect(unpackCoins(packed)).toEqual(plain);
      expect(new Map(plain.map((one) => [refKey(one.utxo.ref), one]))).toEqual(await rows());
      expect(plain).toHaveLength(count);
    };
    await compared(0);
    const made: ScannedTransaction[] = [];
    for (let block = 0; block < 20; block++) {
      const outputs = Array.from(
        { length: 1 + block % 12 },
        (_, i) =>
          out(
            i % 2 === 0 ? receive(i % 10) : change(i % 10),
            i % 3 === 0 ? coins(BigInt(i), [[A, 5n], [B, 7n]]) : BigInt(i),
          ),
      );
      made.push(transaction({ inputs: [seed()], outputs, fee: 1n }));
      await inLedger(made[block]!);
    }
    const count = made.reduce((sum, { outputs }) => sum + outputs.length, 0);
    await compared(count);
    await inLedger(transaction({
      inputs: [refOf(made[3]!), refOf(made[11]!, 10)],
      outputs: [out(foreign, 1n)],
      fee: 1n,
    }));
    await compared(count - 2);
    chain.rollback(2);
    chain.add();
    await settled();
    await compared(count - made[19]!.outputs.length);
  });

  it("have the paths of their outputs, pending ones after the rest, and reserved ones last", async () => {
    const first = transaction({
      inputs: [seed()],
      outputs: [0, 1, 2].map((i) => out(receive(i), 5_000_000n + BigInt(i))),
      fee: 1n,
    });
    await inLedger(first);
    const spend = transaction({ inputs: [refOf(first)], outputs: [out(foreign, 1n), out(change(0), 4n)], fee: 1n });
    expect(await reserve(store, [refOf(first, 2)], [])).toBe(true);
    const { value } = await atPoint(
      store,
      (sql) => readBuildable(sql, alice, { pending: [spend], reserved: readReserved, change: 3 }),
    );
    const byRef = new Map(value.utxos.map((one) => [refKey(one.utxo.ref), one]));
    expect([...byRef.keys()].sort()).toEqual([refOf(first, 1), refOf(first, 2), refOf(spend, 1)].map(refKey).sort());
    expect(byRef.get(refKey(refOf(first, 1)))).toMatchObject({ preference: 0, path: path(0, 1) });
    expect(byRef.get(refKey(refOf(spend, 1)))).toMatchObject({ preference: 1, path: path(1, 0) });
    expect(byRef.get(refKey(refOf(first, 2)))!.preference).toBeGreaterThan(100);
    // of two builds that read the same, one gets a coin that is already reserved
    expect(await reserve(store, [refOf(first, 2)], [])).toBe(false);
    expect(await reserve(store, [refOf(first, 2)], value.utxos)).toBe(true);
    expect(await reserve(store, [refOf(first, 1), refOf(first, 2)], value.utxos)).toBe(false);
    expect(await reserve(store, [refOf(first, 2)], [{ utxo: { ref: refOf(first, 2) }, preference: TAKE_OVER }])).toBe(
      true,
    );
    expect(byRef.get(refKey(refOf(first, 1)))!.utxo.output).toMatchObject({
      address: receive(1),
      value: lovelace(5_000_001n),
    });
    // pending change is not reserved again
    expect(value.change).toEqual([1, 2, 3].map((i) => ({ address: change(i), path: path(1, i), used: false })));
    await inLedger(spend);
    const after = await readBuildable(store.sql, alice, { pending: [], reserved: readReserved, change: 100 });
    expect(after.change).toHaveLength(10);
    expect(after.change[0]!.address).toBe(change(1));
  });
});

describe("addresses", () => {
  it("are the receiving addresses, up to the end of the pool, and the used ones for change", async () => {
    await inLedger(
      transaction({
        inputs: [seed()],
        outputs: [out(receive(2), 1n), out(change(3), 1n), out(receive(9), 1n)],
        fee: 1n,
      }),
    );
    const all = await readAddresses(store.sql, alice, {});
    expect(all.next).toBeUndefined();
    expect(all.addresses).toEqual([
      ...Array.from({ length: 20 }, (_, i) => ({ address: receive(i), path: path(0, i), used: i === 2 || i === 9 })),
      { address: change(3), path: path(1, 3), used: true },
    ]);
    const used = await readAddresses(store.sql, alice, { state: "used" });
    expect(used.addresses.map(({ address }) => address)).toEqual([receive(2), receive(9), change(3)]);
    const unused = await readAddresses(store.sql, alice, { state: "unused" });
    expect(unused.addresses.map(({ address }) => address)).toEqual(
      all.addresses.filter(({ used }) => !used).map(({ address }) => address),
    );
    for (const state of [undefined, "used", "unused"] as const) {
      const whole = await readAddresses(store.sql, alice, state ? { state } : {});
      for (const limit of [1, 2, 7, 20, 21]) {
        const pages = [];
        for (let query: Parameters<typeof readAddresses>[2] | undefined = { limit }; query;) {
          const page = await readAddresses(store.sql, alice, { ...query, ...(state ? { state } : {}) });
          expect(page.addresses.length).toBeLessThanOrEqual(limit);
          pages.push(...page.addresses);
          query = page.next && { limit, after: page.next };
        }
        expect(pages).toEqual(whole.addresses);
      }
    }
    chain.rollback(1);
    chain.add();
    await settled();
    expect((await readAddresses(store.sql, alice, {})).addresses).toHaveLength(10);
    expect((await readAddresses(store.sql, "00".repeat(20), {})).addresses).toEqual([]);
  });

  it("of a random wallet are those that it created and those that it found", async () => {
    const made = (account: number, index: number) =>
      randomAddress({ pathKey, path: [HARD + account, HARD + index], key: "33".repeat(64), magic: 42 });
    const keep = (...list: [number, number][]) =>
      storeRandomAddresses(
        store.sql,
        byron,
        list.map(([account, index]) => ({
          account: HARD + account,
          index: HARD + index,
          address: made(account, index),
        })),
        true,
      );
    expect(await keep([0, 5], [0, 6])).toEqual([made(0, 5), made(0, 6)]);
    expect(await keep([0, 5])).toEqual([]);
    await inLedger(transaction({ inputs: [seed()], outputs: [out(made(0, 5), 1n), out(made(1, 1), 1n)], fee: 1n }));
    expect(await keep([1, 1])).toEqual([]);
    const { addresses } = await readAddresses(store.sql, byron, {});
    expect(addresses).toEqual([
      { address: made(0, 5), path: [HARD, HARD + 5], used: true },
      { address: made(0, 6), path: [HARD, HARD + 6], used: false },
      { address: made(1, 1), path: [HARD + 1, HARD + 1], used: true },
    ]);
    const first = await readAddresses(store.sql, byron, { limit: 1 });
    expect(first.next).toEqual({ role: HARD, index: HARD + 5 });
    expect((await readAddresses(store.sql, byron, { after: first.next! })).addresses).toEqual(addresses.slice(1));
    expect((await readAddresses(store.sql, byron, { state: "unused" })).addresses).toEqual([addresses[1]]);
    const buildable = await readBuildable(store.sql, byron, { pending: [], reserved: readReserved, change: 1 });
    expect(buildable.change).toEqual([addresses[1]]);
    expect(buildable.utxos.map((one) => one.path)).toEqual(
      expect.arrayContaining([[HARD, HARD + 5], [HARD + 1, HARD + 1]]),
    );
    const [credential] = [...(await ownersOf(store.sql, await credentials(made(1, 1)))).values()];
    expect(credential).toEqual([{ wallet: byron, path: [HARD + 1, HARD + 1] }]);
  });

  it("forged with a random wallet's path get none of its change", async () => {
    const key = "33".repeat(64);
    const genuine = randomAddress({ pathKey, path: [HARD, HARD + 5], key, magic: 42 });
    const read = readAddressHex(genuine);
    if (!read.ok || read.value.kind !== "byron") throw new Error("no address of Byron");
    // the path of the genuine one, in an address of another key
    const forged = byronAddress({
      key: fromHex("44".repeat(64)),
      magic: 42,
      derivationPath: fromHex(read.value.byron.derivationPath!),
    });
    expect(forged).not.toBe(genuine);
    await inLedger(transaction({ inputs: [seed()], outputs: [out(forged, 1n)], fee: 1n }));
    const build = (estimate: boolean) =>
      readBuildable(store.sql, byron, { pending: [], reserved: readReserved, change: 2, estimate });
    expect((await build(false)).change).toEqual([]);
    expect((await build(true)).change).toHaveLength(2);
    expect(await countOwnAddresses(store.sql, byron)).toBe(0);
    // neither does one that was imported, whose path opens as well
    const path = { account: HARD, index: HARD + 5 };
    const another = byronAddress({
      key: fromHex("55".repeat(64)),
      magic: 42,
      derivationPath: fromHex(read.value.byron.derivationPath!),
    });
    expect(await storeRandomAddresses(store.sql, byron, [{ ...path, address: another }], false)).toEqual([another]);
    expect(await countOwnAddresses(store.sql, byron)).toBe(0);
    expect((await build(false)).change).toEqual([]);
    // one of the wallet's own making takes its place, and is not displaced
    expect(await storeRandomAddresses(store.sql, byron, [{ ...path, address: genuine }], true)).toEqual([genuine]);
    expect(await storeRandomAddresses(store.sql, byron, [{ ...path, address: another }], false)).toEqual([]);
    expect(await storeRandomAddresses(store.sql, byron, [{ ...path, address: genuine }], true)).toEqual([]);
    expect(await countOwnAddresses(store.sql, byron)).toBe(1);
    expect((await build(false)).change.map(({ address }) => address)).toEqual([genuine, genuine]);
    expect((await readAddresses(store.sql, byron, {})).addresses.map(({ address }) => address)).toEqual([genuine]);
  });

  it("belong to no wallet beyond the pools", async () => {
    await settled();
    const key = (index: number) => `key-${keyAt("alice", 0, index)}`;
    const owners = await ownersOf(store.sql, [key(9), key(10), `script-${keyAt("alice", 0, 9)}`]);
    expect([...owners]).toEqual([[key(9), [{ wallet: alice, path: path(0, 9) }]]]);
  });
});

async function credentials(address: string): Promise<string[]> {
  const { credentialOf } = await import("#src/wallets/index/credential.ts");
  return [credentialOf(address)!];
}

describe("history", () => {
  const hashes = async (query: HistoryQuery, pending: readonly PendingTransaction[] = []) =>
    (await readHistory(store.sql, alice, query, pending)).transactions.map(({ hash }) => hash);

  /** Five transactions in slots 1 to 4, two of them in slot 3, and one that is pending since slot 3. */
  async function filled() {
    const t1 = transaction({ inputs: [seed()], outputs: [out(receive(0), 5_000_000n)], fee: 170_000n });
    await inLedger(t1);
    const account = `e0${stakeKey("alice")}`;
    const t2 = transaction({
      inputs: [refOf(t1)],
      outputs: [out(foreign, 1_000_000n), out(change(0), 3_830_100n)],
      fee: 170_000n,
      withdrawals: new Map([[account, 100n], [`e0${"77".repeat(28)}`, 250n]]),
    });
    await inLedger(t2);
    const t3 = transaction({ inputs: [seed()], outputs: [out(receive(1), 1_000_000n)], fee: 170_000n });
    const t4 = transaction({
      inputs: [refOf(t2, 1)],
      outputs: [out(change(1), 1_660_100n)],
      fee: 170_000n,
      certificates: [[7, [0, fromHex(stakeKey("alice"))], 2_000_000n]],
    });
    await inLedger(t3, t4);
    const t5 = transaction({ inputs: [refOf(t2)], outputs: [out(receive(2), 800_000n)], fee: 200_000n });
    await inLedger(t5);
    const t6 = transaction({
      inputs: [refOf(t4)],
      outputs: [out(receive(3, "bob"), 1_000_000n), out(change(2), 490_100n)],
      fee: 170_000n,
      withdrawals: new Map([[account, 0n]]),
    });
    const pending: PendingTransaction[] = [{ transaction: t6, status: "pending", since: { slot: 3, height: 3 } }];
    return { t1, t2, t3, t4, t5, t6, pending };
  }

  it("returns amounts, directions, deposits and known inputs", async () => {
    const { t1, t2, t4, t5, t6, pending } = await filled();
    const { transactions } = await readHistory(store.sql, alice, {}, pending);
    const byHash = new Map(transactions.map((one) => [one.hash, one]));
    const first = byHash.get(t1.hash)!;
    expect(first).toMatchObject({
      status: "in_ledger",
      slot: 1,
      height: 1,
      block: chain.blocks[0]!.scanned.hash,
      direction: "incoming",
      amount: 5_000_000n,
      fee: 170_000n,
      depositTaken: 0n,
      depositReturned: 0n,
    });
    expect(first.known.size).toBe(0);
    expect([...first.own]).toEqual([[0, path(0, 0)]]);
    expect(byHash.get(t2.hash)).toMatchObject({ direction: "outgoing", amount: 1_170_000n });
    expect(byHash.get(t2.hash)!.known.get(refKey(refOf(t1)))).toMatchObject({
      output: { address: receive(0), value: lovelace(5_000_000n) },
      path: path(0, 0),
    });
    expect(byHash.get(t4.hash)).toMatchObject({ direction: "outgoing", amount: 2_170_000n, depositTaken: 2_000_000n });
    // the input was another wallet's, from a known transaction
    const last = byHash.get(t5.hash)!;
    expect(last).toMatchObject({ direction: "incoming", amount: 800_000n });
    expect(last.known.get(refKey(refOf(t2)))).toMatchObject({
      output: { address: foreign, value: lovelace(1_000_000n) },
    });
    expect(last.known.get(refKey(refOf(t2)))!.path).toBeUndefined();
    const open = byHash.get(t6.hash)!;
    expect(open).toMatchObject({
      status: "pending",
      slot: 3,
      height: 3,
      direction: "outgoing",
      amount: 1_170_000n,
      fee: 170_000n,
    });
    expect(open.block).toBeUndefined();
    expect([...open.own]).toEqual([[1, path(1, 2)]]);
    expect(await readTransaction(store.sql, alice, t6.hash, pending)).toEqual(open);
    expect((await readTransaction(store.sql, alice, t1.hash, pending))!.slot).toBe(1);
    expect(await readTransaction(store.sql, alice, t6.hash, [])).toBeUndefined();
    expect(await readTransaction(store.sql, bob, t1.hash, [])).toBeUndefined();
    // once the ledger has it, it is not listed twice
    await inLedger(t6);
    const after = (await readHistory(store.sql, alice, {}, pending)).transactions.filter(({ hash }) =>
      hash === t6.hash
    );
    expect(after).toMatchObject([{ status: "in_ledger", slot: 5 }]);
    expect((await readHistory(store.sql, bob, {}, [])).transactions).toMatchObject([{
      hash: t6.hash,
      direction: "incoming",
    }]);
  });

  it("is newest first, or oldest first, with pending transactions at the slot of their submission", async () => {
    const { t1, t2, t3, t4, t5, t6, pending } = await filled();
    const ascending = [t1, t2, t3, t4, t6, t5].map(({ hash }) => hash);
    expect(await hashes({ order: "ascending" }, pending)).toEqual(ascending);
    expect(await hashes({}, pending)).toEqual([...ascending].reverse());
  });

  it("respects both ends of a range of slots", async () => {
    const { t1, t2, t3, t4, t5, t6, pending } = await filled();
    const of = (...list: ScannedTransaction[]) => list.map(({ hash }) => hash);
    const range = (from: number | undefined, to: number | undefined) =>
      hashes(
        { order: "ascending", ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
        pending,
      );
    expect(await range(2, 3)).toEqual(of(t2, t3, t4, t6));
    expect(await range(3, 3)).toEqual(of(t3, t4, t6));
    expect(await range(3, undefined)).toEqual(of(t3, t4, t6, t5));
    expect(await range(undefined, 1)).toEqual(of(t1));
    expect(await range(4, 4)).toEqual(of(t5));
    expect(await range(5, undefined)).toEqual([]);
    // a forced rollback removes the last block's
    chain.rollback(1);
    chain.add();
    await settled();
    expect(await range(3, undefined)).toEqual(of(t3, t4, t6));
  });

  it("filters by withdrawals of at least an amount, of any account", async () => {
    const { t2, t6, pending } = await filled();
    const least = (minWithdrawal: bigint) => hashes({ minWithdrawal, order: "ascending" }, pending);
    expect(await least(250n)).toEqual([t2.hash]);
    expect(await least(251n)).toEqual([]);
    expect(await least(1n)).toEqual([t2.hash]);
    expect(await least(0n)).toEqual([t2.hash, t6.hash]);
  });

  it("keeps those that involve an address", async () => {
    const { t1, t2, t4, t6, t3, pending } = await filled();
    const at = (address: string) => hashes({ address, order: "ascending" }, pending);
    expect(await at(receive(0))).toEqual([t1.hash, t2.hash]);
    expect(await at(change(0))).toEqual([t2.hash, t4.hash]);
    expect(await at(change(1))).toEqual([t4.hash, t6.hash]);
    expect(await at(foreign)).toEqual([t2.hash]);
    expect(await at(receive(1))).toEqual([t3.hash]);
    expect(await at(receive(3, "bob"))).toEqual([t6.hash]);
    expect(await at(receive(9))).toEqual([]);
  });

  it("keeps those of a direction and of a status", async () => {
    const { t1, t2, t3, t4, t5, t6, pending } = await filled();
    const waiting = pending.map((one) => ({ ...one, status: "expired" as const }));
    const of = (...list: ScannedTransaction[]) => list.map(({ hash }) => hash);
    const kept = (query: HistoryQuery, open = pending) => hashes({ order: "ascending", ...query }, open);
    expect(await kept({ direction: "incoming" })).toEqual(of(t1, t3, t5));
    expect(await kept({ direction: "outgoing" })).toEqual(of(t2, t4, t6));
    expect(await kept({ status: "in_ledger" })).toEqual(of(t1, t2, t3, t4, t5));
    expect(await kept({ status: "pending" })).toEqual(of(t6));
    expect(await kept({ status: "pending" }, waiting)).toEqual([]);
    expect(await kept({ status: "expired" }, waiting)).toEqual(of(t6));
    expect(await kept({ status: "pending", direction: "incoming" })).toEqual([]);
  });

  it("comes in pages that miss nothing and repeat nothing, in both orders, with filters", async () => {
    const { pending } = await filled();
    for (const order of ["ascending", "descending"] as const) {
      for (const filter of [{}, { from: 2 }, { address: change(1) }, { direction: "outgoing" }] as const) {
        const whole = await hashes({ order, ...filter }, pending);
        for (const limit of [1, 2, 3, 6, 7]) {
          const found: string[] = [];
          for (let query: HistoryQuery | undefined = { order, limit, ...filter }; query;) {
            const page = await readHistory(store.sql, alice, query, pending);
            expect(page.transactions.length).toBeLessThanOrEqual(limit);
            found.push(...page.transactions.map(({ hash }) => hash));
            query = page.next && { ...query, after: page.next };
          }
          expect(found).toEqual(whole);
        }
      }
    }
  });

  it("computes a phase 2 failure by its collateral", async () => {
    const first = transaction({
      inputs: [seed()],
      outputs: [out(receive(0), 9_000_000n), out(receive(1), 1n)],
      fee: 1n,
    });
    await inLedger(first);
    const failed = transaction({
      inputs: [refOf(first, 1)],
      outputs: [out(receive(2), 77n)],
      fee: 170_000n,
      collateral: [refOf(first)],
      collateralReturn: out(change(0), 8_500_000n),
      totalCollateral: 500_000n,
      withdrawals: new Map([[`e0${stakeKey("alice")}`, 5n]]),
      certificates: [[7, [0, fromHex(stakeKey("alice"))], 2_000_000n]],
      valid: false,
    });
    await inLedger(failed);
    const read = (await readTransaction(store.sql, alice, failed.hash, []))!;
    expect(read).toMatchObject({
      direction: "outgoing",
      amount: 500_000n,
      fee: 500_000n,
      depositTaken: 0n,
      transaction: { valid: false },
    });
    expect([...read.own]).toEqual([[1, path(1, 0)]]);
    expect((await readOwnUtxos(store.sql, alice)).map(({ utxo }) => refKey(utxo.ref)).sort()).toEqual(
      [refOf(first, 1), refOf(failed, 1)].map(refKey).sort(),
    );
  });
});
