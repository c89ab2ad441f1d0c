/** Unspent outputs by reference and by what they hold, with their blocks and the tip. Each function is one statement. */
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Tip } from "#src/cardano/block.ts";
import { type OutputRow, tipColumns, tipOf, type TipRow, utxoOf } from "#src/devnet/blocks/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** What an output is chosen by. Hashes and units are hexadecimal. */
export type UnspentFilter =
  | { readonly by: "address"; readonly address: string }
  /** The hash in the payment credential, of a key or of a script. */
  | { readonly by: "payment"; readonly hash: string }
  | { readonly by: "delegation"; readonly hash: string }
  | { readonly by: "unit"; readonly unit: string }
  | { readonly by: "policy"; readonly policy: string }
  | { readonly by: "all" | "any"; readonly of: readonly UnspentFilter[] }
  | { readonly by: "not"; readonly of: UnspentFilter };

/** A place in the order in which outputs are listed: by block, then by reference. */
export interface UnspentPlace extends OutRef {
  readonly height: number;
}

/** An unspent output with its block; undefined for the genesis. */
export interface UnspentOutput extends Utxo {
  readonly height: number;
  readonly block: Tip | undefined;
}

/** Outputs, and the newest block of the chain that they were read from. */
export interface UnspentOutputs {
  readonly tip: Tip;
  readonly outputs: readonly UnspentOutput[];
}

type UnspentRow = TipRow & OutputRow & {
  readonly created_height: bigint;
  readonly slot: bigint | null;
  readonly hash: string | null;
};

/** The unspent ones of some outputs, in no certain order. */
export async function readUnspent(sql: Queries, refs: readonly OutRef[]): Promise<UnspentOutputs> {
  const hashes = sql.array(refs.map(({ txHash }) => txHash));
  const indexes = sql.array(refs.map(({ index }) => index));
  return unspentOf(
    await sql<UnspentRow[]>`
      select * from ${tipColumns(sql)} left join (
        select u.tx_hash, u.index, u.cbor, u.created_height, b.slot, b.hash from devnet_utxo u
        join (select distinct * from unnest(${hashes}::text[], ${indexes}::int[]) as w (tx_hash, index)) wanted
          using (tx_hash, index)
        left join devnet_block b on b.height = u.created_height
        where u.spent_height is null) found on true`,
  );
}

/**
 * Unspent outputs that a filter chooses, after a place. Filters by payment credential and by asset need the index of the chain.
 */
export async function searchUnspent(
  sql: Queries,
  filter: UnspentFilter,
  { limit, after }: { readonly limit: number; readonly after?: UnspentPlace | undefined },
): Promise<UnspentOutputs> {
  const later = after
    ? sql`(u.created_height, u.tx_hash, u.index) > (${after.height}::bigint, ${after.txHash}, ${after.index}::int)`
    : sql`true`;
  // `offset 0`: a filter that chooses few outputs is looked up first, whatever the limit; else all are passed over in their order
  const first = narrows(filter) ? sql`offset 0` : sql``;
  return unspentOf(
    await sql<UnspentRow[]>`
      select * from ${tipColumns(sql)} left join (
        select u.*, b.slot, b.hash from (
          select * from (
            select u.tx_hash, u.index, u.cbor, u.created_height from devnet_utxo u
            where u.spent_height is null and ${later} and ${condition(sql, filter)} ${first}) u
          order by u.created_height, u.tx_hash, u.index limit ${limit}) u
        left join devnet_block b on b.height = u.created_height) found on true
      order by created_height, tx_hash, index`,
  );
}

/** Whether a filter chooses few of many outputs, by an index. */
function narrows(filter: UnspentFilter): boolean {
  switch (filter.by) {
    case "all":
      return filter.of.some(narrows);
    case "any":
      return filter.of.every(narrows);
    case "not":
      return false;
    default:
      return true;
  }
}

/** Condition on the rows of `devnet_utxo u`. */
function condition(sql: Queries, filter: UnspentFilter): Fragment {
  switch (filter.by) {
    case "address":
      return sql`u.address = ${filter.address}`;
    case "payment": {
      const credentials = sql.array([`k${filter.hash}`, `s${filter.hash}`]);
      return sql`(u.tx_hash, u.index) in (select o.tx_hash, o.index from devnet_index_output o
        where o.payment = any(${credentials}) and o.spent_height is null)`;
    }
    case "delegation":
      // addresses of the first four types have a hash there (CIP-19)
      return sql`(substr(u.address, 59) = ${filter.hash} and substr(u.address, 1, 1) < '4')`;
    case "unit":
      return sql`(u.tx_hash, u.index) in (select a.tx_hash, a.index from devnet_index_asset a where a.unit = ${filter.unit})`;
    case "policy":
      // no hexadecimal digit is greater than f
      return sql`(u.tx_hash, u.index) in (select a.tx_hash, a.index from devnet_index_asset a
        where a.unit >= ${filter.policy} and a.unit < ${`${filter.policy}g`})`;
    case "all":
      return joined(sql, filter.of, sql`and`, sql`true`);
    case "any":
      return joined(sql, filter.of, sql`or`, sql`false`);
    case "not":
      return sql`not ${condition(sql, filter.of)}`;
  }
}

function joined(sql: Queries, filters: readonly UnspentFilter[], word: Fragment, none: Fragment): Fragment {
  if (filters.length === 0) return none;
  const whole = filters.map((filter) => condition(sql, filter))
    .reduce((conditions, next) => sql`${conditions} ${word} ${next}`);
  return sql`(${whole})`;
}

function unspentOf(rows: readonly UnspentRow[]): UnspentOutputs {
  return {
    tip: tipOf(rows[0]),
    outputs: rows.filter((row) => row.tx_hash !== null).map((row) => {
      const height = Number(row.created_height);
      const { slot, hash } = row;
      return {
        ...utxoOf(row),
        height,
        block: slot === null || hash === null ? undefined : { height, slot: Number(slot), hash },
      };
    }),
  };
}
