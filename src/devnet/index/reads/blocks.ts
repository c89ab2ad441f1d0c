/** Blocks in the index. */
import type { Page } from "#src/devnet/index/reads/page.ts";
import { direction, limits } from "#src/devnet/index/reads/page.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A block with what its neighbours say of it. */
export interface IndexedBlock {
  readonly height: bigint;
  readonly slot: bigint;
  readonly hash: string;
  /** Null for the first block. */
  readonly previous: string | null;
  /** Hash of the next block; null for the newest. */
  readonly next: string | null;
  /** Cold verification key. */
  readonly issuer: Uint8Array;
  /** Id of the pool; null where no pool produced it. */
  readonly pool: string | null;
  readonly epoch: number;
  /** Bytes of the body. */
  readonly size: number;
  readonly transactions: number;
  /** Lovelace of the outputs and the fees of its transactions; null without transactions. */
  readonly output: string | null;
  readonly fees: bigint | null;
  /** Number of blocks after it. */
  readonly confirmations: bigint;
}

/** What identifies a block. */
export type BlockId =
  | { readonly hash: string }
  | { readonly height: number }
  | { readonly slot: number }
  | "newest";

const blockColumns = (sql: Queries) =>
  sql`b.height, b.slot, b.hash, b.previous, b.issuer, b.transactions, i.pool, i.epoch, i.size, i.output::text as output, i.fees,
    (select n.hash from devnet_block n where n.height = b.height + 1) as next,
    (select max(height) from devnet_block) - b.height as confirmations
    from devnet_block b join devnet_index_block i on i.height = b.height`;

/** Condition that a row of the table `b` is the block. */
function is(sql: Queries, id: BlockId): Fragment {
  if (id === "newest") return sql`b.height = (select max(height) from devnet_block)`;
  if ("hash" in id) return sql`b.hash = ${id.hash}`;
  if ("slot" in id) return sql`b.slot = ${id.slot}`;
  return sql`b.height = ${id.height}`;
}

/** A block; undefined where the chain does not have it. */
export async function readIndexedBlock(sql: Queries, id: BlockId): Promise<IndexedBlock | undefined> {
  const [block] = await sql<IndexedBlock[]>`select ${blockColumns(sql)} where ${is(sql, id)}`;
  return block;
}

/** The genesis, which explorers know as a block with a transaction for each output. */
export interface GenesisBlock {
  readonly transactions: bigint;
  readonly output: string;
  /** Hash of the first block; null before there is one. */
  readonly next: string | null;
  readonly blocks: bigint;
}

/** Reads the genesis. */
export async function readGenesisBlock(sql: Queries): Promise<GenesisBlock> {
  return await onlyRow(sql<GenesisBlock[]>`
    select count(distinct o.tx_hash) as transactions, sum(o.lovelace)::text as output,
      (select hash from devnet_block where height = 0) as next, (select count(*) from devnet_block) as blocks
    from devnet_index_output o where o.height = -1`);
}

/** The blocks after a height, ascending. */
export async function readBlocksAfter(sql: Queries, height: bigint, page: Page): Promise<IndexedBlock[]> {
  return await sql<IndexedBlock[]>`
    select ${blockColumns(sql)} where b.height > ${height} order by b.height ${limits(sql, page)}`;
}

/** The blocks before a height: the first page has the nearest ones; each page is ascending. */
export async function readBlocksBefore(sql: Queries, height: bigint, page: Page): Promise<IndexedBlock[]> {
  const rows = await sql<IndexedBlock[]>`
    select ${blockColumns(sql)} where b.height < ${height} order by b.height desc ${limits(sql, page)}`;
  return rows.reverse();
}

/** A transaction of a block. */
export interface BlockTransaction {
  readonly hash: string;
  /** `[body, witnesses, valid, auxiliary data]` */
  readonly cbor: Uint8Array;
}

/** Hashes of the transactions of the block at a height (-1: the genesis), by their place in it. */
export async function readBlockHashes(sql: Queries, height: bigint, page: Page): Promise<string[]> {
  const of = height < 0
    ? sql`select distinct tx_hash as hash, tx_index from devnet_index_output where height = -1`
    : sql`select hash, tx_index from devnet_index_tx where height = ${height}`;
  const rows = await sql<{ hash: string }[]>`
    select hash from (${of}) t order by tx_index ${direction(sql, page)} ${limits(sql, page)}`;
  return rows.map(({ hash }) => hash);
}

/** Transactions of the block at a height, by their place in it. Those of the genesis have no bytes. */
export async function readBlockTransactions(sql: Queries, height: bigint, page: Page): Promise<BlockTransaction[]> {
  return await sql<BlockTransaction[]>`
    select hash, cbor from devnet_index_tx where height = ${height}
    order by tx_index ${direction(sql, page)} ${limits(sql, page)}`;
}

/** CBOR of the transaction with this hash; undefined where no block has it. */
export async function readTransactionCbor(sql: Queries, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<Pick<BlockTransaction, "cbor">[]>`select cbor from devnet_index_tx where hash = ${hash}`;
  return row && new Uint8Array(row.cbor);
}

/** Addresses that the transactions of the block at a height spent from or paid to, with those transactions in order. */
export async function readBlockAddresses(
  sql: Queries,
  height: bigint,
): Promise<{ address: string; transactions: string[] }[]> {
  return await sql<{ address: string; transactions: string[] }[]>`
    select address, json_agg(tx_hash order by tx_index) as transactions
    from ${
    height < 0 ? sql`devnet_index_output` : sql`devnet_index_address`
  } where height = ${height} group by address`;
}

/** What a block or an epoch carries. */
export interface LoadRow {
  /** Height of the block, or number of the epoch. */
  readonly of: bigint | number;
  readonly slot: bigint;
  readonly blocks: bigint;
  readonly transactions: bigint;
  /** Bytes of the bodies. */
  readonly bytes: bigint;
  /** Lovelace. */
  readonly fees: bigint;
  /** Units that its redeemers pay for. */
  readonly memory: bigint;
  readonly steps: bigint;
}

/** Load of the newest blocks or epochs, newest first. */
export async function readLoad(sql: Queries, by: "block" | "epoch", most: number): Promise<LoadRow[]> {
  const sums = sql`
    min(d.slot) as slot, count(*) as blocks, sum(d.transactions)::bigint as transactions, sum(i.size)::bigint as bytes,
    coalesce(sum(i.fees), 0)::bigint as fees, coalesce(sum(r.memory), 0)::bigint as memory,
    coalesce(sum(r.steps), 0)::bigint as steps
    from devnet_index_block i join devnet_block d using (height)
    left join lateral (
      select sum(memory) as memory, sum(steps) as steps from devnet_index_redeemer where height = i.height) r on true`;
  return by === "block"
    ? await sql<LoadRow[]>`
      select i.height as of, ${sums}
      where i.height > (select max(height) from devnet_index_block) - ${most}::bigint and i.height >= 0
      group by i.height order by i.height desc`
    : await sql<LoadRow[]>`
      select i.epoch as of, ${sums}
      where i.epoch > (select max(epoch) from devnet_index_block) - ${most}::int and i.height >= 0
      group by i.epoch order by i.epoch desc`;
}
