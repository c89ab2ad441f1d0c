/**
 * Throttles repeated log lines. The first lines of a period are written at once; of the others only the last is
 * written, at the end of the period, with the number of lines it replaces. An error that occurs a thousand times a
 * minute therefore neither fills the disk nor hides other lines.
 */

import { memberOf } from "#src/base/member.ts";

/** Lines of one name that are written at once in a period. */
const WRITTEN = 10;
/** Length of a period, in milliseconds. */
const PERIOD_MS = 10_000;
/** Most names that are counted at the same time; lines of further names are written. */
const MOST = 1_000;

interface Period {
  lines: number;
  /** Writes the last suppressed line, with the number of suppressed lines. */
  last: ((repeated: number) => void) | undefined;
}

/** A function that calls `write` now or later. Lines of the same name are repetitions of each other. */
export function throttleRepeats(): (name: string, write: (repeated?: number) => void) => void {
  const periods = new Map<string, Period>();
  const begin = (name: string, first: number) => {
    const period: Period = { lines: first, last: undefined };
    periods.set(name, period);
    unref(setTimeout(() => {
      const { lines, last } = period;
      periods.delete(name);
      if (last === undefined) return;
      // In the next period already the first line is throttled.
      begin(name, WRITTEN);
      last(lines - WRITTEN);
    }, PERIOD_MS));
  };
  return (name, write) => {
    const period = periods.get(name);
    if (period === undefined) {
      if (periods.size < MOST) begin(name, 1);
      return write();
    }
    if (++period.lines > WRITTEN) period.last = write;
    else write();
  };
}

/** Lets the process exit before the timer fires, on Deno (a number) and on Node (an object). */
function unref(timer: unknown): void {
  if (typeof timer === "number") return Deno.unrefTimer(timer);
  const release = memberOf(timer, "unref");
  if (typeof release === "function") release.call(timer);
}
