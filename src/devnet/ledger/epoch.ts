/** Epochs of the devnet: which one a slot is in, and the boundaries that a block crosses. */
import type { ChangeSet } from "#src/devnet/ledger/changes.ts";
import { applyEpoch, passEpoch } from "#src/ledger/epoch/pass.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import type { MutableLedgerState } from "#src/ledger/state.ts";

/** Milliseconds of boundaries after which others get a turn. */
const SLICE_MS = 10;

/** The epoch that a slot is in. */
export function epochOf(slot: number, epochLength: number): number {
  return Math.floor(slot / epochLength);
}

/**
 * Takes a state to the epoch of a slot: every boundary on the way in order, also of epochs that had no block. What they change goes
 * into `changes`. Others get a turn now and then.
 */
export async function enterEpoch(
  state: MutableLedgerState,
  slot: number,
  terms: EpochTerms,
  changes: ChangeSet,
): Promise<void> {
  const epoch = epochOf(slot, terms.epochLength);
  let since = performance.now();
  while (state.epoch < epoch) {
    const delta = passEpoch(state, terms);
    applyEpoch(state, delta);
    changes.pass(delta);
    if (performance.now() - since < SLICE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  }
}
