/** Lists of the whole chain, newest first, as Yaci Store has them. Each function is one statement. */
import type { IndexedBlock } from "#src/devnet/index/reads/blocks.ts";
import { limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { CertificateRow } from "#src/devnet/index/rows.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** Part of a list. */
export type Part = Pick<Page, "limit" | "offset">;

const limitsOf = (sql: Queries, part: Part) => limits(sql, { ...part, order: "desc" });

/** A block without its neighbours. */
export type BlockSummary = Omit<IndexedBlock, "previous" | "next" | "confirmations">;

/** Blocks. */
export async function readNewestBlocks(sql: Queries, part: Part): Promise<BlockSummary[]> {
  return await sql<BlockSummary[]>`
    select b.height, b.slot, b.hash, b.issuer, b.transactions, i.pool, i.epoch, i.size, i.output::text as output, i.fees
    from devnet_block b join devnet_index_block i on i.height = b.height
    order by b.height desc ${limitsOf(sql, part)}`;
}

/** Number of blocks, and of transactions in blocks. */
export async function countBlocks(
  sql: Queries,
): Promise<{ readonly blocks: bigint; readonly transactions: bigint; readonly slot: bigint | null }> {
  return await onlyRow(sql<{ blocks: bigint; transactions: bigint; slot: bigint | null }[]>`
    select (select count(*) from devnet_block) as blocks, (select count(*) from devnet_index_tx) as transactions,
      (select max(slot) from devnet_block) as slot`);
}

/** A transaction in a list. */
export interface TransactionSummary {
  readonly hash: string;
  readonly height: bigint;
  readonly slot: bigint;
  readonly fee: bigint;
  /** Lovelace of its outputs, and their addresses (bytes in hexadecimal). */
  readonly output: string;
  readonly addresses: readonly string[];
}

/** Transactions. */
export async function readNewestTransactions(sql: Queries, part: Part): Promise<TransactionSummary[]> {
  return await sql<TransactionSummary[]>`
    select t.hash, t.height, b.slot, t.fee,
      coalesce((select sum(o.lovelace) from devnet_index_output o where o.tx_hash = t.hash), 0)::text as output,
      array(select distinct o.address from devnet_index_output o where o.tx_hash = t.hash order by 1) as addresses
    from (select * from devnet_index_tx order by height desc, tx_index desc ${limitsOf(sql, part)}) t
      join devnet_block b on b.height = t.height
    order by t.height desc, t.tx_index desc`;
}

/** A certificate in a list, with its block, which the genesis does not have. */
export interface CertificateEntry {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly cert_index: number;
  readonly credential: string | null;
  readonly pool: string | null;
  readonly retires: number | null;
  readonly cbor: Uint8Array;
  readonly height: bigint;
  readonly hash: string | null;
  readonly slot: bigint | null;
  readonly epoch: number | null;
}

/** Certificates of a kind that took effect. */
export async function readNewestCertificates(
  sql: Queries,
  kind: CertificateRow["kind"],
  part: Part,
): Promise<CertificateEntry[]> {
  return await sql<CertificateEntry[]>`
    select c.tx_hash, c.tx_index, c.cert_index, c.credential, c.pool, c.epoch as retires, c.cbor, c.height, b.hash, b.slot,
      i.epoch
    from devnet_index_certificate c left join devnet_block b on b.height = c.height
      left join devnet_index_block i on i.height = c.height
    where c.kind = ${kind} order by c.height desc, c.tx_index desc, c.cert_index desc, c.part desc ${
    limitsOf(sql, part)
  }`;
}
