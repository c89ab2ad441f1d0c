/** Metrics of the follower. */
import { metrics } from "#src/base/metrics.ts";

export const blocks = metrics.counter("arbor_blocks_total", "Blocks read into the index.");
export const restoredBlocks = metrics.counter(
  "arbor_restored_blocks_total",
  "Blocks read again for things that were born before the index's place.",
);
export const blockSeconds = metrics.histogram(
  "arbor_block_seconds",
  "From a block's arrival to its commit, in seconds.",
);
export const rollbacks = metrics.counter(
  "arbor_rollbacks_total",
  "Rollbacks of the index: reorganisations of the chain.",
);
export const blocksUndone = metrics.counter("arbor_blocks_undone_total", "Blocks taken back by rollbacks.");
export const interruptions = metrics.counter(
  "arbor_follower_interruptions_total",
  "Times that following the chain had to begin anew.",
);
export const writeSeconds = metrics.histogram(
  "arbor_index_write_seconds",
  "Write transactions of the index, in seconds.",
);
export const restoringGroups = metrics.gauge(
  "arbor_restoring_groups",
  "Groups of things that are read apart until they have caught up with the index.",
);
export const restoringThings = metrics.gauge(
  "arbor_restoring_things",
  "Things in those groups, and things that wait for one.",
);
export const restoringBehind = metrics.gauge(
  "arbor_restoring_behind_slots",
  "Slots by which the group that is farthest behind is behind the index.",
);
