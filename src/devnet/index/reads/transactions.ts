/** Transactions in the index. */
import { heldBy, type OutputFilter } from "#src/devnet/index/reads/addresses.ts";
import type { IndexedOutput } from "#src/devnet/index/reads/outputs.ts";
import { outputColumns } from "#src/devnet/index/reads/outputs.ts";
import type { ChainPlace } from "#src/devnet/index/reads/page.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";

/** A transaction of a block, or one that stands for an output of the genesis. */
export interface IndexedTransaction {
  readonly hash: string;
  /** Of its block; the genesis: -1. */
  readonly height: bigint;
  /** Place in its block. */
  readonly tx_index: number;
  /** Hash and slot of its block; null for the genesis. */
  readonly block: string | null;
  readonly slot: bigint | null;
  readonly fee: bigint;
  /** What deposits grow by, negative for refunds. */
  readonly deposit: bigint;
  readonly size: number;
  readonly valid: boolean;
  /** `[body, witnesses, valid, auxiliary data]`; null for the genesis. */
  readonly cbor: Uint8Array | null;
}

/** A transaction; undefined where the chain does not have it. */
export async function readTransaction(sql: Queries, hash: string): Promise<IndexedTransaction | undefined> {
  const [transaction] = await sql<IndexedTransaction[]>`
    select t.hash, t.height, t.tx_index, b.hash as block, b.slot, t.fee, t.deposit, t.size, t.valid, t.cbor
    from devnet_index_tx t join devnet_block b on b.height = t.height where t.hash = ${hash}
    union all
    select o.tx_hash, o.height, o.tx_index, null, null, 0, 0, 0, true, null
    from devnet_index_output o where o.tx_hash = ${hash} and o.height = -1
    limit 1`;
  return transaction;
}

/** The outputs that a transaction created, in order. */
export async function readOutputsOf(sql: Queries, hash: string): Promise<IndexedOutput[]> {
  return await sql<IndexedOutput[]>`
    select ${outputColumns(sql)} from devnet_index_output o where o.tx_hash = ${hash} order by o.index`;
}

/** Some outputs, in the order of the references; only those of a holder, where one is given. */
export async function readOutputs(
  sql: Queries,
  refs: readonly OutRef[],
  holder?: OutputFilter,
): Promise<IndexedOutput[]> {
  if (refs.length === 0) return [];
  return await sql<IndexedOutput[]>`
    select ${outputColumns(sql)}
    from unnest(${sql.array(refs.map(({ txHash }) => txHash))}::text[], ${
    sql.array(refs.map(({ index }) => index))
  }::int[]) with ordinality as ref (tx_hash, index, place)
    join devnet_index_output o on o.tx_hash = ref.tx_hash and o.index = ref.index
    where ${holder === undefined ? sql`true` : heldBy(sql, holder)} order by ref.place`;
}

/** A part of a certificate that took effect. */
export interface IndexedCertificate {
  readonly cert_index: number;
  readonly kind: string;
  readonly credential: string | null;
  readonly pool: string | null;
  readonly epoch: number | null;
  readonly cbor: Uint8Array;
}

/** The certificates of a transaction that took effect, in order. */
export async function readCertificates(
  sql: Queries,
  { height, tx_index }: Pick<IndexedTransaction, "height" | "tx_index">,
): Promise<IndexedCertificate[]> {
  return await sql<IndexedCertificate[]>`
    select cert_index, kind, credential, pool, epoch, cbor from devnet_index_certificate
    where height = ${height} and tx_index = ${tx_index} order by cert_index, part`;
}

/** A redeemer. */
export interface IndexedRedeemer {
  readonly purpose: string;
  readonly index: number;
  readonly script_hash: string;
  readonly data_hash: string;
  readonly memory: bigint;
  readonly steps: bigint;
  readonly fee: bigint;
}

/** The redeemers of a transaction, by purpose in the order of their numbers, and index. */
export async function readRedeemers(
  sql: Queries,
  { height, tx_index }: Pick<IndexedTransaction, "height" | "tx_index">,
): Promise<IndexedRedeemer[]> {
  return await sql<IndexedRedeemer[]>`
    select purpose, index, script_hash, data_hash, memory, steps, fee from devnet_index_redeemer
    where height = ${height} and tx_index = ${tx_index}
    order by array_position(array['spend', 'mint', 'cert', 'reward', 'vote', 'propose'], purpose), index`;
}

/** Metadata of a transaction by label, ascending; of each the CBOR of its value. */
export async function readMetadata(
  sql: Queries,
  { height, tx_index }: Pick<IndexedTransaction, "height" | "tx_index">,
): Promise<{ label: string; cbor: Uint8Array }[]> {
  return await sql<{ label: string; cbor: Uint8Array }[]>`
    select label::text as label, cbor from devnet_index_metadata
    where height = ${height} and tx_index = ${tx_index} order by devnet_index_metadata.label`;
}

/** The bytes of some transactions of blocks, `[body, witnesses, valid, auxiliary data]`, by hash. */
export async function readTransactionBytes(sql: Queries, hashes: readonly string[]): Promise<Map<string, Uint8Array>> {
  if (hashes.length === 0) return new Map();
  const rows = await sql<{ hash: string; cbor: Uint8Array }[]>`
    select hash, cbor from devnet_index_tx where hash = any(${sql.array([...hashes])})`;
  return new Map(rows.map(({ hash, cbor }) => [hash, new Uint8Array(cbor)]));
}

/** A transaction of a list. */
export interface TransactionSummaryRow {
  readonly hash: string;
  readonly height: bigint;
  readonly tx_index: number;
  readonly slot: bigint;
  readonly fee: bigint;
  readonly size: number;
  readonly valid: boolean;
  /** Number and sum of its outputs, and number of its redeemers. */
  readonly outputs: bigint;
  readonly lovelace: bigint;
  readonly scripts: bigint;
}

/** Transactions of blocks, newest first: those before a place in the chain, and those of one block where it is given. */
export async function readNewestTransactions(
  sql: Queries,
  { limit, before, height }: {
    readonly limit: number;
    readonly before?: Required<ChainPlace> | undefined;
    readonly height?: number | undefined;
  },
): Promise<TransactionSummaryRow[]> {
  const older = before ? sql`(height, tx_index) < (${before.height}::bigint, ${before.index}::int)` : sql`true`;
  const within = height === undefined ? sql`true` : sql`height = ${height}`;
  return await sql<TransactionSummaryRow[]>`
    select t.hash, t.height, t.tx_index, b.slot, t.fee, t.size, t.valid, o.outputs, o.lovelace, (
      select count(*) from devnet_index_redeemer r where r.height = t.height and r.tx_index = t.tx_index) as scripts
    from (select * from devnet_index_tx where ${older} and ${within}
      order by height desc, tx_index desc limit ${limit}) t
    join devnet_block b on b.height = t.height
    cross join lateral (
      select count(*) as outputs, coalesce(sum(lovelace), 0)::bigint as lovelace
      from devnet_index_output where tx_hash = t.hash) o
    order by t.height desc, t.tx_index desc`;
}
