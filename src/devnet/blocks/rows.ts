/** Reads of the devnet's chain. Each function is one statement, so it sees one snapshot of the database. */
import { type Point, type Tip } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { type OutRef, readOutput, type Utxo } from "#src/cardano/output.ts";
import type { At } from "#src/chain/provider/port.ts";
import { encodeBlock } from "#src/devnet/blocks/block.ts";
import type { Queries } from "#src/store/store.ts";

/** The tip of an empty chain. */
export const originTip: Tip = { slot: -1, hash: "", height: -1 };

/** A block read from its row. */
export interface StoredBlock extends Tip {
  /** `[era, block]`. */
  readonly bytes: Uint8Array;
}

/** Columns of `tipColumns`. */
export interface TipRow {
  readonly tip_height: bigint | null;
  readonly tip_slot: bigint;
  readonly tip_hash: string;
}

/** A row of `devnet_utxo`. */
export interface OutputRow {
  readonly tx_hash: string;
  readonly index: number;
  readonly cbor: Uint8Array;
}

/** FROM item with the tip's columns, to join tables to; one row, with null columns while there is no block. */
export const tipColumns = (sql: Queries) =>
  sql`(select 1) as always left join
      (select height as tip_height, slot as tip_slot, hash as tip_hash from devnet_block order by height desc limit 1) as tip on true`;

/** The tip in a row of `tipColumns`; `originTip` if its columns are null. */
export function tipOf(row: TipRow | undefined): Tip {
  if (!row || row.tip_height === null) return originTip;
  return { slot: Number(row.tip_slot), hash: row.tip_hash, height: Number(row.tip_height) };
}

/**
 * The output of a row of `devnet_utxo`.
 *
 * @throws {CborError} for bytes that are not an output.
 */
export function utxoOf(row: OutputRow): Utxo {
  return { ref: { txHash: row.tx_hash, index: row.index }, output: readOutput(decode(new Uint8Array(row.cbor))) };
}

/** The tip, or `originTip`. */
export async function readTip(sql: Queries): Promise<Tip> {
  const [row] = await sql<TipRow[]>`select * from ${tipColumns(sql)}`;
  return tipOf(row);
}

/** At most `limit` blocks from `height` on, ascending, and the tip. Throws if a row does not give its block's hash. */
export async function readBlocks(
  sql: Queries,
  height: number,
  limit: number,
): Promise<{ blocks: StoredBlock[]; tip: Tip }> {
  const rows = await sql<(TipRow & BlockRow)[]>`
    select * from ${tipColumns(sql)}
    left join lateral (select * from devnet_block where height >= ${height} order by height limit ${limit}) as block on true
    order by height`;
  return { blocks: rows.filter((row) => row.height !== null).map(storedBlock), tip: tipOf(rows[0]) };
}

/** What names a block: its hash, its height, or a slot, which names the first block in it or after it. */
export type BlockName = { readonly hash: string } | { readonly height: number } | { readonly fromSlot: number };

/** A block; undefined where the chain does not have it. */
export async function readBlock(sql: Queries, name: BlockName): Promise<StoredBlock | undefined> {
  const named = "hash" in name
    ? sql`hash = ${name.hash}`
    : "height" in name
    ? sql`height = ${name.height}::bigint`
    : sql`slot >= ${name.fromSlot}::bigint`;
  const [row] = await sql<BlockRow[]>`select * from devnet_block where ${named} order by height limit 1`;
  return row && storedBlock(row);
}

interface BlockRow {
  readonly height: bigint | null;
  readonly slot: bigint;
  readonly hash: string;
  readonly previous: string | null;
  readonly issuer: Uint8Array;
  readonly major: number;
  readonly minor: number;
  readonly fork: bigint;
  /** Null: a block without transactions, which the other columns give. */
  readonly cbor: Uint8Array | null;
}

function storedBlock(row: BlockRow): StoredBlock {
  const tip = { height: Number(row.height), slot: Number(row.slot), hash: row.hash };
  if (row.cbor) return { ...tip, bytes: new Uint8Array(row.cbor) };
  const { bytes, hash } = encodeBlock({
    height: tip.height,
    slot: tip.slot,
    fork: Number(row.fork),
    previous: row.previous ?? undefined,
    issuer: new Uint8Array(row.issuer),
    protocolVersion: { major: row.major, minor: row.minor },
    transactions: [],
  });
  if (hash !== row.hash) throw new Error(`the block at height ${tip.height} cannot be rebuilt from its row`);
  return { ...tip, bytes };
}

/** Of the blocks on the chain with these hashes: the newest, the others by descending height; and the tip. */
export async function readNewest(
  sql: Queries,
  hashes: readonly string[],
): Promise<{ found: Tip | undefined; older: readonly Tip[]; tip: Tip }> {
  const rows = await sql<(TipRow & { height: bigint | null; slot: bigint; hash: string })[]>`
    select tip.*, block.height, block.slot, block.hash from ${tipColumns(sql)}
    left join devnet_block as block on block.hash = any(${
    sql.array([...hashes])
  }) order by block.height desc nulls last`;
  const [found, ...older] = rows.filter((row) => row.height !== null)
    .map((row) => ({ slot: Number(row.slot), hash: row.hash, height: Number(row.height) }));
  return { found, older, tip: tipOf(rows[0]) };
}

/** The places of the last blocks before one, ascending; none once that has left the chain. */
export async function readAncestors(sql: Queries, { height, hash }: Tip, limit: number): Promise<Tip[]> {
  const rows = await sql<{ height: bigint; slot: bigint; hash: string }[]>`
    select height, slot, hash from devnet_block where height < ${height} and height >= ${height - limit}
      and exists (select 1 from devnet_block where height = ${height} and hash = ${hash}) order by height`;
  return rows.map(({ height, slot, hash }) => ({ height: Number(height), slot: Number(slot), hash }));
}

/** Unspent outputs at addresses (bytes in hexadecimal). */
export async function readUtxosByAddress(sql: Queries, addresses: readonly string[]): Promise<At<readonly Utxo[]>> {
  return at(
    await sql<(TipRow & OutputRow)[]>`
      select * from ${tipColumns(sql)} left join devnet_utxo
        on spent_height is null and address = any(${sql.array([...new Set(addresses)])})
      order by created_height, tx_hash, index`,
  );
}

/** The unspent ones of some outputs. */
export async function readUtxosByRef(sql: Queries, refs: readonly OutRef[]): Promise<At<readonly Utxo[]>> {
  return at(
    await sql<(TipRow & OutputRow)[]>`
      select * from ${tipColumns(sql)} left join (
        devnet_utxo join (
          select distinct * from unnest(${sql.array(refs.map(({ txHash }) => txHash))}::text[],
            ${
      sql.array(refs.map(({ index }) => index))
    }::int[]) as wanted (tx_hash, index)) as wanted using (tx_hash, index)
      ) on spent_height is null`,
  );
}

function at(rows: readonly (TipRow & OutputRow)[]): At<readonly Utxo[]> {
  const { slot, hash } = tipOf(rows[0]);
  const point: Point = { slot, hash };
  return { point, value: rows.filter((row) => row.tx_hash !== null).map(utxoOf) };
}

/** Whether a transaction is in the mempool. */
export async function isInMempool(sql: Queries, hash: string): Promise<boolean> {
  return (await sql`select 1 from devnet_mempool where hash = ${hash}`).length > 0;
}

/** Hashes of the first transactions in the mempool, in its order. */
export async function readMempoolHashes(sql: Queries, limit: number): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`select hash from devnet_mempool order by position limit ${limit}`;
  return rows.map(({ hash }) => hash);
}

/** The CBOR of transactions in the mempool, in its order; those that have left it are missing. */
export async function readMempoolCbor(
  sql: Queries,
  hashes: readonly string[],
): Promise<{ hash: string; cbor: Uint8Array }[]> {
  const rows = await sql<{ hash: string; cbor: Uint8Array }[]>`
    select hash, cbor from devnet_mempool where hash = any(${sql.array([...hashes])}) order by position`;
  return rows.map(({ hash, cbor }) => ({ hash, cbor: new Uint8Array(cbor) }));
}

/** Whether the mempool or a block of the chain has a transaction, at one moment. */
export async function hasTransaction(sql: Queries, hash: string): Promise<boolean> {
  const rows = await sql`
    select 1 from devnet_mempool where hash = ${hash} union all select 1 from devnet_transaction where hash = ${hash}`;
  return rows.length > 0;
}

/** Whether a transaction is in a block of the chain. */
export async function isInLedger(sql: Queries, hash: string): Promise<boolean> {
  return (await sql`select 1 from devnet_transaction where hash = ${hash}`).length > 0;
}

/** Height of the last block at or before a slot; -1 if there is none. */
export async function readHeightAt(sql: Queries, slot: number): Promise<number> {
  const [row] = await sql<
    { height: bigint | null }[]
  >`select max(height) as height from devnet_block where slot <= ${slot}`;
  return Number(row?.height ?? -1n);
}

/** Some outputs of the chain: all that are unspent, and those that were spent by a block that can still be undone. */
export async function readRecentOutputs(sql: Queries, refs: readonly OutRef[]): Promise<Utxo[]> {
  const rows = await sql<OutputRow[]>`
    select u.tx_hash, u.index, u.cbor from devnet_utxo u join (
      select distinct * from unnest(${sql.array(refs.map(({ txHash }) => txHash))}::text[],
        ${
    sql.array(refs.map(({ index }) => index))
  }::int[]) as wanted (tx_hash, index)) as wanted using (tx_hash, index)`;
  return rows.map(utxoOf);
}

/** The height of the block that holds a transaction; undefined where the chain does not have it. */
export async function readTransactionHeight(sql: Queries, hash: string): Promise<number | undefined> {
  const [row] = await sql<{ height: bigint }[]>`select height from devnet_transaction where hash = ${hash}`;
  return row && Number(row.height);
}

/** Blocks and transactions of the chain whose hash begins and ends with some hexadecimal, at most `most` of each. */
export async function readHashes(sql: Queries, hash: string, most: number, end = ""): Promise<HashRow[]> {
  // no digit is behind "f": a range of the index
  const last = `${hash}g`;
  const rows = await sql<(Omit<HashRow, "height"> & { height: bigint })[]>`
    (select 'block' as kind, hash, height from devnet_block
      where hash > ${hash} and hash < ${last} and right(hash, ${end.length}::int) = ${end} order by hash limit ${most})
    union all
    (select 'transaction', hash, height from devnet_transaction
      where hash > ${hash} and hash < ${last} and right(hash, ${end.length}::int) = ${end} order by hash limit ${most})`;
  return rows.map((row) => ({ ...row, height: Number(row.height) }));
}

interface HashRow {
  readonly kind: "block" | "transaction";
  readonly hash: string;
  readonly height: number;
}

/** Which of some transactions are in blocks of the chain. */
export async function readIncluded(sql: Queries, hashes: readonly string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await sql<{ hash: string }[]>`
    select hash from devnet_transaction where hash = any(${sql.array([...hashes])})`;
  return new Set(rows.map(({ hash }) => hash));
}
