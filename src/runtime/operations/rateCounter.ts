/** Rate of events over the last minute, counted by the second in constant memory. */
const SECONDS = 60;

export class RateCounter {
  private readonly counts = new Array<number>(SECONDS).fill(0);
  private readonly began: number;
  private last: number;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.began = now();
    this.last = Math.floor(this.began / 1_000);
  }

  add(count: number): void {
    this.expire();
    const second = this.last % SECONDS;
    this.counts[second] = (this.counts[second] ?? 0) + count;
  }

  /** Events per second, over the last minute or since the start. */
  perSecond(): number {
    this.expire();
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    // The current second is not complete.
    const span = Math.min(this.now() - this.began, (SECONDS - 1) * 1_000 + this.now() % 1_000);
    return total === 0 ? 0 : total / (Math.max(span, 1_000) / 1_000);
  }

  /** Clears the counts older than a minute. */
  private expire(): void {
    const second = Math.floor(this.now() / 1_000);
    for (let past = Math.max(this.last + 1, second - SECONDS + 1); past <= second; past++) {
      this.counts[past % SECONDS] = 0;
    }
    this.last = Math.max(this.last, second);
  }
}
