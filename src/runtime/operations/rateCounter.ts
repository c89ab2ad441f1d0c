/** How often something happened within the last minute, by the second: a count in constant memory. */
const SECONDS = 60;

export class RateCounter {
  private readonly counts = new Array<number>(SECONDS).fill(0);
  private readonly began: number;
  private last: number;

  /** `now` gives milliseconds that only grow. */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.began = now();
    this.last = Math.floor(this.began / 1_000);
  }

  add(count: number): void {
    this.move();
    this.counts[this.last % SECONDS]! += count;
  }

  /** Times a second, over the last minute or since the beginning. */
  perSecond(): number {
    this.move();
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    // The second that runs is not over yet, and the one before the sixty is gone.
    const span = Math.min(this.now() - this.began, (SECONDS - 1) * 1_000 + this.now() % 1_000);
    return total === 0 ? 0 : total / (Math.max(span, 1_000) / 1_000);
  }

  /** Forgets what is older than a minute. */
  private move(): void {
    const second = Math.floor(this.now() / 1_000);
    for (let past = Math.max(this.last + 1, second - SECONDS + 1); past <= second; past++) {
      this.counts[past % SECONDS] = 0;
    }
    this.last = Math.max(this.last, second);
  }
}
