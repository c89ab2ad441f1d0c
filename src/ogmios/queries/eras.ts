/** Eras and times in Ogmios' JSON. */
import type { EraBound, EraHistory } from "#src/cardano/eras.ts";
import type { JsonObject } from "#src/ogmios/form.ts";

const PICOSECONDS = 1_000_000_000_000n;

/** A bound of an era; its time is since the start of the system. */
export function boundJson({ time, slot, epoch }: EraBound): JsonObject {
  return { time: { seconds: Number(time / PICOSECONDS) }, slot, epoch };
}

/** All eras up to the current one. */
export function eraSummariesJson(history: EraHistory): JsonObject[] {
  return history.map(({ start, end, terms }) => ({
    start: boundJson(start),
    ...(end ? { end: boundJson(end) } : {}),
    parameters: {
      epochLength: terms.epochLength,
      slotLength: { milliseconds: terms.slotLength },
      safeZone: terms.safeZone ?? null,
    },
  }));
}

/** A time in ms since 1970; without a fraction where it is a whole second, as clients parse it. */
export function timeText(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}
