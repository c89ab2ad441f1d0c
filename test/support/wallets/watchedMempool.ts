/** Wallets in the index of a chain, and the watch of its mempool, whose reads the test makes. */
import { MempoolWatch } from "#src/wallets/mempoolWatch.ts";
import { silentLog } from "#src/base/log.ts";
import { origin } from "#src/cardano/block.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { enrol } from "#src/chain/index/groups.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { migrate } from "#src/store/migrations.ts";
import type { Store } from "#src/store/store.ts";
import { beginWallet, prepareWallet } from "#src/wallets/index/begin.ts";
import { walletProjection } from "#src/wallets/index/projection.ts";
import { walletSupply } from "#src/wallets/index/supply.ts";
import type { IndexedWallet } from "#src/wallets/index/types.ts";
import { undoSeen } from "#src/wallets/seen/rows.ts";
import { until } from "../base/until.ts";
import { migrationsOf } from "../infra/migrationsOf.ts";
import { deriver, KEY_DEPOSIT, stakeKey } from "./walletIndexModel.ts";

const { derive } = deriver();

/** Creates the tables. */
export async function seenTables(store: Store): Promise<void> {
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets/index", "wallets/seen"));
  await createPartitions(store, 4);
}

/** Id of the wallet of an account. */
export const walletOf = (account: string) =>
  Array.from(account, (c) => c.charCodeAt(0).toString(16)).join("").padEnd(40, "0");

/** Adds a wallet to the index, of the account's keys in `walletIndexModel.ts` unless given. */
export async function beginSeen(store: Store, account: string, spec?: IndexedWallet, incarnation = 1): Promise<string> {
  const wallet = walletOf(account);
  const stake = { kind: "key", hash: stakeKey(account) } as const;
  const sequential = {
    wallet,
    kind: "shelley",
    network: 0,
    gap: 20,
    prefix: "1852H/1815H/0H",
    account,
    stake,
  } as const;
  const prepared = await prepareWallet(spec ?? sequential, origin, derive);
  await store.sql.begin((sql) => beginWallet(sql, { ...prepared, incarnation }, enrol));
  return wallet;
}

/** Follows a chain; `fail` may throw in the watch's transactions, before their commit. */
export function watchedChain(store: Store, port: RawChainPort, fail: () => void = () => {}) {
  const stop = new AbortController();
  const shared = { store, port, fence: async () => {}, append: appendInputs, ring: () => {}, log: silentLog };
  const follower = new Follower({
    ...shared,
    projections: [walletProjection({ keyDeposit: KEY_DEPOSIT })],
    supplies: new Map([["wallet", walletSupply(store.sql, derive)]]),
    onUndo: undoSeen,
  });
  const running = follower.run(stop.signal);
  const watch = new MempoolWatch({
    ...shared,
    append: async (sql, touched) => {
      await appendInputs(sql, touched);
      fail();
    },
  });
  return {
    follower,
    watch,
    /** Waits until all wallets are read at the network's tip. */
    atTip: () =>
      until("everything is read at the tip", async () => {
        follower.wake();
        const [restoring] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
        const tip = await port.tip();
        return !restoring && tip.ok && (await readCursor(store.sql)).at.hash === tip.value.hash;
      }),
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

/** An event of the input log. */
export type LoggedEvent = Readonly<Record<string, unknown>> & { readonly type: string; readonly hash?: string };

/** All events of a wallet, in order. */
export async function eventsOf(store: Store, wallet: string): Promise<LoggedEvent[]> {
  const rows = await store.sql<{ event: LoggedEvent }[]>`select event from input_log where id = ${wallet} order by seq`;
  return rows.map(({ event }) => event);
}

/** Types of a wallet's events, with the reason of a withdrawal, except RESTORED. */
export async function storyOf(store: Store, wallet: string, hash?: string): Promise<string[]> {
  const events = await eventsOf(store, wallet);
  return events.filter((one) => one.type !== "RESTORED" && (hash === undefined || (one.hash ?? hash) === hash))
    .map(({ type, reason }) => reason === undefined ? type : `${type} ${reason}`);
}
