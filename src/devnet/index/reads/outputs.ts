/** Outputs in the index, with their assets. */
import type { Fragment, Queries } from "#src/store/store.ts";

/** An asset in an output. */
export interface IndexedAsset {
  readonly unit: string;
  readonly quantity: string;
}

/** Columns of `outputColumns`. */
export interface IndexedOutput {
  readonly tx_hash: string;
  readonly index: number;
  /** Height of its block; -1 for the genesis. */
  readonly height: bigint;
  readonly tx_index: number;
  /** Bytes in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
  /** By unit; null: none. */
  readonly assets: IndexedAsset[] | null;
  readonly datum_hash: string | null;
  /** CBOR of the inline datum. */
  readonly datum: Uint8Array | null;
  readonly script_hash: string | null;
  /** Hash of the transaction that spent it. */
  readonly spent_tx: string | null;
}

/** Columns of the outputs of a table called `o`. */
export const outputColumns = (sql: Queries): Fragment =>
  sql`o.tx_hash, o.index, o.height, o.tx_index, o.address, o.lovelace, o.datum_hash, o.datum, o.script_hash, o.spent_tx, (
    select json_agg(json_build_object('unit', a.unit, 'quantity', a.quantity::text) order by a.unit)
    from devnet_index_asset a where a.tx_hash = o.tx_hash and a.index = o.index) as assets`;
