/** Epochs of the devnet: the epoch of a slot, and the boundaries that a block crosses. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { ChangeSet } from "#src/devnet/ledger/changes.ts";
import { applyEpoch, passEpoch } from "#src/ledger/epoch/pass.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import type { MutableLedgerState } from "#src/ledger/state.ts";

/** Milliseconds after which boundary processing yields to the event loop. */
const SLICE_MS = 10;

/** The epoch of a slot. */
export function epochOf(slot: number, epochLength: number): number {
  return Math.floor(slot / epochLength);
}

/**
 * Advances a state to the epoch of a slot: across every boundary in order, including those of epochs without blocks.
 * The changes are added to `changes`. Yields to the event loop regularly.
 */
export async function enterEpoch(
  state: MutableLedgerState,
  slot: number,
  terms: EpochTerms,
  changes: ChangeSet,
): Promise<void> {
  const epoch = epochOf(slot, terms.epochLength);
  const pacer = new EventLoopPacer(SLICE_MS);
  while (state.epoch < epoch) {
    const delta = passEpoch(state, terms);
    applyEpoch(state, delta);
    changes.addEpochEnd(delta);
    await pacer.step();
  }
}
