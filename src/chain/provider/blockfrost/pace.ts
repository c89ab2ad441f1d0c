/** Requests no faster than a service allows: a steady rate, and a store of requests that were not used before. */
import { sleep } from "#src/base/clock.ts";

export interface Rate {
  /** Requests a second, in the long run. */
  readonly perSecond: number;
  /** Requests that may be made at once after a quiet time. */
  readonly burst: number;
}

/** Lets through what a rate allows, in the order in which it was asked. */
export class Pace {
  private readonly interval: number;
  private readonly slack: number;
  /** When the store would be full again, in ms. */
  private full = 0;

  constructor({ perSecond, burst }: Rate) {
    this.interval = 1_000 / perSecond;
    this.slack = (burst - 1) * this.interval;
  }

  /** Waits for the turn of one more request, or until the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const begins = Math.max(this.full, now);
    this.full = begins + this.interval;
    const wait = begins - now - this.slack;
    if (wait > 0) await sleep(wait, signal);
  }
}

/** Does work for each item, `most` at a time; gives the results in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const one = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, one));
  return results;
}
