/**
 * The tree over the devnet's unspent outputs, moved with its blocks. The roots of blocks are kept as long as a rollback can
 * go back to them, those of blocks beside the chain too.
 */
import type { Log } from "#src/base/log.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { KeptTree } from "#src/chain/utxoRoot/keptTree.ts";
import type { TreeBlock, TreeTables } from "#src/chain/utxoRoot/treeRows.ts";
import { underLease } from "#src/devnet/blocks/lease.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { eachUtxo, type NewBlock, type UndoneBlocks } from "#src/devnet/blocks/writes.ts";
import type { AppendedBlocks } from "#src/devnet/snapshots/sideBlocks.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { together } from "#src/store/together.ts";

export const DEVNET_TREE: TreeTables = {
  rows: "devnet_utxo_tree",
  place: "devnet_utxo_tree_place",
  roots: "devnet_utxo_root",
};

/** Moves the tree from the newest block over those that were appended to it. False: it must be built again. */
export async function appendToTree(
  tree: KeptTree,
  sql: Queries,
  from: TreeBlock,
  blocks: readonly NewBlock[],
): Promise<boolean> {
  const moves = blocks.map(({ height, hash, transactions }) => {
    const created = transactions.flatMap((applied) => applied.created);
    return { height, hash, changes: { created, spent: transactions.flatMap((applied) => applied.spent) } };
  });
  const [moved] = await together([
    tree.move(sql, from, moves),
    sql`delete from devnet_utxo_root where height < (select floor_height from devnet_meta)`,
  ]);
  return moved;
}

/** Moves the tree back to a block. False: it must be built again. */
export function undoTree(
  tree: KeptTree,
  sql: Queries,
  from: TreeBlock,
  to: TreeBlock,
  undone: UndoneBlocks,
): Promise<boolean> {
  return moveTo(tree, sql, from, to, undone.restored, undone.removed.filter(({ unspent }) => unspent));
}

/** Moves the tree to the block of a snapshot. False: it must be built again. */
export function restoreTree(
  tree: KeptTree,
  sql: Queries,
  from: TreeBlock,
  to: TreeBlock,
  { undone, appended }: { readonly undone: UndoneBlocks; readonly appended: AppendedBlocks },
): Promise<boolean> {
  const removed = undone.removed.filter(({ unspent }) => unspent);
  return moveTo(tree, sql, from, to, [...undone.restored, ...appended.created], [...removed, ...appended.spent]);
}

function moveTo(
  tree: KeptTree,
  sql: Queries,
  from: TreeBlock,
  { height, hash }: TreeBlock,
  created: readonly Utxo[],
  spent: readonly (OutRef & { readonly address: string })[],
): Promise<boolean> {
  const changes = { created, spent: spent.map(({ address, ...ref }) => ({ ref, output: { address } })) };
  return tree.move(sql, from, [{ height, hash, changes }]);
}

/** The tree of a devnet whose lease this process holds. */
export function devnetTree(
  { store, epoch, log, treeAtOnce }: {
    readonly store: Store;
    readonly epoch: number;
    readonly log: Log;
    readonly treeAtOnce?: number | undefined;
  },
): KeptTree {
  return new KeptTree({
    store,
    write: (work) => underLease(store, epoch, work),
    tables: DEVNET_TREE,
    tip: readTip,
    count: async (sql, most) => {
      const { count } = await onlyRow(sql<{ count: number }[]>`
        select count(*)::int as count from
          (select 1 from devnet_utxo where spent_height is null limit ${most ?? null}) as counted`);
      return count;
    },
    eachOutput: eachUtxo,
    log,
    atOnce: treeAtOnce,
  });
}
