/** Wallets as clients are told them: their rows, what the index has of them, how far they are, whom they delegate to. */
import type { Eras } from "#src/cardano/eras.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { lovelace as ada } from "#src/cardano/value.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { cursorOf, cursorQuery, readCursor } from "#src/chain/index/cursor.ts";
import { placesOf, placesQuery, readPlaces } from "#src/chain/index/groups.ts";
import { listedQuery, readListed } from "#src/chain/pending/submissions.ts";
import { assetViews, lovelace } from "#src/edge/wallets/amountViews.ts";
import { delegationView, NO_DELEGATION } from "#src/edge/wallets/delegationView.ts";
import type { Desk } from "#src/edge/wallets/context.ts";
import { type Standing, standingsOf } from "#src/edge/wallets/state.ts";
import { blockView } from "#src/edge/wallets/times.ts";
import { readUnavailable, unavailableQuery } from "#src/runtime/operations/inspect.ts";
import type { Queries } from "#src/store/store.ts";
import { readTogether } from "#src/store/readTogether.ts";
import {
  accountQueries,
  accountsOf,
  delegationIn,
  readAccounts,
  type WalletAccount,
} from "#src/wallet/delegation/read.ts";
import { holdingsOf, holdingsQuery, randomQuery, readHoldings } from "#src/wallet/index/read.ts";
import { type Holdings, WALLET_PROJECTION } from "#src/wallet/index/types.ts";
import type { WalletRow } from "#src/wallet/rows.ts";

/** What is told of a wallet beside its own row. */
export interface Told {
  readonly holdings: Holdings;
  readonly standing: Standing;
  readonly account: WalletAccount | undefined;
  /** Whether something pending withdraws its rewards, which are then in what that pays. */
  readonly withdrawing: boolean;
}

/** What is told of some wallets of a kind of actors, all read at one point. */
export async function tellOf(desk: Desk, actor: string, ids: readonly string[]): Promise<(id: string) => Told> {
  const { slots } = await desk.port.network();
  const { toleranceS, clocked, clock, store } = desk;
  const { open, holdings, accounts, ...where } = await readSettled(store.sql, actor, ids) ??
    (await atPoint(store, (sql) => readListing(sql, actor, ids))).value;
  const standings = standingsOf(where, ids, { slots, toleranceS, clocked, clock });
  return (id) => {
    const account = accounts.get(id);
    return {
      holdings: holdings.get(id) ?? { available: ada(0n), total: ada(0n) },
      standing: standings.get(id)!,
      account,
      withdrawing: account !== undefined && isWithdrawing(open.get(id), account, desk.networkId),
    };
  };
}

type Found = Parameters<typeof standingsOf>[0] & {
  /** What is pending. */
  readonly open: ReadonlyMap<string, readonly ScannedTransaction[]>;
  readonly holdings: ReadonlyMap<string, Holdings>;
  readonly accounts: ReadonlyMap<string, WalletAccount>;
};

/** All in one statement; undefined where what some wallets hold depends on more: on what they list, or on whose their outputs are. */
async function readSettled(sql: Queries, actor: string, ids: readonly string[]): Promise<Found | undefined> {
  const read = await readTogether(sql, {
    listed: listedQuery(sql, ids),
    random: randomQuery(sql, ids),
    holdings: holdingsQuery(sql, ids),
    ...accountQueries(sql, ids),
    places: placesQuery(sql, WALLET_PROJECTION, ids),
    silent: unavailableQuery(sql, actor, ids),
    cursor: cursorQuery(sql),
  });
  if (read.listed.length + read.random.length > 0) return undefined;
  return {
    open: new Map(),
    holdings: holdingsOf(read.holdings),
    accounts: accountsOf(read.accounts, read.certified),
    places: placesOf(read.places),
    silent: new Set(read.silent.map(({ id }) => String(id))),
    networkTip: cursorOf(read.cursor[0]!).networkTip,
  };
}

/** The same, with what pending transactions do to holdings. */
async function readListing(sql: Queries, actor: string, ids: readonly string[]): Promise<Found> {
  const open = new Map<string, ScannedTransaction[]>();
  const listed = async () => {
    for (const { wallet, transaction, status } of await readListed(sql, ids)) {
      if (status === "pending") open.set(wallet, [...open.get(wallet) ?? [], transaction]);
    }
    return await readHoldings(sql, ids, open);
  };
  const [holdings, accounts, places, silent, { networkTip }] = await Promise.all([
    listed(),
    readAccounts(sql, ids),
    readPlaces(sql, WALLET_PROJECTION, ids),
    readUnavailable(sql, actor, ids),
    readCursor(sql),
  ]);
  return { open, holdings, accounts, places, silent, networkTip };
}

/** The newest slot among wallets' tips: time must be known as far as that, also where the block came after a long silence. */
export function lastSlot(ids: readonly string[], told: (id: string) => Told): number {
  return ids.reduce((last, id) => Math.max(last, told(id).standing.tip.slot), 0);
}

/** Whether one of some transactions withdraws what an account earned. */
export function isWithdrawing(
  open: readonly Pick<ScannedTransaction, "withdrawals">[] = [],
  { credential }: Pick<WalletAccount, "credential">,
  network: 0 | 1,
): boolean {
  const address = rewardAddress(network, credential).hex;
  return open.some(({ withdrawals }) => withdrawals.has(address));
}

/** Name, state, tip and what else all kinds have. */
function common(row: WalletRow, { holdings, standing }: Told, eras: Eras) {
  const { passphrase } = row;
  return {
    id: row.id,
    name: row.name,
    assets: { available: assetViews(holdings.available.assets), total: assetViews(holdings.total.assets) },
    ...(passphrase === undefined ? {} : {
      passphrase: { last_updated_at: passphrase.at.toISOString(), encryption_method: passphrase.method },
    }),
    state: standing.state,
    tip: blockView(eras, standing.tip),
  };
}

/** A sequential wallet. */
export function walletView(row: WalletRow, told: Told, eras: Eras) {
  return {
    ...common(row, told, eras),
    address_pool_gap: row.gap,
    balance: balanceView(told),
    delegation: delegatedView(told, eras),
    one_change_address_mode: row.oneChange,
    selection: row.selection,
  };
}

/** A wallet of the first era. */
export function byronView(row: WalletRow, told: Told, eras: Eras) {
  const { available, total } = told.holdings;
  return {
    ...common(row, told, eras),
    balance: { available: lovelace(available.lovelace), total: lovelace(total.lovelace) },
    discovery: "random",
  };
}

/** What can be spent, what rewards are there, and all of it: rewards that are on their way count once, in what they are paid to. */
export function balanceView({ holdings, account, withdrawing }: Pick<Told, "holdings" | "account" | "withdrawing">) {
  const reward = account?.rewards ?? 0n;
  return {
    available: lovelace(holdings.available.lovelace),
    reward: lovelace(reward),
    total: lovelace(holdings.total.lovelace + (withdrawing ? 0n : reward)),
  };
}

/** Whom stake and vote count for, now and in the next epochs. */
export function delegatedView({ account, standing }: Pick<Told, "account" | "standing">, eras: Eras) {
  const epochs = epochsOf(eras);
  return account ? delegationView(delegationIn(account, epochs.of(standing.tip.slot)), epochs) : NO_DELEGATION;
}
