/**
 * Withdrawals and epoch boundaries. The ledger takes only a withdrawal of all rewards, and rewards are added at each
 * epoch boundary. So a withdrawing transaction must expire at the next boundary; then its inputs are free again.
 */
import type { Epochs } from "#src/cardano/epochs.ts";

/** First slot of the epoch after that of `slot`: a transaction that withdraws is not valid from it on. */
export function withdrawableBefore(epochs: Epochs, slot: number): number {
  return epochs.first(epochs.of(slot) + 1);
}
