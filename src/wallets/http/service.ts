/** What the endpoints of the wallet service share: its dependencies, and look-ups of wallets. */
import type { Failure, Result } from "#src/base/result.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { byronMagic } from "#src/cardano/magic.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { cacheWhileUnchanged } from "#src/http/responseCache.ts";
import type { ResponseCache } from "#src/http/route.ts";
import { type WalletBuilds, walletBuilds } from "#src/wallets/walletBuildCalls.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";
import { openPoolBook } from "#src/wallets/poolBook.ts";
import { answered } from "#src/wallets/http/status.ts";
import { eraCache } from "#src/chain/provider/eraCache.ts";
import { openLookupStore } from "#src/store/readPool.ts";
import type { PoolBook } from "#src/wallets/pools/book.ts";
import { TokenServer } from "#src/wallets/tokenMetadata.ts";
import { countSpending, type LimitExceeded } from "#src/wallets/spending.ts";
import { readWallet, type WalletRow } from "#src/wallets/rows.ts";

export interface WalletService extends WalletEdgeOptions {
  readonly book: PoolBook;
  /** Client of the token metadata server, where there is one. */
  readonly tokens: TokenServer | undefined;
  readonly builds: WalletBuilds;
  /** Protocol magic of Byron addresses; undefined on mainnet. */
  readonly magic: number | undefined;
  /** Caches answers made from the database alone. */
  readonly cache: ResponseCache;
  /** Eras of the network as far as a slot; throws 503 where the network is away. */
  eras(slot?: number): Promise<Eras>;
  /** Counts signed transactions towards a wallet's spending limit; `spending_limit_exceeded` where they pass it. */
  countSpending(wallet: string, transactions: readonly Uint8Array[]): Promise<Result<null, LimitExceeded>>;
  /** A wallet of one of some kinds; throws 404 `no_such_wallet`. */
  wallet(id: string, ...kinds: readonly WalletRow["kind"][]): Promise<WalletRow>;
}

/** Longest time for a call that computes, in milliseconds. */
export const LONGEST_MS = 30_000;
/** Deadline of such a call, in ms since 1970. */
export const until = () => ({ deadline: Date.now() + LONGEST_MS });

export function createWalletService(given: WalletEdgeOptions): WalletService {
  const options = { ...given, store: openLookupStore(given.store) };
  const { tokenMetadata: url, outside, log } = options;
  const readEras = eraCache(options.port);
  return {
    ...options,
    book: options.book ?? openPoolBook(given),
    tokens: url === undefined ? undefined : new TokenServer({ url, fetch: { ...outside, chosen: url }, log }),
    magic: byronMagic(options.networkMagic),
    builds: walletBuilds(options.build),
    cache: cacheWhileUnchanged(options.store.sql),
    countSpending: (wallet, transactions) => countSpending(options, wallet, transactions),
    eras: async (slot) => answered(await readEras(slot)),
    async wallet(id, ...kinds) {
      const row = await readWallet(options.store.sql, id, kinds);
      if (row === undefined) throw noSuchWallet(id);
      return row;
    },
  };
}

/** The entity of a wallet with a single owner. */
export const entityOf = (id: string) => ({ kind: "wallet", id });

/** 404: there is no such wallet. */
export function noSuchWallet(id: string): HttpFailure {
  return new HttpFailure(404, "no_such_wallet", `I couldn't find a wallet with the given id: ${id}`, { wallet_id: id });
}

/** 409. Clients parse the id from the message, as its eleventh word. */
export function walletAlreadyExists(id: string): HttpFailure {
  return new HttpFailure(
    409,
    "wallet_already_exists",
    `This operation would yield a wallet with the following id: ${id} However, I already know of a wallet with this id.`,
    { wallet_id: id },
  );
}

/** Whether a command failed because the wallet does not exist, or no longer. */
export const isGone = ({ code }: Failure): boolean => code === "not_possible";
