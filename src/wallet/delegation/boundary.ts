/**
 * Withdrawals and the boundaries of epochs: a withdrawal takes all that an account holds or is refused, and at a boundary rewards come
 * in. So a transaction that withdraws ends before the next one, and what it spends is free again.
 */
import type { Epochs } from "#src/cardano/epochs.ts";

/** First slot in which a withdrawing transaction that is made in a slot must be valid no longer: that of the next epoch. */
export function withdrawableBefore(epochs: Epochs, slot: number): number {
  return epochs.first(epochs.of(slot) + 1);
}
