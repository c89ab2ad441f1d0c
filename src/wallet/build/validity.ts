/** The slots in which a transaction is valid. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Bound, Setting, Wish } from "#src/wallet/build/types.ts";

/** First slot, and first slot no more. */
export interface Interval {
  readonly from?: bigint;
  readonly before: bigint;
}

/** Time to sign and submit, in seconds. */
const SECONDS = 7200n;

function slotOf({ slots, slot }: Pick<Setting, "slots" | "slot">, { quantity, unit }: Bound): bigint {
  return unit === "slot" ? quantity : BigInt(slot) + quantity * 1000n / BigInt(slots.slotLength);
}

/**
 * The interval of a wish: two hours from now unless it says otherwise. What withdraws rewards ends before `boundary`, the first slot of the
 * next epoch, where it is known: after it there may be more rewards, and none are withdrawn but all.
 */
export function intervalOf(
  setting: Pick<Setting, "slots" | "slot">,
  validity: Wish["validity"],
  boundary?: number,
): Result<Interval, Failure<"invalid_validity_bounds">> {
  const bounds = [validity?.from, validity?.before].filter((bound) => bound !== undefined);
  const before = slotOf(setting, validity?.before ?? { quantity: SECONDS, unit: "second" });
  const from = validity?.from && slotOf(setting, validity.from);
  if (bounds.some(({ quantity }) => quantity < 0n) || (from ?? 0n) >= before || before >= 1n << 64n) {
    return fail(
      "invalid_validity_bounds",
      "The transaction must become valid before it ceases to be, and no time may be negative.",
    );
  }
  const end = boundary !== undefined && BigInt(boundary) < before ? BigInt(boundary) : before;
  return ok({ before: end, ...(from === undefined ? {} : { from }) });
}
