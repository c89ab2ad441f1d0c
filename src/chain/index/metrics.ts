/** Metrics of the follower. */
import { metrics } from "#src/base/metrics.ts";

export const blocks = metrics.counter("arbor_blocks_total", "Blocks indexed.");
export const restoredBlocks = metrics.counter(
  "arbor_restored_blocks_total",
  "Blocks read again for wallets whose history starts before the index's current block.",
);
export const blockSeconds = metrics.histogram(
  "arbor_block_seconds",
  "From a block's arrival to its commit, in seconds.",
);
export const rollbacks = metrics.counter(
  "arbor_rollbacks_total",
  "Rollbacks of the index: reorganisations of the chain.",
);
export const blocksUndone = metrics.counter("arbor_blocks_undone_total", "Blocks rolled back.");
export const interruptions = metrics.counter(
  "arbor_follower_interruptions_total",
  "Restarts of the chain follower.",
);
export const writeSeconds = metrics.histogram(
  "arbor_index_write_seconds",
  "Write transactions of the index, in seconds.",
);
export const restoringGroups = metrics.gauge(
  "arbor_restoring_groups",
  "Groups of wallets that are restored separately until they have caught up with the index.",
);
export const restoringThings = metrics.gauge(
  "arbor_restoring_things",
  "Wallets in restoring groups or waiting for one.",
);
export const restoringBehind = metrics.gauge(
  "arbor_restoring_behind_slots",
  "Slots between the index and the slowest restoring group.",
);
