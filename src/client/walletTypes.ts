/** Types of the wallet service's answers. */
import type * as addresses from "#src/wallets/api/addresses.ts";
import type * as assets from "#src/wallets/api/assets.ts";
import type * as dreps from "#src/wallets/api/dreps.ts";
import type * as network from "#src/wallets/api/network.ts";
import type * as places from "#src/wallets/api/places.ts";
import type * as pools from "#src/wallets/api/pools.ts";
import type * as seen from "#src/wallets/api/seen.ts";
import type * as transactions from "#src/wallets/api/transactions.ts";
import type * as wallets from "#src/wallets/api/wallets.ts";
import type { Exact } from "#src/client/exact.ts";
import type { FollowOptions } from "#src/client/sse.ts";

export type Wallet = Exact<typeof wallets.wallet>;
export type ByronWallet = Exact<typeof wallets.byronWallet>;
export type WalletAddress = Exact<typeof addresses.walletAddress>;
export type Transaction = Exact<typeof transactions.transaction>;
export type SeenTransaction = Exact<typeof seen.seenTransaction>;
export type Constructed = Exact<typeof transactions.constructed>;
export type Decoded = Exact<typeof transactions.decoded>;
export type FeeEstimate = Exact<typeof transactions.fees>;
export type Asset = Exact<typeof assets.asset>;
export type Drep = Exact<typeof dreps.drepInfo>;
export type StakePool = Exact<typeof pools.stakePool>;
export type Block = Exact<typeof places.blockPlace>;
export type NetworkInformation = Exact<typeof network.networkInformation>;

/** A page of a list, and the path of the next one. */
export interface Page<T> {
  readonly entries: T;
  readonly after?: string;
}

/** An event of a wallet's stream; a stream that continues after it gets `id` as `after`. */
export type WalletEvent =
  /** A connection is open. */
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: "transaction"; readonly id: string; readonly transaction: Transaction }
  /** Blocks were rolled back, with their transactions, to this tip. */
  | { readonly type: "rolled_back"; readonly id: string; readonly tip: Block };

export interface EventOptions extends FollowOptions {
  readonly prefix?: Prefix;
  /** Metadata as plain JSON. */
  readonly simple?: boolean;
}

/** Kinds of wallets by the first segment of their paths. */
export type Prefix = "wallets" | "byron-wallets" | "shared-wallets";
