/** From a block to the rows that it adds to the index: a pure function. */
import { finish, type Steps } from "#src/base/steps.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { addBoundary } from "#src/devnet/index/epochRows.ts";
import { type IndexChanges, noChanges } from "#src/devnet/index/rows.ts";
import { addTransaction, type IndexedTransaction } from "#src/devnet/index/transactionRows.ts";
import type { EpochBoundary } from "#src/devnet/ledger/epoch.ts";

/** A block with its effect on the ledger. */
export interface IndexedBlock {
  readonly height: number;
  readonly hash: string;
  /** Its epoch, and the parameters in it. */
  readonly epoch: number;
  readonly parameters: Parameters;
  /** Bytes of its body. */
  readonly size: number;
  /** Id of the pool that produced it; undefined for the issuer of blocks that no pool can produce. */
  readonly pool: string | undefined;
  /** Epoch boundaries between the block before it and it, in order. */
  readonly boundaries: readonly EpochBoundary[];
  readonly transactions: readonly IndexedTransaction[];
}

/** What a block adds to the index; it is added to `changes`, which the blocks right before it have made. */
export function foldBlock(block: IndexedBlock, changes: IndexChanges = noChanges()): IndexChanges {
  return finish(foldBlockInSteps(block, changes));
}

/** `foldBlock` in steps. */
export function* foldBlockInSteps(block: IndexedBlock, changes: IndexChanges): Steps<IndexChanges> {
  const { height, epoch, parameters, size, pool, boundaries, transactions } = block;
  const { rows } = changes;
  const before = { output: rows.output.length, tx: rows.tx.length };
  for (const boundary of boundaries) yield* addBoundary(changes, height, boundary);
  transactions.forEach((transaction, tx_index) =>
    addTransaction(changes, transaction, { height, tx_index, epoch, parameters })
  );
  const sums = transactions.length === 0 ? {} : {
    output: rows.output.slice(before.output).reduce((sum, { lovelace }) => sum + lovelace, 0n),
    fees: rows.tx.slice(before.tx).reduce((sum, { fee }) => sum + fee, 0n),
  };
  rows.block.push({ height, epoch, size, ...sums, ...(pool === undefined ? {} : { pool }) });
  return changes;
}
