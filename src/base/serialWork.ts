/** Long work of which a process does one piece at a time, in the order in which it was first asked for. */
import { inTime } from "#src/base/clock.ts";

/**
 * Does something long. `signal` aborts when the last request for it has lapsed; `pass`, called once the part is done that must not be done for several
 * at a time, lets the next one begin.
 */
export type LongWork = (signal: AbortSignal, pass: () => void) => Promise<void>;

interface Place {
  readonly work: LongWork;
  /** When somebody last asked for it, by `performance.now()`. */
  asked: number;
  begun: boolean;
  /** Settled when the work has ended; absent before it begins. */
  outcome?: Promise<void>;
}

export class SerialWork {
  private readonly places = new Map<string, Place>();
  private current: string | undefined;

  /** Work without a request for `forgottenMs` milliseconds is not begun; if it runs, it is aborted. */
  constructor(private readonly forgottenMs = 60_000) {}

  /**
   * Puts work in line, unless one of that name is there, and waits for it at most `ms` milliseconds while it is under way. Gives whether it is
   * done; where it is not, it goes on as long as it is asked for again. Rejects, once, as the work does.
   */
  async advance(name: string, work: LongWork, ms: number): Promise<boolean> {
    let place = this.places.get(name);
    if (place === undefined) this.places.set(name, place = { work, asked: 0, begun: false });
    place.asked = performance.now();
    this.next();
    if (place.outcome === undefined) return false;
    return await inTime(place.outcome.then(() => true), ms) ?? false;
  }

  /** Begins what is first in line where nothing is under way. */
  private next(): void {
    if (this.current !== undefined) return;
    for (const [name, place] of this.places) {
      if (place.begun) continue;
      if (performance.now() - place.asked <= this.forgottenMs) return this.begin(name, place);
      this.places.delete(name);
    }
  }

  private begin(name: string, place: Place): void {
    this.current = name;
    place.begun = true;
    const forgotten = new AbortController();
    const watch = setInterval(() => {
      if (performance.now() - place.asked > this.forgottenMs) {
        forgotten.abort(new Error("nobody asked for this work any more"));
      }
    }, this.forgottenMs / 4);
    const pass = () => {
      if (this.current !== name) return;
      this.current = undefined;
      this.next();
    };
    place.outcome = place.work(forgotten.signal, pass).finally(() => {
      clearInterval(watch);
      this.places.delete(name);
      pass();
    });
    // A failure without a waiting request is dropped: the next request begins the work again.
    place.outcome.catch(() => {});
  }
}
