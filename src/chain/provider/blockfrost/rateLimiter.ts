/** Rate limit: a steady rate with a burst. */
import { sleep } from "#src/base/clock.ts";

export interface Rate {
  /** Requests per second in the long run. */
  readonly perSecond: number;
  /** Requests that may be made at once after a pause. */
  readonly burst: number;
}

/** Lets requests through at a rate, in order. */
export class RateLimiter {
  private readonly interval: number;
  private readonly slack: number;
  /** Time in ms when the full burst would be available again. */
  private full = 0;

  constructor({ perSecond, burst }: Rate) {
    this.interval = 1_000 / perSecond;
    this.slack = (burst - 1) * this.interval;
  }

  /** Waits until one more request is allowed, or the signal aborts. */
  async take(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const begins = Math.max(this.full, now);
    this.full = begins + this.interval;
    const wait = begins - now - this.slack;
    if (wait > 0) await sleep(wait, signal);
  }
}
