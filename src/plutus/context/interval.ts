/** The slots in which a transaction is valid, as an interval of POSIX time in milliseconds. */
import { type Constr, constr } from "#src/cardano/data.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bool } from "#src/plutus/context/forms.ts";

/** When a slot begins, in ms since 1970; undefined for a slot that is too far ahead to have a time yet. */
export type PosixTime = (slot: bigint) => bigint | undefined;

/** Times of slots that all have one length. */
export function posixTime({ zeroTime, zeroSlot, slotLength }: SlotConfig): PosixTime {
  return (slot) => BigInt(zeroTime) + (slot - BigInt(zeroSlot)) * BigInt(slotLength);
}

/**
 * `POSIXTimeRange`, alike in all versions. `from` is the first slot, `before` the first after the last. Since Conway the upper bound is never
 * inclusive; earlier eras had it so where there was no lower one.
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
    throw new Untranslatable("TimeTranslationPastHorizon", `slot ${slot}`, `slot ${slot} is beyond the horizon`);
  }
  return at;
}
