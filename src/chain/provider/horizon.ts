/**
 * The horizon: the slot from which on slots have no known time. A node refuses a script transaction whose interval ends
 * later.
 */
import { horizon } from "#src/cardano/eras.ts";
import { currentSlot } from "#src/cardano/parameters.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";

/** A known horizon that is at least this far ahead (ms) is not read again. */
const AHEAD_MS = 36 * 3600 * 1000;
/** How long a nearer horizon is kept, in ms; it only moves forward. */
const FRESH_MS = 1_000;

const known = new WeakMap<ChainPort, { readonly slot: number | undefined; readonly at: number }>();

/**
 * The first slot without a known time: `safeZone` past the tip, up to the end of an epoch (or less, depending on the
 * node). Undefined if there is none or it cannot be read. It is at least 36 hours ahead on the public networks, but
 * only seconds on networks with short epochs.
 */
export async function horizonOf(port: ChainPort): Promise<number | undefined> {
  const last = known.get(port);
  const now = Date.now();
  if (last) {
    if (now - last.at < FRESH_MS) return last.slot;
    const network = await port.network();
    if (last.slot !== undefined && last.slot >= currentSlot(network, now + AHEAD_MS)) return last.slot;
  }
  const eras = await port.eras();
  if (!eras.ok) return last?.slot;
  const slot = horizon(eras.value.value.history)?.slot;
  known.set(port, { slot, at: now });
  return slot;
}
