/**
 * Epochs as wallets reckon with them: also those past a node's horizon, as if no hard fork changed how time runs until then. A stake
 * counts two epochs after its certificate, which is farther than a node will say.
 */
import type { Eras, EraSummary } from "#src/cardano/eras.ts";

/** How slots, epochs and times map to each other. */
export interface Epochs {
  /** The epoch of a slot; for earlier slots, that of the first slot. */
  of(slot: number): number;
  /** First slot of an epoch. */
  first(epoch: number): number;
  /** When a slot begins, in ms since 1970. */
  time(slot: number): number;
}

const PICOSECONDS = 1_000_000_000n;

/** Computes from a network's era summaries. */
export function epochsOf({ systemStart, history }: Eras): Epochs {
  const oldest = history[0];
  if (!oldest) throw new RangeError("a chain without eras");
  const era = (at: (one: EraSummary) => boolean) => history.findLast(at) ?? oldest;
  const first = (epoch: number) => {
    const { start, terms } = era((one) => one.start.epoch <= epoch);
    return start.slot + (epoch - start.epoch) * terms.epochLength;
  };
  return {
    of: (slot) => {
      const { start, terms } = era((one) => one.start.slot <= slot);
      return start.epoch + Math.max(0, Math.floor((slot - start.slot) / terms.epochLength));
    },
    first,
    time: (slot) => {
      const { start, terms } = era((one) => one.start.slot <= slot);
      return systemStart + Number(start.time / PICOSECONDS) + (slot - start.slot) * terms.slotLength;
    },
  };
}
