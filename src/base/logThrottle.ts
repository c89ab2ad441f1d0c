/**
 * Lines that come again and again. The first of a stretch of time are written as they come; of the others the last is written when
 * the stretch ends, with how many it stands for. So what fails a thousand times a minute fills no disk and hides no other line.
 */

/** Lines of one name that are written in a stretch, and how long one lasts, in milliseconds. */
const WRITTEN = 10;
const STRETCH_MS = 10_000;
/** Names that are counted at the same time; lines of further ones are written. */
const MOST = 1_000;

interface Stretch {
  lines: number;
  /** Writes the last suppressed line, with the number of suppressed lines. */
  last: ((repeated: number) => void) | undefined;
}

/** A function that writes a line now or later, by the name under which it counts as a repetition. */
export function throttleRepeats(): (name: string, write: (repeated?: number) => void) => void {
  const stretches = new Map<string, Stretch>();
  const begin = (name: string) => {
    stretches.set(name, { lines: 1, last: undefined });
    const timer = setTimeout(() => {
      const { lines, last } = stretches.get(name)!;
      stretches.delete(name);
      if (last === undefined) return;
      // A storm goes on with its first line held back as well.
      begin(name);
      stretches.get(name)!.lines = WRITTEN;
      last(lines - WRITTEN);
    }, STRETCH_MS) as unknown as { unref?: () => void } | number;
    unref(timer);
  };
  return (name, write) => {
    const stretch = stretches.get(name);
    if (stretch === undefined) {
      if (stretches.size < MOST) begin(name);
      return write();
    }
    if (++stretch.lines > WRITTEN) stretch.last = write;
    else write();
  };
}

/** Lets a process end before the timer, whichever kind of timers the runtime has. */
function unref(timer: { unref?: () => void } | number): void {
  if (typeof timer === "number") (globalThis as { Deno?: { unrefTimer(id: number): void } }).Deno?.unrefTimer(timer);
  else timer.unref?.();
}
