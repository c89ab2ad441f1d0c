/** Addresses in the index: their outputs and their transactions. */
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import { type IndexedAsset, type IndexedOutput, outputColumns } from "#src/devnet/index/reads/outputs.ts";
import { direction, limits, type Page, type PlaceRange, within } from "#src/devnet/index/reads/page.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** Outputs at an address (bytes in hexadecimal), or at all addresses with a payment credential (its key). */
export type Holder = { readonly address: string } | { readonly payment: string };

/** Also outputs at all addresses with the stake of an account (its key). */
export type TransactionHolder = Holder | { readonly stake: string };

/** Also outputs that hold a reference script (its hash). */
export type OutputFilter = TransactionHolder | { readonly script: string };

/** Condition on the outputs called `o`. */
export function heldBy(sql: Queries, filter: OutputFilter): Fragment {
  if ("address" in filter) {
    // the indexes are over payment credentials, and over the addresses that have none
    const { payment } = credentialsOf(filter.address);
    return payment === undefined
      ? sql`o.payment is null and o.address = ${filter.address}`
      : sql`o.payment = ${payment} and o.address = ${filter.address}`;
  }
  if ("payment" in filter) return sql`o.payment = ${filter.payment}`;
  return "stake" in filter ? sql`o.stake = ${filter.stake}` : sql`o.script_hash = ${filter.script}`;
}

/** Whether there ever was an output of the holder. */
export async function isUsed(sql: Queries, holder: Holder): Promise<boolean> {
  const { used } = await onlyRow(sql<{ used: boolean }[]>`
    select exists (select from devnet_index_output o where ${heldBy(sql, holder)}) as used`);
  return used;
}

/** Lovelace and assets, by unit, of some outputs. */
export interface IndexedSum {
  /** Whether there ever was an output of their holder. */
  readonly isUsed: boolean;
  readonly lovelace: string;
  readonly assets: IndexedAsset[] | null;
}

/** Sum of the outputs of a holder: all that ever were, those that are spent, or those that are not. */
export async function readSum(sql: Queries, holder: Holder, of: "received" | "sent" | "held"): Promise<IndexedSum> {
  const those = {
    received: sql`true`,
    sent: sql`o.spent_height is not null`,
    held: sql`o.spent_height is null`,
  }[of];
  return await onlyRow(sql<IndexedSum[]>`
    select coalesce((select sum(o.lovelace) from devnet_index_output o where ${
    heldBy(sql, holder)
  } and ${those}), 0)::text
      as lovelace, (
        select json_agg(json_build_object('unit', s.unit, 'quantity', s.quantity::text) order by s.unit) from (
          select a.unit, sum(a.quantity) as quantity
          from devnet_index_output o join devnet_index_asset a on a.tx_hash = o.tx_hash and a.index = o.index
          where ${heldBy(sql, holder)} and ${those} group by a.unit) s) as assets,
      exists (select from devnet_index_output o where ${heldBy(sql, holder)}) as "isUsed"`);
}

/** An unspent output, with the hash and the slot of its block, which the genesis does not have. */
export interface HeldOutput extends IndexedOutput {
  readonly block: string | null;
  readonly slot: bigint | null;
}

/** Unspent outputs in the order of the chain: all, those that hold an asset, or those that hold only lovelace. */
export async function readHeldOutputs(
  sql: Queries,
  holder: OutputFilter,
  page: Page,
  unit?: string,
): Promise<HeldOutput[]> {
  const asset = sql`select from devnet_index_asset u where u.tx_hash = o.tx_hash and u.index = o.index`;
  const holding = unit === undefined
    ? sql`true`
    : unit === "lovelace"
    ? sql`not exists (${asset})`
    : sql`exists (${asset} and u.unit = ${unit})`;
  const towards = direction(sql, page);
  // the page is chosen first, so that blocks and assets are read for its outputs only
  return await sql<HeldOutput[]>`
    select ${outputColumns(sql)}, b.hash as block, b.slot from (
      select * from devnet_index_output o where ${heldBy(sql, holder)} and o.spent_height is null and ${holding}
      order by o.height ${towards}, o.tx_index ${towards}, o.index ${towards} ${limits(sql, page)}) o
    left join devnet_block b on b.height = o.height
    order by o.height ${towards}, o.tx_index ${towards}, o.index ${towards}`;
}

/** The place of a transaction in the chain. */
export interface TransactionPlace {
  readonly tx_hash: string;
  readonly height: bigint;
  readonly tx_index: number;
  /** Slot of its block; null for the genesis. */
  readonly slot: bigint | null;
}

/** Transactions that stand for outputs of the genesis. */
const genesisOf = (sql: Queries, holder: TransactionHolder): Fragment =>
  sql`select o.height, o.tx_index, o.tx_hash from devnet_index_output o where ${heldBy(sql, holder)} and o.height = -1`;

/** A page of the transactions that spent or created outputs of the holder, within a range, in the order of the chain. */
export async function readTransactionsOf(
  sql: Queries,
  holder: TransactionHolder,
  page: Page,
  range: PlaceRange = {},
): Promise<TransactionPlace[]> {
  const towards = direction(sql, page);
  // so many of each kind suffice for the page, and are found in the order of an index; a transaction may have several
  // addresses with the same payment credential
  return await sql<TransactionPlace[]>`
    select p.*, b.slot from (
      select o.* from ((
        select distinct on (o.height, o.tx_index) o.height, o.tx_index, o.tx_hash from devnet_index_address o
        where ${heldBy(sql, holder)} and ${within(sql, "o", range)}
        order by o.height ${towards}, o.tx_index ${towards} limit ${page.offset + page.limit}
      ) union all (${genesisOf(sql, holder)} and ${within(sql, "o", range)})) o
      order by o.height ${towards}, o.tx_index ${towards} ${limits(sql, page)}) p
    left join devnet_block b on b.height = p.height
    order by p.height ${towards}, p.tx_index ${towards}`;
}

/** The outputs of a holder that some transactions created. */
export async function readOutputsCreated(
  sql: Queries,
  holder: TransactionHolder,
  hashes: readonly string[],
): Promise<IndexedOutput[]> {
  return await sql<IndexedOutput[]>`
    select ${outputColumns(sql)} from devnet_index_output o
    where o.tx_hash = any(${sql.array([...hashes])}) and ${heldBy(sql, holder)}`;
}

/** Number of transactions of a holder. */
export async function countTransactionsOf(sql: Queries, holder: Holder): Promise<number> {
  const { count } = await onlyRow(sql<{ count: bigint }[]>`
    select count(distinct (o.height, o.tx_index)) from (
      select o.height, o.tx_index, o.tx_hash from devnet_index_address o where ${heldBy(sql, holder)}
      union all ${genesisOf(sql, holder)}) o`);
  return Number(count);
}
