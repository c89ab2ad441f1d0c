/**
 * The devnet's chain as rows, for the one that writes it. Every function belongs into a transaction that has locked the
 * devnet's lease.
 */
import { toHex } from "#src/base/bytes.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { created, spent } from "#src/cardano/block.ts";
import { type OutRef, type Utxo } from "#src/cardano/output.ts";
import { type OutputRow, utxoOf } from "#src/devnet/chainRows.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { Queries } from "#src/store/store.ts";

/** A block to append: what its bytes say, and the bytes. */
export interface NewBlock {
  readonly block: ScannedBlock;
  readonly bytes: Uint8Array;
  readonly issuer: Uint8Array;
  readonly protocolVersion: { readonly major: number; readonly minor: number };
}

/** A transaction of the mempool as its row has it. */
export interface MempoolRow {
  readonly position: number;
  readonly hash: string;
  readonly cbor: Uint8Array;
}

/** Appends a block: its row, its outputs, what it spends; takes `leaving` out of the mempool and forgets outputs spent over `k` blocks ago. */
export async function appendBlock(sql: Queries, next: NewBlock, leaving: readonly string[], k: number): Promise<void> {
  const { block, bytes, issuer, protocolVersion: { major, minor } } = next;
  const { height, transactions } = block;
  await sql`
    insert into devnet_block (height, slot, hash, previous, issuer, major, minor, transactions, cbor) values (
      ${height}, ${block.slot}, ${block.hash}, ${block.previous ?? null}, ${issuer}, ${major}, ${minor},
      ${transactions.length}, ${transactions.length === 0 ? null : bytes})`;
  await sql`update devnet_meta set last_slot = ${block.slot}`;
  if (transactions.length > 0) {
    const hashes = transactions.map(({ hash }) => hash);
    await sql`insert into devnet_transaction (hash, height) select unnest(${sql.array(hashes)}::text[]), ${height}`;
    await insertUtxos(sql, transactions.flatMap(created), height);
    await spend(sql, transactions.flatMap(spent), height);
  }
  if (leaving.length > 0) await sql`delete from devnet_mempool where hash = any(${sql.array([...leaving])})`;
  await sql`delete from devnet_utxo where spent_height <= ${height - k}`;
}

/** Adds outputs that the block at a height creates (-1: the genesis). */
export async function insertUtxos(sql: Queries, utxos: readonly Utxo[], height: number): Promise<void> {
  await sql`
    insert into devnet_utxo (tx_hash, index, address, cbor, created_height)
    select tx_hash, index, address, decode(cbor, 'hex'), ${height}::bigint from unnest(
      ${sql.array(utxos.map(({ ref }) => ref.txHash))}::text[], ${sql.array(utxos.map(({ ref }) => ref.index))}::int[],
      ${sql.array(utxos.map(({ output }) => output.address))}::text[],
      ${sql.array(utxos.map(({ output }) => toHex(output.raw)))}::text[]) as new (tx_hash, index, address, cbor)`;
}

async function spend(sql: Queries, refs: readonly OutRef[], height: number): Promise<void> {
  await sql`
    update devnet_utxo set spent_height = ${height} from unnest(
      ${sql.array(refs.map(({ txHash }) => txHash))}::text[], ${sql.array(refs.map(({ index }) => index))}::int[]
    ) as gone (tx_hash, index) where devnet_utxo.tx_hash = gone.tx_hash and devnet_utxo.index = gone.index`;
}

/** What a rollback changed. */
export interface Undone {
  /** Outputs that are no more. */
  readonly removed: readonly OutRef[];
  /** Outputs that are unspent again. */
  readonly restored: readonly Utxo[];
  /** The blocks that are no more, oldest first; those without transactions are left out. */
  readonly blocks: readonly ScannedBlock[];
}

/** Undoes every block above a height. */
export async function undoBlocks(sql: Queries, height: number): Promise<Undone> {
  const removed = await sql<
    OutputRow[]
  >`delete from devnet_utxo where created_height > ${height} returning tx_hash, index`;
  const restored = await sql<OutputRow[]>`
    update devnet_utxo set spent_height = null where spent_height > ${height} returning tx_hash, index, cbor`;
  await sql`delete from devnet_transaction where height > ${height}`;
  const blocks = await sql<{ height: bigint; cbor: Uint8Array | null }[]>`
    delete from devnet_block where height > ${height} returning height, cbor`;
  return {
    removed: removed.map((row) => ({ txHash: row.tx_hash, index: row.index })),
    restored: restored.map(utxoOf),
    blocks: blocks.filter((row) => row.cbor !== null).sort((a, b) => Number(a.height - b.height))
      .map((row) => scanBlock(new Uint8Array(row.cbor!))),
  };
}

/** Adds transactions to the mempool. */
export async function insertMempool(sql: Queries, rows: readonly MempoolRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into devnet_mempool (position, hash, cbor)
    select position, hash, decode(cbor, 'hex') from unnest(
      ${sql.array(rows.map(({ position }) => String(position)))}::bigint[], ${
    sql.array(rows.map(({ hash }) => hash))
  }::text[],
      ${sql.array(rows.map(({ cbor }) => toHex(cbor)))}::text[]) as new (position, hash, cbor)`;
}

/** Takes transactions out of the mempool. */
export async function deleteMempool(sql: Queries, hashes: readonly string[]): Promise<void> {
  if (hashes.length > 0) await sql`delete from devnet_mempool where hash = any(${sql.array([...hashes])})`;
}

/** The mempool, in its order. */
export async function readMempool(sql: Queries): Promise<MempoolRow[]> {
  const rows = await sql<{ position: bigint; hash: string; cbor: Uint8Array }[]>`
    select position, hash, cbor from devnet_mempool order by position`;
  return rows.map(({ position, hash, cbor }) => ({ position: Number(position), hash, cbor: new Uint8Array(cbor) }));
}

/** Calls `each` for every unspent output. */
export async function eachUtxo(sql: Queries, each: (utxo: Utxo) => void): Promise<void> {
  const rows = sql<OutputRow[]>`select tx_hash, index, cbor from devnet_utxo where spent_height is null`;
  for await (const chunk of rows.cursor(1000)) for (const row of chunk) each(utxoOf(row));
}
