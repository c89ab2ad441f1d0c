/**
 * Blocks beside the chain: those that a rollback removed and that lead to a snapshot.
 *
 * Assumptions: blocks form a tree, and each is stored once: on the chain or here. The previous block of one that is here
 * is here too or on the chain, so the lowest height here is one above the lowest fork. The blocks of a fork keep their
 * changes, since no undo data above a fork are removed. Every function that writes runs within a transaction that has
 * locked the devnet's lease.
 */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { inTurns } from "#src/base/steps.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { type OutputRow, utxoOf } from "#src/devnet/blocks/rows.ts";
import { type EntryChange, lastChanges } from "#src/devnet/ledger/changes.ts";
import { readChanges, storeEntries } from "#src/devnet/ledger/entries.ts";
import { appendSideIndex, keepSideIndex, SIDE_INDEX } from "#src/devnet/snapshots/sideIndex.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** SQL expression: the lowest height that a restore may go back to; null while there is no snapshot. */
export const lowestNeeded = (sql: Queries) =>
  sql`least((select min(height) from devnet_snapshot), (select min(height) - 1 from devnet_side_block))`;

/** Copies the blocks above a height that lead to a snapshot, before they are undone; also what `index` has of them. */
export async function keepSideBlocks(sql: Queries, height: number, index: boolean): Promise<void> {
  // the last of them is a snapshot's own block, or the one from which a block beside the chain forks
  const { highest } = await onlyRow(sql<{ highest: bigint | null }[]>`
    select max(height) as highest from devnet_block as block where height > ${height} and (
      hash in (select hash from devnet_snapshot) or hash in (select previous from devnet_side_block))`);
  if (highest === null) return;
  const leads = sql`block.height > ${height} and block.height <= ${highest}`;
  await sql`insert into devnet_side_block select * from devnet_block as block where ${leads}`;
  await sql`
    insert into devnet_side_transaction (block, hash)
    select block.hash, one.hash from devnet_block as block join devnet_transaction as one using (height) where ${leads}`;
  await sql`
    insert into devnet_side_output (block, tx_hash, index, address, cbor)
    select block.hash, tx_hash, index, address, utxo.cbor
    from devnet_block as block join devnet_utxo as utxo on created_height = height where ${leads}`;
  await sql`
    insert into devnet_side_spend (block, tx_hash, index)
    select block.hash, tx_hash, index from devnet_block as block join devnet_utxo on spent_height = height where ${leads}`;
  if (index) await keepSideIndex(sql, leads);
}

/** A block beside the chain. */
interface SideBlock {
  readonly hash: string;
  readonly previous: string | null;
}

/** The previous blocks of those beside the chain. A walk in the database would need one index scan a block. */
async function readSideBlocks(sql: Queries): Promise<ReadonlyMap<string, SideBlock>> {
  const rows = await sql<SideBlock[]>`select hash, previous from devnet_side_block`;
  return new Map(rows.map((row) => [row.hash, row]));
}

/** The hashes of the blocks that lead to one of some blocks, it included; none for a block of the chain. */
function* pathTo(blocks: ReadonlyMap<string, SideBlock>, hash: string): Iterable<string> {
  for (let at = blocks.get(hash); at; at = blocks.get(at.previous ?? "")) yield at.hash;
}

/** The hashes of the blocks beside the chain that lead to one of them, newest first; none for a block of the chain. */
export async function sidePath(sql: Queries, hash: string): Promise<string[]> {
  return [...pathTo(await readSideBlocks(sql), hash)];
}

/** The effect of blocks that were appended again. */
export interface AppendedBlocks {
  /** Outputs of earlier blocks that they spend. */
  readonly spent: readonly (OutRef & { readonly address: string })[];
  /** Outputs that they leave. */
  readonly created: readonly Utxo[];
  /** Changes of other rows: the last one of each row. */
  readonly changes: readonly EntryChange[];
  /** Whether the index has them too. */
  readonly isIndexed: boolean;
}

/** Moves blocks back to the chain: `path` is the result of `sidePath`, and its last block follows the tip at `fork`. */
export async function appendSideBlocks(
  sql: Queries,
  path: readonly string[],
  fork: number,
  index: boolean,
): Promise<AppendedBlocks> {
  if (path.length === 0) return { spent: [], created: [], changes: [], isIndexed: true };
  await sql`insert into devnet_block select * from devnet_side_block where hash = any(${sql.array([...path])})`;
  const all = await readChanges(sql, sql`height > ${fork}`);
  const changes = await inTurns(lastChanges(all), new EventLoopPacer());
  // from here on the blocks above the fork are those of the path
  const appended = sql`devnet_block as block on block.hash = one.block and block.height > ${fork}`;
  await sql`
    insert into devnet_transaction (hash, height)
    select one.hash, height from devnet_side_transaction as one join ${appended}`;
  await sql`
    insert into devnet_utxo (tx_hash, index, address, cbor, created_height)
    select tx_hash, index, one.address, one.cbor, block.height from devnet_side_output as one join ${appended}`;
  // one spend finds its output by the primary key: a join of all outputs with all spends may be planned badly
  const spent = await sql<(OutputRow & { address: string; created_height: bigint })[]>`
    update devnet_utxo as utxo set spent_height = block.height from devnet_side_spend as one join ${appended}
    where utxo.tx_hash = one.tx_hash and utxo.index = one.index returning utxo.tx_hash, utxo.index, utxo.address, created_height`;
  const created = await sql<OutputRow[]>`
    select tx_hash, index, cbor from devnet_utxo where created_height > ${fork} and spent_height is null`;
  await storeEntries(sql, changes, "after");
  const isIndexed = index && await appendSideIndex(sql, appended, path.length);
  await deleteSideBlocks(sql, path);
  return {
    spent: spent.filter((row) => row.created_height <= fork)
      .map(({ tx_hash: txHash, index, address }) => ({ txHash, index, address })),
    created: created.map(utxoOf),
    changes,
    isIndexed,
  };
}

/** Deletes the blocks that lead to no snapshot any more. */
export async function pruneSideBlocks(sql: Queries): Promise<void> {
  const blocks = await readSideBlocks(sql);
  if (blocks.size === 0) return;
  const snapshots = await sql<{ hash: string }[]>`select distinct hash from devnet_snapshot`;
  const needed = new Set<string>();
  for (const snapshot of snapshots) {
    for (const hash of pathTo(blocks, snapshot.hash)) {
      // the blocks before it are those of another snapshot too
      if (needed.has(hash)) break;
      needed.add(hash);
    }
  }
  await deleteSideBlocks(sql, [...blocks.keys()].filter((hash) => !needed.has(hash)));
}

async function deleteSideBlocks(sql: Queries, blocks: readonly string[]): Promise<void> {
  if (blocks.length === 0) return;
  const hashes = sql.array([...blocks]);
  await sql`delete from devnet_side_block where hash = any(${hashes})`;
  for (const table of ["devnet_side_transaction", "devnet_side_output", "devnet_side_spend", ...SIDE_INDEX]) {
    await sql`delete from ${sql(table)} where block = any(${hashes})`;
  }
}
