/**
 * What wallets hold and did, read at one point of the chain: rows of the index, and what pending transactions do to
 * them. The wallet service answers its reads with these.
 */
import type { Clock } from "#src/base/clock.ts";
import { addTo, mustGet } from "#src/base/maps.ts";
import { onlyOf } from "#src/base/present.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { lovelace } from "#src/cardano/value.ts";
import { cursorOf, cursorQuery, readCursor } from "#src/chain/index/cursor.ts";
import { memberPositionsOf, memberPositionsQuery, readMemberPositions } from "#src/chain/index/groups.ts";
import { pendingInputs, readOverlay } from "#src/chain/pending/overlay.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { listedQuery, readListed, readListedPending } from "#src/chain/pending/submissions.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { readUnavailable, unavailableQuery } from "#src/runtime/operations/inspect.ts";
import { type JsonRow, readTogether } from "#src/store/readTogether.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { accountQueries, accountsOf, readAccounts, type WalletAccount } from "#src/wallets/delegation/read.ts";
import {
  coinsQuery,
  heldAmongQuery,
  holdingsOf,
  holdingsQuery,
  readBuildable,
  readHoldings,
  readOwnUtxos,
} from "#src/wallets/index/read.ts";
import { forgedQuery } from "#src/wallets/index/forged.ts";
import { type HistoryPage, readHistory, readTransactions } from "#src/wallets/index/readHistory.ts";
import {
  type HistoryCursor,
  type HistoryQuery,
  type Holdings,
  type OwnUtxo,
  WALLET_PROJECTION,
  type WalletTransaction,
} from "#src/wallets/index/types.ts";
import { type WalletStatus, walletStatuses } from "#src/wallets/walletStatus.ts";

/** What reads of wallets work with. */
export interface WalletReadServices {
  readonly store: Store;
  readonly port: Pick<ChainPort, "parameters">;
}

/** A wallet beside its own row. */
export interface WalletOverview {
  readonly holdings: Holdings;
  readonly status: WalletStatus;
  readonly account: WalletAccount | undefined;
  /** Whether a pending transaction withdraws its rewards: they are then part of what that transaction pays. */
  readonly withdrawing: boolean;
}

/** What overviews depend on beside rows. */
export interface OverviewServices {
  readonly store: Store;
  readonly port: Pick<ChainPort, "network">;
  readonly networkId: 0 | 1;
  /** As in `SyncTolerance`. */
  readonly toleranceS: number;
  readonly clocked: boolean;
  readonly clock: Clock;
}

/** Overviews of wallets of one kind of actors, all read at one point. */
export async function readOverviews(
  { store, port, networkId, toleranceS, clocked, clock }: OverviewServices,
  actor: string,
  ids: readonly string[],
): Promise<(id: string) => WalletOverview> {
  const { slots, slotsAhead } = await port.network();
  const { pending, holdings, accounts, ...places } = await readWithoutPending(store.sql, actor, ids) ??
    (await atPoint(store, (sql) => readWithPending(sql, actor, ids))).value;
  const statuses = walletStatuses(places, ids, { slots, slotsAhead, toleranceS, clocked, clock });
  return (id) => {
    const account = accounts.get(id);
    return {
      holdings: holdings.get(id) ?? { available: lovelace(0n), total: lovelace(0n) },
      status: mustGet(statuses, id),
      account,
      withdrawing: account !== undefined && isWithdrawing(pending.get(id), account, networkId),
    };
  };
}

type OverviewRows = Parameters<typeof walletStatuses>[0] & {
  readonly pending: ReadonlyMap<string, readonly ScannedTransaction[]>;
  readonly holdings: ReadonlyMap<string, Holdings>;
  readonly accounts: ReadonlyMap<string, WalletAccount>;
};

/**
 * All in one statement; `undefined` where holdings depend on pending transactions, or on forged addresses.
 */
async function readWithoutPending(
  sql: Queries,
  actor: string,
  ids: readonly string[],
): Promise<OverviewRows | undefined> {
  const read = await readTogether(sql, {
    listed: listedQuery(sql, ids),
    leaving: heldAmongQuery(sql, ids, pendingInputs(sql)),
    forged: forgedQuery(sql, ids),
    holdings: holdingsQuery(sql, ids),
    ...accountQueries(sql, ids),
    places: memberPositionsQuery(sql, WALLET_PROJECTION, ids),
    silent: unavailableQuery(sql, actor, ids),
    cursor: cursorQuery(sql),
  });
  if (read.listed.length + read.leaving.length + read.forged.length > 0) return undefined;
  return {
    pending: new Map(),
    holdings: holdingsOf(read.holdings),
    accounts: accountsOf(read.accounts, read.certified),
    places: memberPositionsOf(read.places),
    silent: new Set(read.silent.map(({ id }) => String(id))),
    networkTip: cursorOf(onlyOf(read.cursor)).networkTip,
  };
}

/** The same, with what pending transactions of every service do to holdings. */
async function readWithPending(sql: Queries, actor: string, ids: readonly string[]): Promise<OverviewRows> {
  const pending = new Map<string, readonly ScannedTransaction[]>();
  const readPending = async () => {
    const own = new Map<string, ScannedTransaction[]>();
    for (const { wallet, transaction, status } of await readListed(sql, ids)) {
      if (status === "pending") addTo(own, wallet, transaction);
    }
    const leaving = new Map<string, string[]>();
    const held = await sql<{ wallet: string; ref: string }[]>`${heldAmongQuery(sql, ids, pendingInputs(sql))}`;
    for (const { wallet, ref } of held) addTo(leaving, wallet, ref);
    for (const id of new Set([...own.keys(), ...leaving.keys()])) {
      pending.set(id, await readOverlay(sql, { refs: leaving.get(id) ?? [], own: own.get(id) ?? [] }));
    }
    return await readHoldings(sql, ids, pending);
  };
  const [holdings, accounts, places, silent, { networkTip }] = await Promise.all([
    readPending(),
    readAccounts(sql, ids),
    readMemberPositions(sql, WALLET_PROJECTION, ids),
    readUnavailable(sql, actor, ids),
    readCursor(sql),
  ]);
  return { pending, holdings, accounts, places, silent, networkTip };
}

/** Whether one of some transactions withdraws the rewards of an account. */
export function isWithdrawing(
  transactions: readonly Pick<ScannedTransaction, "withdrawals">[] = [],
  { credential }: Pick<WalletAccount, "credential">,
  network: 0 | 1,
): boolean {
  const address = rewardAddress(network, credential).hex;
  return transactions.some(({ withdrawals }) => withdrawals.has(address));
}

/** Outputs of a wallet that neither a block nor a pending transaction has spent. */
export async function readUnspent(store: Store, id: string): Promise<OwnUtxo[]> {
  const { value } = await atPoint(
    store,
    async (sql) => await readOwnUtxos(sql, id, await readListedPending(sql, id), readOverlay),
  );
  return [...value];
}

/** What a build of a wallet can spend: as `readUnspent`, with the outputs of pending transactions. */
export async function readSpendable(store: Store, id: string): Promise<OwnUtxo[]> {
  const { value } = await atPoint(
    store,
    async (sql) =>
      await readBuildable(sql, id, {
        pending: await readListedPending(sql, id),
        overlay: readOverlay,
        reserved: () => Promise.resolve(new Map()),
        change: 0,
      }),
  );
  return [...value.utxos];
}

/**
 * Lovelace of each output of `readUnspent`; in one statement where no transaction is pending and no address is forged.
 */
export async function readUnspentLovelace(store: Store, id: string): Promise<bigint[]> {
  const { sql } = store;
  const { listed, leaving, forged, coins } = await readTogether(sql, {
    listed: listedQuery(sql, [id]),
    leaving: heldAmongQuery(sql, [id], pendingInputs(sql)),
    forged: forgedQuery(sql, [id]),
    coins: coinsQuery(sql, id),
  });
  if (listed.length + leaving.length + forged.length === 0) return coins.map(({ coin }) => integerOf(coin));
  return (await readUnspent(store, id)).map(({ utxo }) => utxo.output.value.lovelace);
}

/** An integer in a row decoded from JSON. */
function integerOf(value: JsonRow[string]): bigint {
  if (typeof value !== "number" && typeof value !== "bigint") throw new TypeError("a row has no integer");
  return BigInt(value);
}

/** A page of a wallet's history, and the height of the block up to which it was read. */
export async function readHistoryPage(
  services: WalletReadServices,
  id: string,
  query: HistoryQuery,
): Promise<HistoryPage & { readonly height: number }> {
  const keyDeposit = await readKeyDeposit(services);
  const { at, value } = await atPoint(
    services.store,
    async (sql) => await readHistory(sql, id, query, await readListed(sql, [id]), keyDeposit),
  );
  return { ...value, height: at.height };
}

/** Transactions that are read at a time. */
const PAGE = 250;

/**
 * Hands a wallet's history page by page to `take`, all of one state of the index, with the height of its block and eras
 * that reach as far as it does. Gives `after` of the next page where there are more transactions than `query.limit`.
 */
export async function eachHistoryPage(
  services: WalletReadServices & { eras(slot: number): Promise<Eras> },
  id: string,
  query: HistoryQuery,
  take: (
    transactions: readonly WalletTransaction[],
    at: { readonly height: number; readonly eras: Eras },
  ) => Promise<void>,
): Promise<HistoryCursor | undefined> {
  const keyDeposit = await readKeyDeposit(services);
  const { value } = await atPoint(services.store, async (sql) => {
    const [{ at }, listed] = await Promise.all([readCursor(sql), readListed(sql, [id])]);
    const eras = await services.eras(Math.max(0, at.slot, ...listed.map(({ since }) => since.slot)));
    let left = query.limit ?? Infinity;
    let after = query.after;
    do {
      const page = { ...query, ...(after ? { after } : {}), limit: Math.min(left, PAGE) };
      const { transactions, next } = await readHistory(sql, id, page, listed, keyDeposit);
      await take(transactions, { height: at.height, eras });
      left -= transactions.length;
      after = next;
    } while (after && left > 0);
    return after;
  });
  return value;
}

/**
 * Transactions of a wallet by hash, without those that are not its own, and the height of the block up to which they
 * were read.
 */
export async function readOwnTransactions(services: WalletReadServices, id: string, hashes: readonly string[]) {
  const keyDeposit = await readKeyDeposit(services);
  const { at, value } = await atPoint(
    services.store,
    async (sql) => await readTransactions(sql, id, hashes, await readListed(sql, [id]), keyDeposit),
  );
  return { transactions: value, height: at.height };
}

/** Lovelace that a registration pays whose certificate does not state it. */
async function readKeyDeposit({ port }: Pick<WalletReadServices, "port">): Promise<bigint | undefined> {
  const answer = await port.parameters();
  return answer.ok ? answer.value.value.keyDeposit : undefined;
}
