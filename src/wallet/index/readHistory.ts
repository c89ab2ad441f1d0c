// deno-lint-ignore-file no-unused-vars
/** The transactions of wallets. */
import type { Queries } from "#src/store/store.ts";
import type { HistoryCursor, HistoryQuery, PendingTransaction, WalletTransaction } from "#src/wallet/index/types.ts";

export interface HistoryPage {
  readonly transactions: readonly WalletTransaction[];
  /** What `after` of the next page is, where there is one. */
  readonly next?: HistoryCursor;
}

/** A wallet's transactions, those in the ledger and those that are pending or expired, in one order. */
export function readHistory(
  sql: Queries,
  wallet: string,
  query: HistoryQuery,
  pending: readonly PendingTransaction[],
): Promise<HistoryPage> {
  throw new Error("not written");
}

/** One transaction of a wallet; undefined where it has none of that hash. */
export function readTransaction(
  sql: Queries,
  wallet: string,
  hash: string,
  pending: readonly PendingTransaction[],
): Promise<WalletTransaction | undefined> {
  throw new Error("not written");
}
