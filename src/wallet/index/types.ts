/** What the wallets' index is told and what it tells, as plain values. */
import type { Json } from "#src/base/json.ts";
import type { Credential, NetworkId } from "#src/cardano/address.ts";
import type { Point, ScannedTransaction } from "#src/cardano/block.ts";
import type { Output, Utxo } from "#src/cardano/output.ts";
import type { Value } from "#src/cardano/value.ts";

/** The name of the projection, as `enrol` and `dismiss` want it. */
export const WALLET_PROJECTION = "wallet";

/** Kinds of wallet: `random` finds its addresses by decrypting, all others by the credentials that are derived for them. */
export type WalletKind = "shelley" | "shared" | "random";

/** Roles of the pools of addresses: to receive at, and for change. */
export const POOL_ROLES = [0, 1] as const;
export type PoolRole = (typeof POOL_ROLES)[number];

/** Whose an output is: `key-<56 hex>`, `script-<56 hex>`, or of an address of Byron `byron-<address root, 56 hex>`. */
export type OwnedCredential = string;

/** A wish for credentials of indices `from` to `from + count - 1`. `account` is what the wallet was begun with. */
export interface StockOrder {
  readonly wallet: string;
  readonly kind: WalletKind;
  readonly account: Json;
  readonly role: PoolRole;
  readonly from: number;
  readonly count: number;
}

/** Derives credentials, in the order of their indices: in a builder thread. Rejects when it cannot be done now. */
export type DeriveStock = (order: StockOrder) => Promise<readonly OwnedCredential[]>;

/** Derives credentials of a part of a great pool: their hashes of 28 bytes, in the order of their indices. Rejects as `DeriveStock` does. */
export type DeriveSlice = (order: StockOrder) => Promise<Uint8Array>;

/** A wallet whose addresses are derived from an account, with a pool of each role. */
export interface SequentialWallet {
  readonly wallet: string;
  readonly kind: "shelley" | "shared";
  readonly network: NetworkId;
  /** Consecutive unused addresses that a pool keeps after the last used one, 10 to 100,000. */
  readonly gap: number;
  /** Path of the account, as `1852H/1815H/0H`. */
  readonly prefix: string;
  /** What `DeriveStock` derives from: an account's public key, or a script template with its keys. Nothing secret. */
  readonly account: Json;
  /** The stake part of all its addresses; without one they are enterprise addresses. */
  readonly stake?: Credential;
}

/** A wallet of Byron whose addresses carry their paths, encrypted. */
export interface RandomWallet {
  readonly wallet: string;
  readonly kind: "random";
  readonly network: NetworkId;
  /** The key that opens the paths, 64 hexadecimal digits; it cannot spend. */
  readonly pathKey: string;
}

export type IndexedWallet = SequentialWallet | RandomWallet;

/** A wallet that is about to be read, from the block after `birth` on. */
export interface NewWallet {
  readonly spec: IndexedWallet;
  /** How often it was created; its events carry it. */
  readonly life?: number;
  readonly birth: Point;
  /** Credentials of the first pools, by role, empty for a random wallet; or the life whose slices hold them (`slices.ts`). */
  readonly stock: readonly (readonly OwnedCredential[])[] | { readonly life: number };
}

/** An address of a wallet. */
export interface WalletAddress {
  /** Its bytes in hexadecimal. */
  readonly address: string;
  /** Whole derivation path: indices from 2^31 on are hard. */
  readonly path: readonly number[];
  readonly used: boolean;
}

/** An output of a wallet, with the path of the key that it belongs to. */
export interface OwnUtxo {
  readonly utxo: Utxo;
  readonly path: readonly number[];
}

/** An output that a build may take; `preference` as in `chain/available.ts`, less is more gladly. */
export interface BuildableUtxo extends OwnUtxo {
  readonly preference: number;
}

/** What a transaction is built from. */
export interface Buildable {
  readonly utxos: readonly BuildableUtxo[];
  /** Addresses for change, none of them used or in a pending transaction while there are such; in order of their indices. */
  readonly change: readonly WalletAddress[];
}

/** A submitted transaction that the ledger does not hold, as whoever submits tells it. */
export interface PendingTransaction {
  readonly transaction: ScannedTransaction;
  readonly status: "pending" | "expired";
  /** Why the network will not have it. */
  readonly failures?: readonly { readonly name: string; readonly message: string }[];
  /** Where the chain stood when it was submitted. */
  readonly since: { readonly slot: number; readonly height: number };
}

/** What a wallet holds, without rewards. */
export interface Holdings {
  /** What is not spent by a pending transaction. */
  readonly available: Value;
  /** That, and what pending transactions give back. */
  readonly total: Value;
}

/** Which transactions of a wallet, and how many. */
export interface HistoryQuery {
  /** First and last slot, both included. A pending transaction counts by the slot of its submission. */
  readonly from?: number;
  readonly to?: number;
  /** Newest first unless said otherwise. */
  readonly order?: "ascending" | "descending";
  readonly limit?: number;
  /** Only those with a withdrawal of at least so much lovelace. */
  readonly minWithdrawal?: bigint;
  /** Only those with an output at this address, or with an input of the wallet's at it; bytes in hexadecimal. */
  readonly address?: string;
  /** After the place that the page before gave. */
  readonly after?: HistoryCursor;
}

/** The place of a transaction in a wallet's history. */
export interface HistoryCursor {
  readonly slot: number;
  readonly index: number;
  readonly hash: string;
}

/** An input whose output is known; with a path where it is the wallet's own. */
export interface KnownInput {
  readonly output: Output;
  readonly path?: readonly number[];
}

/** A transaction as a wallet sees it. */
export interface WalletTransaction {
  readonly hash: string;
  readonly status: "pending" | "in_ledger" | "expired";
  /** Why the network will not have what it had taken. */
  readonly failures?: readonly { readonly name: string; readonly message: string }[];
  readonly transaction: ScannedTransaction;
  /** Where the ledger holds it, or where the chain stood when it was submitted. */
  readonly slot: number;
  readonly height: number;
  /** Hash of the block that holds it. */
  readonly block?: string;
  /** Era of that block, by its tag: 2 Shelley … 7 Conway. */
  readonly era?: number;
  readonly direction: "incoming" | "outgoing";
  /** Lovelace that the wallet has more or less by it, fee and deposits included. */
  readonly amount: bigint;
  /** Lovelace; undefined where it is unknown (Byron, others' inputs). */
  readonly fee?: bigint;
  readonly depositTaken: bigint;
  readonly depositReturned: bigint;
  /** Inputs, collateral and references that are known, by `refKey`. */
  readonly known: ReadonlyMap<string, KnownInput>;
  /** Paths of outputs that are the wallet's, by their index; the collateral's return has the index after the last. */
  readonly own: ReadonlyMap<number, readonly number[]>;
}

/** A wallet that an output's credential belongs to. */
export interface Owner {
  readonly wallet: string;
  readonly path: readonly number[];
}
