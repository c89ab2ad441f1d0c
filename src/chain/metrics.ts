/** What the follower counts and measures. */
import { metrics } from "#src/base/metrics.ts";

export const blocks = metrics.counter("arbor_blocks_total", "Blocks read into the index.");
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
