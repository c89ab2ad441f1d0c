/** How far ahead the slots have times: a node that runs scripts refuses a transaction whose interval ends later. */
import { horizon } from "#src/cardano/eras.ts";
import { slotAt } from "#src/cardano/parameters.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";

/** Slots of the future that nobody asks about: what was told before is enough while it reaches further. */
const AHEAD_MS = 36 * 3600 * 1000;
/** How old an answer may be that does not, in ms; the horizon only moves on. */
const FRESH_MS = 1_000;

const known = new WeakMap<ChainPort, { readonly slot: number | undefined; readonly at: number }>();

/**
 * The first slot without a time (`safeZone` past the tip up to the end of an epoch, or less, as the node has it); undefined: there is none,
 * or nobody tells. On the public networks that is 36 hours away at the least, on networks with small epochs seconds.
 */
export async function horizonOf(port: ChainPort): Promise<number | undefined> {
  const last = known.get(port);
  const now = Date.now();
  if (last) {
    if (now - last.at < FRESH_MS) return last.slot;
    const { slots } = await port.network();
    if (last.slot !== undefined && last.slot >= slotAt(slots, now + AHEAD_MS)) return last.slot;
  }
  const eras = await port.eras();
  if (!eras.ok) return last?.slot;
  const slot = horizon(eras.value.value.history)?.slot;
  known.set(port, { slot, at: now });
  return slot;
}
