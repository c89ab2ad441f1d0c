/** Slots, blocks and epochs in answers; safe in a browser. */
import { z } from "zod";

const count = z.int().min(0);
const time = z.string().meta({ description: "ISO 8601, UTC.", format: "date-time" });

export const slotPlace = z.object({
  absolute_slot_number: count,
  slot_number: count.describe("Slots since the start of the epoch."),
  epoch_number: count,
  time,
}).meta({ id: "SlotPlace" });

export const blockPlace = slotPlace.extend({
  height: z.object({ quantity: count, unit: z.literal("block") }),
}).meta({ id: "BlockPlace" });

export const epochStart = z.object({ epoch_number: count, epoch_start_time: time }).meta({ id: "EpochStart" });
export { count, time };
