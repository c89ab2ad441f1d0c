/** The validity interval of a transaction. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { BuildSetting, PaymentIntent, ValidityBound } from "#src/wallets/builds/types.ts";

/** First valid slot, and the first slot after it that is no longer valid. */
export interface ValidityInterval {
  readonly from?: bigint;
  readonly before: bigint;
}

/** Time to sign and submit, in seconds. */
const SECONDS = 7200n;

function slotOf({ slots, slot }: Pick<BuildSetting, "slots" | "slot">, { quantity, unit }: ValidityBound): bigint {
  return unit === "slot" ? quantity : BigInt(slot) + quantity * 1000n / BigInt(slots.slotLength);
}

/**
 * The interval of an intent: by default from slot 0 to two hours from now. A withdrawal must end at `boundary`, the
 * first slot of the next epoch, where known: the ledger takes only a withdrawal of all rewards, and a new epoch may add
 * some.
 */
export function intervalOf(
  setting: Pick<BuildSetting, "slots" | "slot">,
  validity: PaymentIntent["validity"],
  boundary?: number,
): Result<ValidityInterval, Failure<"invalid_validity_bounds">> {
  const bounds = [validity?.from, validity?.before].filter((bound) => bound !== undefined);
  const before = slotOf(setting, validity?.before ?? { quantity: SECONDS, unit: "second" });
  const from = validity?.from && slotOf(setting, validity.from);
  if (bounds.some(({ quantity }) => quantity < 0n) || (from ?? 0n) >= before || before >= 1n << 64n) {
    return fail(
      "invalid_validity_bounds",
      "Attempted to create a transaction with invalid validity bounds. Please make sure that the 'invalid_before' bound precedes the " +
        "'invalid_hereafter' bound, and that you have not used negative time values.",
    );
  }
  const end = boundary !== undefined && BigInt(boundary) < before ? BigInt(boundary) : before;
  return ok({ before: end, ...(from === undefined ? {} : { from }) });
}
