/** Counts events by minute over the last hour, in constant memory. */
const MINUTES = 60;
const MINUTE_MS = 60_000;

/** A minute since 1970, and a number of events in it. */
export type MinuteCount = readonly [minute: number, count: number];

export class MinuteCounter {
  private readonly counts = new Map<number, number>();

  /** `now` is a clock in milliseconds since 1970. */
  constructor(private readonly now: () => number) {}

  add(): void {
    const minute = Math.floor(this.now() / MINUTE_MS);
    this.counts.set(minute, (this.counts.get(minute) ?? 0) + 1);
    if (this.counts.size > MINUTES) this.expire(minute);
  }

  /** The minutes of the last hour that have events, oldest first. */
  read(): MinuteCount[] {
    this.expire(Math.floor(this.now() / MINUTE_MS));
    return [...this.counts].sort(([a], [b]) => a - b);
  }

  private expire(current: number): void {
    for (const minute of this.counts.keys()) if (minute <= current - MINUTES) this.counts.delete(minute);
  }
}
