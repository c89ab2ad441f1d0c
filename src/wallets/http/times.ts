/** Slots with their epoch and time. */
import { type Epoch, epochOfSlot, type Eras, slotsOfEpoch, timeAt } from "#src/cardano/eras.ts";
import type { Epochs } from "#src/cardano/epochs.ts";
import type { Tip } from "#src/cardano/block.ts";

export interface SlotView {
  readonly absolute_slot_number: number;
  readonly slot_number: number;
  readonly epoch_number: number;
  readonly time: string;
}

export interface BlockView extends SlotView {
  readonly height: { readonly quantity: number; readonly unit: "block" };
}

/**
 * ISO 8601; fractions of a second only where there are some, as on a devnet of short slots: a filter by this time finds
 * what has it.
 */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

/** A slot with its epoch and time; undefined past the horizon. A slot before 0 counts as 0. */
export function slotView(eras: Eras, slot: number): SlotView | undefined {
  const at = Math.max(0, slot);
  const [epoch, time] = [epochOfSlot(eras.history, at), timeAt(eras, at)];
  if (!epoch.ok || !time.ok) return undefined;
  const slots = slotsOfEpoch(eras.history, epoch.value);
  if (!slots.ok) return undefined;
  return {
    absolute_slot_number: at,
    slot_number: at - slots.value.first,
    epoch_number: epoch.value,
    time: timeText(time.value),
  };
}

/**
 * A slot as it will be if no hard fork changes the slot length before it: for expiry, also past the horizon. Undefined
 * after the year 9998.
 */
export function expectedSlotView(eras: Eras, slot: number): SlotView | undefined {
  const history = eras.history.map((era, i) => i < eras.history.length - 1 ? era : { ...era, end: undefined });
  const endless = { ...eras, history };
  const time = timeAt(endless, Math.max(0, slot));
  return time.ok && time.value < LAST_YEAR ? slotView(endless, slot) : undefined;
}

const LAST_YEAR = Date.UTC(9999, 0);

/** A block's place. */
export function blockView(eras: Eras, { slot, height }: Pick<Tip, "slot" | "height">): BlockView {
  const view = slotView(eras, slot);
  if (view === undefined) throw new Error(`the time of slot ${slot} is unknown, although the slot has a block`);
  return { ...view, height: { quantity: Math.max(0, height), unit: "block" } };
}

/** The begin of an epoch. */
export const epochView = ({ epoch, time }: { epoch: number; time: number }) => ({
  epoch_number: epoch,
  epoch_start_time: timeText(time),
});

/** The begin of the epoch with a number. */
export const epochStartView = (epochs: Epochs, epoch: number) =>
  epochView({ epoch, time: epochs.time(epochs.first(epoch)) });

/** The next epoch. */
export const epochAfter = ({ number, end }: Epoch) => epochView({ epoch: number + 1, time: end });
