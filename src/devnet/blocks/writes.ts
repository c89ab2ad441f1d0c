/** Writes of the devnet's chain. Every function runs within a transaction that has locked the devnet's lease. */
import { toHex } from "#src/base/bytes.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { elementAt } from "#src/base/present.ts";
import { inTurns } from "#src/base/steps.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { type OutputRow, utxoOf } from "#src/devnet/blocks/rows.ts";
import { type EntryChange, lastChanges } from "#src/devnet/ledger/changes.ts";
import { changesTexts, changesToJson, readChanges, storeEntries } from "#src/devnet/ledger/entries.ts";
import { insertColdKeys } from "#src/devnet/genesis/pools.ts";
import { recordset } from "#src/devnet/index/insert.ts";
import { undoIndex } from "#src/devnet/index/write.ts";
import { keepSideBlocks, lowestNeeded } from "#src/devnet/snapshots/sideBlocks.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { longText } from "#src/store/longText.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { SubmittedTransaction } from "#src/devnet/blocks/mempool.ts";
import type { Queries } from "#src/store/store.ts";
import { together } from "#src/store/together.ts";

/** A block to append. */
export interface NewBlock extends Tip {
  readonly previous: string | undefined;
  readonly issuer: Uint8Array;
  readonly protocolVersion: { readonly major: number; readonly minor: number };
  /** `[era, block]`. */
  readonly bytes: Uint8Array;
  /** Bytes of its body. */
  readonly size: number;
  readonly transactions: readonly Applied[];
  /** How often the chain had been rolled back. */
  readonly fork: number;
  /** Its changes of the ledger state beside outputs. */
  readonly changes: readonly EntryChange[];
  /** Cold keys of pools that it registers, by id. */
  readonly coldKeys: ReadonlyMap<string, Uint8Array>;
}

/** What else blocks change. */
interface AppendOptions {
  /** Hashes of the transactions that leave the mempool. */
  readonly leaving: readonly string[];
  /** By how many slots the devnet runs ahead of the clock from the last block on. */
  readonly slotsAhead: number;
  /** Blocks that can be undone at least. */
  readonly k: number;
}

/** A row of the mempool. */
export interface MempoolRow {
  readonly position: number;
  readonly hash: string;
  readonly cbor: Uint8Array;
}

/** Changes of a block whose JSON is sent with the block's row, at most. */
const MANY_CHANGES = 500;

/** Blocks whose undo data one append removes at most: they are many after a snapshot was deleted. */
const MOST_PRUNED = 1_000;

/**
 * Appends blocks, each the next of the one before: their rows, the outputs they create and spend, their changes. Removes
 * `leaving` from the mempool, and the data needed to undo blocks `k` and more before the last one, except those above a
 * snapshot's block or above the fork that leads to it. Gives the lowest height that a rollback can go back to.
 */
export async function appendBlocks(
  sql: Queries,
  blocks: readonly NewBlock[],
  { leaving, slotsAhead, k }: AppendOptions,
): Promise<number> {
  const height = Math.max(...blocks.map((block) => block.height));
  // those of one block are of different rows
  const changes = blocks.length === 1
    ? elementAt(blocks, 0).changes
    : await inTurns(lastChanges(blocks.flatMap(({ changes }) => changes)), new EventLoopPacer());
  // sent in this order, without waiting for the results of those before
  const written = [
    insertBlocks(sql, blocks),
    ...blocks.filter(({ transactions }) => transactions.length > 0).flatMap(({ height, transactions, coldKeys }) => [
      sql`insert into devnet_transaction (hash, height) select unnest(${
        sql.array(transactions.map(({ hash }) => hash))
      }::text[]), ${height}`,
      insertUtxos(sql, transactions.flatMap(({ created }) => created), height),
      spend(sql, transactions.flatMap(({ spent }) => spent.map(({ ref }) => ref)), height),
      insertColdKeys(sql, coldKeys),
    ]),
    storeEntries(sql, changes, "after"),
    deleteMempool(sql, leaving),
  ];
  const [{ floor }] = await together([
    onlyRow(sql<{ floor: bigint }[]>`
      with new as (
        update devnet_meta set slots_ahead = ${slotsAhead}, floor_height = greatest(
          floor_height, least(${height - k}, floor_height + ${MOST_PRUNED}, ${lowestNeeded(sql)}))
        from (select floor_height as before from devnet_meta) as old returning old.before, floor_height as floor),
      spent as (delete from devnet_utxo using new where spent_height <= new.floor),
      pruned as (
        update devnet_block set changes = null from new
        where height > new.before and height <= new.floor and changes is not null)
      select floor from new`),
    ...written,
  ]);
  return Number(floor);
}

/** Inserts blocks. The changes of a block are sent after its row where their JSON may be long. */
async function insertBlocks(sql: Queries, blocks: readonly NewBlock[]): Promise<void> {
  await sql`
    insert into devnet_block select * from json_populate_recordset(null::devnet_block,
      ${recordset(blocks.map(blockRow))}::text::json)`;
  for (const { height, changes } of blocks) {
    if (!mayBeLong(changes)) continue;
    const { expression } = await longText(sql, changesTexts(changes));
    await sql`update devnet_block set changes = (${expression})::json where height = ${height}`;
  }
}

/** Whether the JSON of changes may be long: they are many, or an epoch begins. */
function mayBeLong(changes: readonly EntryChange[]): boolean {
  return changes.length > MANY_CHANGES || changes.some(({ kind }) => kind === "snapshots");
}

function blockRow({ changes, transactions, bytes, protocolVersion, ...block }: NewBlock): object {
  const { height, slot, hash, issuer, fork, previous = null } = block;
  return {
    height,
    slot,
    hash,
    previous,
    issuer,
    ...protocolVersion,
    transactions: transactions.length,
    cbor: transactions.length === 0 ? null : bytes,
    changes: changes.length === 0 || mayBeLong(changes) ? null : changesToJson(changes),
    fork,
  };
}

/** Sets the clock after a rollback, and counts it. Gives how often the chain was rolled back. */
export async function turnBack(sql: Queries, slotsAhead: number): Promise<number> {
  const { fork } = await onlyRow(sql<{ fork: bigint }[]>`
    update devnet_meta set slots_ahead = ${slotsAhead}, fork = fork + 1 returning fork`);
  return Number(fork);
}

/** Inserts outputs created at a height (-1: the genesis). */
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

/** The result of a rollback. */
export interface UndoneBlocks {
  /** Outputs that do not exist any more; whether the newest block had them unspent. */
  readonly removed: readonly (OutRef & { readonly address: string; readonly unspent: boolean })[];
  /** Outputs that are unspent again. */
  readonly restored: readonly Utxo[];
  /** Changes of other rows that were undone, last first; `before` is the present value. */
  readonly changes: readonly EntryChange[];
  /** The bytes of the blocks removed, oldest first; those without transactions are left out. */
  readonly blocks: readonly Uint8Array[];
}

/**
 * Undoes every block above a height, in the index too. Those that lead to a snapshot are kept beside the chain, with
 * their rows of the index if `index` says that it is written.
 */
export async function undoBlocks(sql: Queries, height: number, index: boolean): Promise<UndoneBlocks> {
  await keepSideBlocks(sql, height, index);
  const removed = await sql<{ tx_hash: string; index: number; address: string; unspent: boolean }[]>`
    delete from devnet_utxo where created_height > ${height}
    returning tx_hash, index, address, spent_height is null as unspent`;
  const restored = await sql<OutputRow[]>`
    update devnet_utxo set spent_height = null where spent_height > ${height} returning tx_hash, index, cbor`;
  await sql`delete from devnet_transaction where height > ${height}`;
  const changes = (await readChanges(sql, sql`height > ${height}`)).reverse();
  const rows = await sql<{ height: bigint; cbor: Uint8Array | null }[]>`
    delete from devnet_block where height > ${height} returning height, cbor`;
  const restoredRefs = restored.map((row): OutRef => ({ txHash: row.tx_hash, index: row.index }));
  await undoIndex(sql, height, restoredRefs);
  rows.sort((a, b) => Number(a.height - b.height));
  // of a row's undone changes, the oldest holds the value to restore
  const oldest = await inTurns(lastChanges(changes), new EventLoopPacer());
  await storeEntries(sql, oldest, "before");
  return {
    removed: removed.map(({ tx_hash: txHash, index, address, unspent }) => ({ txHash, index, address, unspent })),
    restored: restored.map(utxoOf),
    changes,
    blocks: rows.flatMap(({ cbor }) => cbor ? [new Uint8Array(cbor)] : []),
  };
}

/** Adds transactions to the mempool. */
export async function insertMempool(sql: Queries, submitted: readonly SubmittedTransaction[]): Promise<void> {
  if (submitted.length === 0) return;
  await sql`
    insert into devnet_mempool (position, hash, cbor)
    select position, hash, decode(cbor, 'hex') from unnest(
      ${sql.array(submitted.map(({ position }) => String(position)))}::bigint[], ${
    sql.array(submitted.map(({ transaction: { hash } }) => hash))
  }::text[],
      ${sql.array(submitted.map(({ cbor }) => toHex(cbor)))}::text[]) as new (position, hash, cbor)`;
}

/** Deletes transactions from the mempool. */
export async function deleteMempool(sql: Queries, hashes: readonly string[]): Promise<void> {
  if (hashes.length > 0) await sql`delete from devnet_mempool where hash = any(${sql.array([...hashes])})`;
}

/** The mempool in order. */
export async function readMempool(sql: Queries): Promise<MempoolRow[]> {
  const rows = await sql<{ position: bigint; hash: string; cbor: Uint8Array }[]>`
    select position, hash, cbor from devnet_mempool order by position`;
  return rows.map(({ position, hash, cbor }) => ({ position: Number(position), hash, cbor: new Uint8Array(cbor) }));
}

/** Calls `each` for every unspent output, in a transaction. */
export async function eachUtxo(sql: Queries, each: (utxo: Utxo) => void): Promise<void> {
  const rows = sql<OutputRow[]>`select tx_hash, index, cbor from devnet_utxo where spent_height is null`;
  for await (const chunk of rows.cursor(1000)) for (const row of chunk) each(utxoOf(row));
}
