/** The state of the devnet as it changes, for open pages. */
import { sleep } from "#src/base/clock.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";

/** Milliseconds between looks at the state, which is in memory. */
const LOOK_MS = 100;

/** What an open page follows. */
export function liveState(devnet: Devnet) {
  const tip = devnet.tip();
  const waiting = devnet.mempool();
  const newest = devnet.departures().at(0);
  return {
    tip,
    currentSlot: devnet.slot(),
    epoch: epochOf(Math.max(0, tip.slot), devnet.genesis.terms.epochLength),
    mempool: { size: waiting.length, bytes: waiting.reduce((sum, { cbor }) => sum + cbor.length, 0) },
    departed: newest?.at ?? 0,
    // a block and its rollback between two looks: the rest is as before, but a page may have read the block
    changes: devnet.changes(),
  };
}

type LiveState = ReturnType<typeof liveState>;

/** The state now, and at each of its changes, until the signal aborts. The slot alone is no change. */
export async function* liveStates(
  devnet: Devnet,
  signal: AbortSignal,
  lookMs = LOOK_MS,
): AsyncGenerator<LiveState, void> {
  let last: string | undefined;
  while (!signal.aborted) {
    const state = liveState(devnet);
    const text = JSON.stringify({ ...state, currentSlot: 0 });
    if (text !== last) yield state;
    last = text;
    await sleep(lookMs, signal);
  }
}
