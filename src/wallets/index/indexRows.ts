/** Rows of the wallets' index and accounts, as projections read them: the one place where columns get their types. */
import type { Rows } from "#src/chain/index/projection.ts";
import type { WalletKind } from "#src/wallets/index/types.ts";

interface AddressColumns {
  readonly wallet: string;
  readonly role: bigint;
  readonly index: bigint;
  readonly credential: string;
  readonly address: string | null;
}

interface DelegationColumns {
  readonly wallet: string;
  readonly credential: string;
  readonly epoch: number | bigint;
  readonly registered: boolean;
  readonly deposit: bigint | null;
  readonly pool: string | null;
  readonly drep: string | null;
  readonly from_slot: number | bigint;
}

/** Columns by table. */
export interface IndexTables {
  readonly wallet_index: {
    readonly wallet: string;
    readonly kind: WalletKind;
    readonly gap: number;
    readonly stake: string | null;
    readonly path_key: string | null;
    readonly life: number | null;
  };
  readonly wallet_address: AddressColumns;
  readonly wallet_use: AddressColumns;
  readonly wallet_stock: { readonly wallet: string; readonly role: number; readonly count: number };
  readonly wallet_pool: {
    readonly wallet: string;
    readonly role: number;
    readonly size: number;
    readonly used: number;
  };
  readonly wallet_utxo: {
    readonly wallet: string;
    readonly ref: string;
    readonly role: bigint;
    readonly index: bigint;
    readonly output: Uint8Array;
  };
  readonly wallet_holding: {
    readonly entry: string;
    readonly wallet: string;
    /** Empty for lovelace. */
    readonly asset: string;
    /** `numeric`, which the database client gives as a text. */
    readonly quantity: string | number | bigint;
  };
  readonly wallet_delegation: DelegationColumns;
  readonly wallet_delegation_history: DelegationColumns;
  readonly wallet_delegation_due: {
    readonly wallet: string;
    readonly credential: string;
    readonly due: number | bigint;
  };
  readonly wallet_reward: {
    readonly wallet: string;
    readonly credential: string;
    readonly epoch: number | bigint;
    readonly rewards: bigint;
    readonly from_slot: number | bigint;
  };
}

/** The rows of a table; empty where none were read. */
export function rowsOf<T extends keyof IndexTables>(rows: Rows, table: T): readonly IndexTables[T][] {
  return (rows.get(table) ?? []) as unknown as readonly IndexTables[T][];
}
