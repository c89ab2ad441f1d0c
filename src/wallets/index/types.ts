/** Inputs and results of the wallets' index, as plain values. */
import type { Json } from "#src/base/json.ts";
import type { Credential, NetworkId } from "#src/cardano/address.ts";
import type { Point, ScannedTransaction } from "#src/cardano/block.ts";
import type { Output, Utxo } from "#src/cardano/output.ts";
import type { Value } from "#src/cardano/value.ts";

/** Name of the projection, for `enrol` and `dismiss`. */
export const WALLET_PROJECTION = "wallet";

/**
 * Kinds of wallet, each a scheme of addresses: `random` (Byron) recognizes its addresses by decrypting their paths, all
 * others by derived credentials. Those of `icarus` wallets (Byron, of the styles icarus, trezor and ledger) are roots of
 * Byron addresses.
 */
export type WalletKind = "shelley" | "shared" | "random" | "icarus";

/**
 * Whether a wallet of a kind is paid at Byron addresses. Such an address may be forged: it has the path or the root of
 * one of the wallet and other attributes, so that no key of the wallet spends from it (`forged.ts`).
 */
export const hasByronAddresses = (kind: WalletKind): boolean => kind === "random" || kind === "icarus";

/** Roles of address pools: 0 receives payments, 1 receives change. */
export const POOL_ROLES = [0, 1] as const;
export type PoolRole = (typeof POOL_ROLES)[number];

/**
 * The credential that owns an output: `key-<56 hex>`, `script-<56 hex>`, or for Byron `byron-<address root, 56 hex>`.
 */
export type OwnedCredential = string;

/**
 * Credentials of a wallet's role at the indices `from` to `from + count - 1`. `account` is that of `SequentialWallet`.
 */
export interface CredentialRange {
  readonly wallet: string;
  readonly kind: WalletKind;
  readonly account: Json;
  readonly role: PoolRole;
  readonly from: number;
  readonly count: number;
}

/** Derives credentials in a builder thread, in the order of their indices. Rejects when the threads are overloaded. */
export type DeriveCredentials = (order: CredentialRange) => Promise<readonly OwnedCredential[]>;

/**
 * Derives a part of a large pool: hashes of 28 bytes, in the order of their indices. Rejects as `DeriveCredentials`
 * does.
 */
export type DeriveHashes = (order: CredentialRange) => Promise<Uint8Array>;

/** A wallet whose addresses are derived from an account, with a pool of each role. */
export interface SequentialWallet {
  readonly wallet: string;
  readonly kind: Exclude<WalletKind, "random">;
  readonly network: NetworkId;
  /** Consecutive unused addresses after the last used one in a pool, 10 to 100,000. */
  readonly gap: number;
  /** Path of the account, such as `1852H/1815H/0H`. */
  readonly prefix: string;
  /**
   * Source of the credentials: an account's public key, a script template with its keys, or an `IcarusAccount`. Nothing
   * secret.
   */
  readonly account: Json;
  /** Stake credential of all its addresses; without it they are enterprise or Byron addresses. */
  readonly stake?: Credential;
}

/** A Byron wallet whose addresses carry their encrypted paths. */
interface RandomWallet {
  readonly wallet: string;
  readonly kind: "random";
  readonly network: NetworkId;
  /** Key that decrypts the paths, 64 hexadecimal digits; it cannot spend. */
  readonly pathKey: string;
}

export type IndexedWallet = SequentialWallet | RandomWallet;

/** A wallet to be added to the index, which reads the blocks after `start`. */
export interface NewWallet {
  readonly spec: IndexedWallet;
  /** Number of times that it was created; its events carry it. */
  readonly incarnation?: number;
  readonly start: Point;
  /**
   * Credentials of the first pools by role, empty for a random wallet; or the incarnation whose slices hold them
   * (`slices.ts`).
   */
  readonly stock: readonly (readonly OwnedCredential[])[] | { readonly incarnation: number };
}

/** An address of a wallet. */
export interface WalletAddress {
  /** Its bytes in hexadecimal. */
  readonly address: string;
  /** Whole derivation path; indices from 2^31 on are hardened. */
  readonly path: readonly number[];
  readonly used: boolean;
}

/** An unspent output of a wallet, with the path of its key. */
export interface OwnUtxo {
  readonly utxo: Utxo;
  readonly path: readonly number[];
}

/** An unspent output that a build may spend. */
interface BuildableUtxo extends OwnUtxo {
  /** Spend priority, as in `Coin`. */
  readonly preference: number;
}

/** Outputs and change addresses for a build. */
export interface Buildable {
  readonly utxos: readonly BuildableUtxo[];
  /** The pending transactions that concern the wallet. */
  readonly pending: readonly ScannedTransaction[];
  /** Change addresses, ascending; used and pending ones only where no others are left. */
  readonly change: readonly WalletAddress[];
}

/** A submitted transaction that is not in the ledger, as the submission service reports it. */
export interface PendingTransaction {
  readonly transaction: ScannedTransaction;
  readonly status: "pending" | "expired";
  /** Why the network refuses it. */
  readonly failures?: readonly { readonly name: string; readonly message: string }[];
  /** Tip of the chain when it was submitted. */
  readonly since: { readonly slot: number; readonly height: number };
}

/** Value of a wallet, without rewards. */
export interface Holdings {
  /** Outputs that no pending transaction spends. */
  readonly available: Value;
  /** These, the wallet's outputs of pending transactions, and what it cannot spend. */
  readonly total: Value;
  /** Outputs at forged addresses (`forged.ts`), for which the wallet has no key; undefined: none. */
  readonly unspendable?: Value;
}

/** A selection of a wallet's transactions. */
export interface HistoryQuery {
  /** First and last slot, both inclusive. A pending transaction has the slot of its submission. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** `descending` (newest first) by default. */
  readonly order?: "ascending" | "descending" | undefined;
  readonly limit?: number | undefined;
  /** Only those with a withdrawal of at least so much lovelace. */
  readonly minWithdrawal?: bigint | undefined;
  /** Only those with an output at this address, or with the wallet's input from it; bytes in hexadecimal. */
  readonly address?: string | undefined;
  /** Only those by which the wallet gained (or kept its lovelace), or only those by which it lost some. */
  readonly direction?: WalletTransaction["direction"] | undefined;
  /** Only those in the ledger, only those that wait for it, or only those that can no longer reach it. */
  readonly status?: WalletTransaction["status"] | undefined;
  /** `next` of the previous page. */
  readonly after?: HistoryCursor | undefined;
}

/** Position of a transaction in a wallet's history. */
export interface HistoryCursor {
  readonly slot: number;
  readonly index: number;
  readonly hash: string;
}

/** A known output behind an input; with a path where it is the wallet's. */
export interface KnownInput {
  readonly output: Output;
  readonly path?: readonly number[];
}

/** A transaction as a wallet sees it. */
export interface WalletTransaction {
  readonly hash: string;
  readonly status: "pending" | "in_ledger" | "expired";
  /** Why the network refuses it now. */
  readonly failures?: readonly { readonly name: string; readonly message: string }[];
  readonly transaction: ScannedTransaction;
  /** Slot and height of its block, or of the tip when it was submitted. */
  readonly slot: number;
  readonly height: number;
  /** Hash of its block. */
  readonly block?: string;
  /** Era of that block, by its tag: 2 Shelley … 7 Conway. */
  readonly era?: number;
  readonly direction: "incoming" | "outgoing";
  /** Lovelace that the wallet gains or loses, fee and deposits included. */
  readonly amount: bigint;
  /** Lovelace; undefined where it is unknown (Byron transactions with foreign inputs). */
  readonly fee?: bigint;
  readonly depositTaken: bigint;
  readonly depositReturned: bigint;
  /** Inputs, collateral and references that are known, by `refKey`. */
  readonly known: ReadonlyMap<string, KnownInput>;
  /** Paths of the wallet's outputs by index; the collateral return has the index after the last. */
  readonly own: ReadonlyMap<number, readonly number[]>;
}

/** A wallet that owns a credential. */
export interface Owner {
  readonly wallet: string;
  readonly path: readonly number[];
}
