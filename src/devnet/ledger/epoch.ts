/** Epochs of the devnet: the epoch of a slot, and the boundaries that a block crosses. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { inTurns } from "#src/base/steps.ts";
import type { ChangeSet } from "#src/devnet/ledger/changes.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { applyEpochInSteps, type EpochDelta, passEpochInSteps } from "#src/ledger/epoch/pass.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import { snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import type { MutableLedgerState, StakeSnapshot } from "#src/ledger/state.ts";

/** The epoch of a slot. */
export function epochOf(slot: number, epochLength: number): number {
  return Math.floor(slot / epochLength);
}

/** An epoch boundary that a block crosses. */
export interface EpochBoundary {
  readonly delta: EpochDelta;
  /** Parameters of the epoch that begins. */
  readonly parameters: Parameters;
  /** The stake snapshot that counts for block production in it. */
  readonly leaders: StakeSnapshot;
}

/**
 * Advances a state to the epoch of a slot: across every boundary in order, including those of epochs without blocks.
 * The changes are added to `changes`. Gives the boundaries. Yields to the event loop regularly: until the promise resolves
 * the state may be half in one epoch and half in the next.
 */
export async function enterEpoch(
  state: MutableLedgerState,
  slot: number,
  terms: EpochTerms,
  changes: ChangeSet,
): Promise<EpochBoundary[]> {
  const epoch = epochOf(slot, terms.epochLength);
  const pacer = new EventLoopPacer();
  const boundaries: EpochBoundary[] = [];
  while (state.epoch < epoch) {
    const delta = await inTurns(passEpochInSteps(state, terms), pacer);
    await inTurns(applyEpochInSteps(state, delta), pacer);
    await inTurns(changes.addEpochEnd(delta), pacer);
    boundaries.push({ delta, parameters: state.parameters, leaders: snapshotOf(state, delta.epoch - 1) });
    await pacer.step();
  }
  return boundaries;
}
