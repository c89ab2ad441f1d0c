/** Long work of which a process does one piece at a time, in the order in which it was first asked for. */
import { inTime } from "#src/base/clock.ts";

interface Place {
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** When somebody last asked for it, by `performance.now()`. */
  asked: number;
  /** Settled when the work has ended; absent before it begins. */
  outcome?: Promise<void>;
}

export class SerialWork {
  private readonly places = new Map<string, Place>();
  private current: string | undefined;

  /** Work that nobody asked for in `forgottenMs` milliseconds is not begun, and aborted where it was. */
  constructor(private readonly forgottenMs = 60_000) {}

  /**
   * Puts work in line, unless one of that name is there, and waits for it at most `ms` milliseconds while it is under way. Gives whether it is
   * done; where it is not, it goes on as long as it is asked for again. Rejects, once, as the work does.
   */
  async advance(name: string, work: Place["work"], ms: number): Promise<boolean> {
    let place = this.places.get(name);
    if (place === undefined) this.places.set(name, place = { work, asked: 0 });
    place.asked = performance.now();
    this.next();
    if (place.outcome === undefined) return false;
    return await inTime(place.outcome.then(() => true), ms) ?? false;
  }

  /** Begins what is first in line where nothing is under way. */
  private next(): void {
    if (this.current !== undefined) return;
    for (const [name, place] of this.places) {
      if (performance.now() - place.asked > this.forgottenMs) {
        this.places.delete(name);
        continue;
      }
      if (place.outcome === undefined) return this.begin(name, place);
    }
  }

  private begin(name: string, place: Place): void {
    this.current = name;
    const forgotten = new AbortController();
    const watch = setInterval(() => {
      if (performance.now() - place.asked > this.forgottenMs) {
        forgotten.abort(new Error("nobody asked for this work any more"));
      }
    }, this.forgottenMs / 4);
    place.outcome = place.work(forgotten.signal).finally(() => {
      clearInterval(watch);
      this.current = undefined;
      this.places.delete(name);
      this.next();
    });
    // Where nobody waits when it fails, whoever asks next begins it again.
    place.outcome.catch(() => {});
  }
}
