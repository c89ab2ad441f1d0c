/** Metadata in the index. */
import { direction, limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { Queries } from "#src/store/store.ts";

/** Labels, ascending or descending, with the number of transactions that have them. */
export async function readLabels(sql: Queries, page: Page): Promise<{ label: string; count: bigint }[]> {
  return await sql<{ label: string; count: bigint }[]>`
    select m.label::text as label, count(*) as count from devnet_index_metadata m
    group by m.label order by m.label ${direction(sql, page)} ${limits(sql, page)}`;
}

/** The value of a label in a transaction. */
export interface LabelledMetadata {
  readonly tx_hash: string;
  /** CBOR of the value. */
  readonly cbor: Uint8Array;
}

/** Metadata with a label, in the order of the chain. */
export async function readLabelled(sql: Queries, label: string, page: Page): Promise<LabelledMetadata[]> {
  const towards = direction(sql, page);
  return await sql<LabelledMetadata[]>`
    select tx_hash, cbor from devnet_index_metadata where label = ${label}::numeric
    order by height ${towards}, tx_index ${towards} ${limits(sql, page)}`;
}
