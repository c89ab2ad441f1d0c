/**
 * The wallets' index at its largest: one wallet with 15,000 used addresses and transactions and 10,000 unspent outputs,
 * along with 1,000 small ones, read from a real PostgreSQL, and the speed of its restore.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { origin } from "#src/cardano/block.ts";
import { initHash } from "#src/cardano/hash.ts";
import { lovelace } from "#src/cardano/value.ts";
import { readReserved } from "#src/chain/pending/spendable.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { enrol } from "#src/chain/index/groups.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { beginWallet, prepareWallet } from "#src/wallets/index/begin.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { readBuildable, readHoldings, readOwnUtxos } from "#src/wallets/index/read.ts";
import { readAddresses } from "#src/wallets/index/readAddresses.ts";
import { readHistory } from "#src/wallets/index/readHistory.ts";
import { walletSupply } from "#src/wallets/index/supply.ts";
import { MemoryChain, memoryPort } from "../support/chain/memoryChain.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { baseAddress, deriver, KEY_DEPOSIT, stakeKey, transactionOf } from "../support/wallets/walletIndexModel.ts";

const QUICK = process.argv.includes("--quick");
const TRANSACTIONS = QUICK ? 1_500 : 15_000;
const UTXOS = QUICK ? 1_000 : 10_000;
const WALLETS = QUICK ? 100 : 1_000;
const A_BLOCK = 10;
const REPEATS = 20;

const great = "aa".repeat(20);
const foreign = `60${"ee".repeat(28)}`;
const { derive, state } = deriver();

/** Adds wallets at the same time; each has its id, or another text, as its account. */
async function begin(store: Store, wallets: readonly string[], account?: string, gap = 20): Promise<void> {
  const prepared = await Promise.all(wallets.map((wallet) => {
    const own = account ?? wallet;
    const stake = { kind: "key", hash: stakeKey(own) } as const;
    return prepareWallet(
      { wallet, kind: "shelley", network: 0, gap, prefix: "1852H/1815H/0H", account: own, stake },
      origin,
      derive,
    );
  }));
  await store.sql.begin(async (sql) => {
    for (const one of prepared) await beginWallet(sql, one, enrol);
  });
}

/** Each transaction pays the next address; from the `UTXOS`-th on each spends the oldest output as well. */
function chainOf(small: readonly string[]): MemoryChain {
  const chain = new MemoryChain();
  const made: string[] = [];
  for (let block = 0; block * A_BLOCK < TRANSACTIONS; block++) {
    const transactions = Array.from({ length: A_BLOCK }, (_, i) => {
      const n = block * A_BLOCK + i;
      const seed = { txHash: (n + 2 ** 41).toString(16).padStart(64, "0"), index: 0 };
      const oldest = n >= UTXOS ? [{ txHash: made[n - UTXOS]!, index: 0 }] : [];
      const other = small[n];
      return transactionOf({
        inputs: [seed, ...oldest],
        outputs: [
          { address: baseAddress("great", 0, n), value: lovelace(1_000_000n + BigInt(n)) },
          { address: other === undefined ? foreign : baseAddress(other, 0, 0), value: lovelace(2_000_000n) },
        ],
        fee: 170_000n,
      });
    });
    made.push(...chain.add(...transactions).transactions.map(({ hash }) => hash));
  }
  return chain;
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  const times: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${name.padEnd(50)} median ${times[REPEATS / 2]!.toFixed(1)} ms, greatest ${times.at(-1)!.toFixed(1)} ms`,
  );
}

/** Prints the results. */
export async function benchWalletIndex(): Promise<void> {
  await initHash();
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = openStore(postgres.url);
  try {
    await migrate(store, migrationsOf("runtime", "chain/index", "wallets/index", "wallets/seen"));
    const ids = Array.from({ length: WALLETS }, (_, i) => i.toString(16).padStart(40, "0"));
    const chain = chainOf(ids);
    const follower = new Follower({
      store,
      port: memoryPort(chain, { random: () => 0 }),
      projections: [walletProjection({ keyDeposit: KEY_DEPOSIT })],
      supplies: new Map([["wallet", walletSupply(store.sql, derive)]]),
      fence: async () => {},
      append: async () => {},
      ring: () => {},
      log: silentLog,
    });
    const stop = new AbortController();
    const running = follower.run(stop.signal);
    const caughtUp = async () => {
      for (;;) {
        const [apart] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
        if (!apart && (await readCursor(store.sql)).at.hash === chain.tip.hash) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    await caughtUp();
    const restored = async (name: string, work: () => Promise<void>) => {
      const begun = performance.now();
      await work();
      follower.wake();
      await caughtUp();
      console.log(`${name.padEnd(50)} ${((performance.now() - begun) / 1_000).toFixed(2)} s`);
    };
    await restored(`restore ${TRANSACTIONS} transactions of one wallet`, () => begin(store, [great], "great"));
    console.log(`  stock: ${state.orders} orders, ${state.keys} keys`);
    await restored(`begin and restore ${WALLETS} wallets`, () => begin(store, ids));
    await restored("begin one with a gap of 100,000", () => begin(store, ["bb".repeat(20)], "wide", 100_000));
    await store.sql`vacuum analyze`;
    const { sql } = store;
    await timed(`holdings of ${WALLETS + 1} wallets`, () => readHoldings(sql, [great, ...ids], new Map()));
    await timed("holdings of the great one", () => readHoldings(sql, [great], new Map()));
    await timed("addresses, first 50", () => readAddresses(sql, great, { limit: 50 }));
    await timed("addresses, all", () => readAddresses(sql, great, {}));
    await timed("addresses, all, of a gap of 100,000", () => readAddresses(sql, "bb".repeat(20), {}));
    await timed("history, first 50", () => readHistory(sql, great, { limit: 50 }, []));
    await timed("history, all", () => readHistory(sql, great, {}, []));
    const address = baseAddress("great", 0, 3);
    await timed("history of one address, first 50", () => readHistory(sql, great, { limit: 50, address }, []));
    await timed("outputs, all", () => readOwnUtxos(sql, great));
    await timed(
      "what to build from",
      () => readBuildable(sql, great, { pending: [], reserved: readReserved, change: 2 }),
    );
    const [size] = await sql<{ size: string }[]>`select pg_size_pretty(sum(pg_total_relation_size(oid))) as size
      from pg_class where relname like 'wallet_%' and relkind = 'r'`;
    console.log(`tables: ${size!.size}`);
    stop.abort();
    await running;
  } finally {
    await store.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
