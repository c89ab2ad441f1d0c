/**
 * Snapshots of the devnet: a name for its newest block, its mempool and its clock at one moment.
 *
 * Assumptions: a block says what the whole chain before it was, so a snapshot copies no state. Its cost is what a chain
 * must keep to return to it: undo data of the blocks since the last common block, and the snapshot's blocks that are no
 * longer on the chain. Every function that writes runs within a transaction that has locked the devnet's lease.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { Mining, MiningMode } from "#src/devnet/blocks/mining.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { type MempoolRow, readMempool, undoBlocks, type UndoneBlocks } from "#src/devnet/blocks/writes.ts";
import { type AppendedBlocks, appendSideBlocks, pruneSideBlocks, sidePath } from "#src/devnet/snapshots/sideBlocks.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** Snapshots that a devnet keeps at most: each holds a copy of the mempool. */
export const MOST_SNAPSHOTS = 1_000;

/** A snapshot: its block, and the number of transactions in its mempool. */
export interface Snapshot extends Tip {
  readonly name: string;
  readonly transactions: number;
  /** When it was saved, in ms since 1970. */
  readonly saved: number;
}

export type SnapshotUnknown = Failure<"snapshot_unknown">;
export type SnapshotNotSaved = Failure<"snapshot_exists" | "too_many_snapshots">;

export interface SaveOptions {
  /** Whether an earlier snapshot of this name is replaced. */
  readonly replace: boolean;
}

interface SnapshotRow {
  readonly name: string;
  readonly height: bigint;
  readonly slot: bigint;
  readonly hash: string;
  readonly saved: number;
  readonly transactions: number;
}

interface ClockRow {
  readonly slots_ahead: bigint | null;
  readonly mining: MiningMode | null;
  readonly block_ms: number | null;
}

/** All snapshots, oldest first; or that of a name. */
export async function readSnapshots(sql: Queries, name?: string): Promise<Snapshot[]> {
  const rows = await sql<SnapshotRow[]>`
    select name, height, slot, hash, floor(extract(epoch from saved) * 1000)::float8 as saved,
      (select count(*)::int from devnet_snapshot_mempool as one where one.name = snapshot.name) as transactions
    from devnet_snapshot as snapshot ${name === undefined ? sql`` : sql`where name = ${name}`} order by saved, name`;
  return rows.map((row) => ({ ...row, height: Number(row.height), slot: Number(row.slot) }));
}

/** Saves the newest block, the mempool and the clock under a name. */
export async function saveSnapshot(
  sql: Queries,
  name: string,
  { replace }: SaveOptions,
  { mode, blockMs }: Mining,
): Promise<Result<Snapshot, SnapshotNotSaved>> {
  if (replace) await sql`delete from devnet_snapshot where name = ${name}`;
  const [found] = await sql<{ count: number; taken: boolean }[]>`
    select count(*)::int as count, coalesce(bool_or(name = ${name}), false) as taken from devnet_snapshot`;
  if (found?.taken) return fail("snapshot_exists", `There is a snapshot ${name} already.`);
  if (found && found.count >= MOST_SNAPSHOTS) {
    return fail("too_many_snapshots", `There are ${found.count} snapshots, the maximum; delete some of them.`);
  }
  const { height, slot, hash } = await readTip(sql);
  await sql`
    insert into devnet_snapshot (name, height, slot, hash, slots_ahead, mining, block_ms)
    select ${name}, ${height}, ${slot}, ${hash}, slots_ahead, ${mode}, ${blockMs} from devnet_meta`;
  await sql`
    insert into devnet_snapshot_mempool (name, position, hash, cbor)
    select ${name}, position, hash, cbor from devnet_mempool`;
  if (replace) await pruneSideBlocks(sql);
  return ok(await onlyRow(readSnapshots(sql, name)));
}

/** What a restore changed. */
interface RestoredSnapshot {
  readonly tip: Tip;
  readonly undone: UndoneBlocks;
  readonly appended: AppendedBlocks;
  /** The snapshot's mempool, in order. */
  readonly mempool: readonly MempoolRow[];
  /** Its clock; undefined for a snapshot that was saved without one. */
  readonly clock: (Mining & { readonly slotsAhead: number }) | undefined;
}

/** Goes to the block of a snapshot and restores its mempool; the index of the chain too, if `index` says that it is written. */
export async function restoreSnapshot(
  sql: Queries,
  name: string,
  index: boolean,
): Promise<Result<RestoredSnapshot, SnapshotUnknown>> {
  const [snapshot] = await readSnapshots(sql, name);
  if (!snapshot) return unknown(name);
  const path = await sidePath(sql, snapshot.hash);
  const fork = snapshot.height - path.length;
  const undone = await undoBlocks(sql, fork, index);
  const appended = await appendSideBlocks(sql, path, fork, index);
  const tip = await readTip(sql);
  if (tip.hash !== snapshot.hash) throw new Error(`the blocks of the snapshot ${name} are incomplete`);
  await sql`delete from devnet_mempool`;
  await sql`
    insert into devnet_mempool (position, hash, cbor)
    select position, hash, cbor from devnet_snapshot_mempool where name = ${name}`;
  return ok({ tip, undone, appended, mempool: await readMempool(sql), clock: await readClock(sql, name) });
}

async function readClock(sql: Queries, name: string): Promise<RestoredSnapshot["clock"]> {
  const { slots_ahead, mining, block_ms } = await onlyRow(sql<ClockRow[]>`
    select slots_ahead, mining, block_ms from devnet_snapshot where name = ${name}`);
  if (slots_ahead === null || mining === null || block_ms === null) return undefined;
  return { slotsAhead: Number(slots_ahead), mode: mining, blockMs: block_ms };
}

/** Deletes a snapshot, and the blocks that were kept for it alone. */
export async function deleteSnapshot(sql: Queries, name: string): Promise<Result<void, SnapshotUnknown>> {
  const deleted = await sql`delete from devnet_snapshot where name = ${name} returning 1`;
  if (deleted.length === 0) return unknown(name);
  await pruneSideBlocks(sql);
  return ok(undefined);
}

function unknown(name: string): { readonly ok: false; readonly error: SnapshotUnknown } {
  return fail("snapshot_unknown", `There is no snapshot ${name}.`);
}
