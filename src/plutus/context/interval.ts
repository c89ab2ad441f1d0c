/** A transaction's validity interval, as POSIX time in milliseconds. */
import { type Constr, constr } from "#src/cardano/data.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bool } from "#src/plutus/context/forms.ts";

/** Start of a slot, in ms since 1970; undefined for a slot beyond the horizon, whose time is not known yet. */
export type PosixTime = (slot: bigint) => bigint | undefined;

/** Slot times on a network whose slots all have the same length; `horizon` is the first slot without a known time. */
export function posixTime({ zeroTime, zeroSlot, slotLength }: SlotConfig, horizon = Infinity): PosixTime {
  return (slot) => slot >= horizon ? undefined : BigInt(zeroTime) + (slot - BigInt(zeroSlot)) * BigInt(slotLength);
}

/**
 * `POSIXTimeRange`, the same in all Plutus versions. `from` is the first valid slot, `before` the first invalid one after
 * it. Since Conway the upper bound is always exclusive; in earlier eras it was inclusive if there was no lower bound.
 */
export function validRange(
  { from, before }: { readonly from?: bigint; readonly before?: bigint },
  time: PosixTime,
): Constr {
  return constr(
    0,
    from === undefined ? constr(0, constr(0), bool(true)) : constr(0, constr(1, timeOf(from, time)), bool(true)),
    before === undefined ? constr(0, constr(2), bool(true)) : constr(0, constr(1, timeOf(before, time)), bool(false)),
  );
}

function timeOf(slot: bigint, time: PosixTime): bigint {
  const at = time(slot);
  if (at === undefined) {
    const about = `PastHorizon: slot ${slot} is not before the end of the last era that the node knows`;
    throw new Untranslatable("TimeTranslationPastHorizon", about, about);
  }
  return at;
}
