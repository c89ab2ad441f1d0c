/**
 * The horizon: the slot from which on slots have no known time. A node refuses a script transaction whose interval ends
 * later.
 */
import { horizon } from "#src/cardano/eras.ts";
import { currentSlot } from "#src/cardano/parameters.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";

/** A known horizon that is at least this far ahead (ms) is not read again. */
const AHEAD_MS = 20 * 3600 * 1000;
/** How long a nearer horizon is kept, in ms. */
const FRESH_MS = 1_000;

const known = new WeakMap<ChainPort, { readonly slot: number | undefined; readonly at: number }>();

/**
 * The slot before which every slot has a known time, whatever blocks are rolled back. A history ends at the end of an
 * epoch, at least `safeZone` (3k/f slots) past the tip, so a rollback can take that end back by a whole epoch; up to k
 * blocks are rolled back, on average k/f slots, and two thirds of the safe zone are left. Undefined if the history has
 * no end or cannot be read. It is 24 hours ahead on the public networks, but only seconds on networks with short epochs.
 */
export async function horizonOf(port: ChainPort): Promise<number | undefined> {
  const last = known.get(port);
  const now = Date.now();
  if (last && now - last.at < FRESH_MS) return last.slot;
  const network = await port.network();
  if (last?.slot !== undefined && last.slot >= currentSlot(network, now + AHEAD_MS)) return last.slot;
  const eras = await port.eras();
  if (!eras.ok) return last?.slot;
  const { value: { history }, point } = eras.value;
  const end = horizon(history)?.slot;
  // 0: Dingo does not state it
  const { safeZone = 0 } = history.at(-1)?.terms ?? {};
  const slot = end === undefined || safeZone === 0
    ? end
    : steadyHorizon(end, safeZone, Math.max(0, point.slot), currentSlot(network, now));
  known.set(port, { slot, at: now });
  return slot;
}

/** Where no block came for long, as on a devnet that makes them on request, only the end itself leaves time. */
function steadyHorizon(end: number, safeZone: number, tip: number, slot: number): number {
  const steady = Math.min(end, tip + Math.floor(safeZone * 2 / 3));
  return steady - slot >= safeZone / 3 ? steady : end;
}
