/**
 * The clock of the database: due times and timestamps use one clock for all processes, because the clock of a process
 * may be wrong.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/**
 * A clock that follows another one by readings. Between them it runs on a monotonic clock. A reading gives bounds for
 * the offset; the clock is only moved to the nearest bound, so that slow readings do not disturb it.
 */
export class FollowingClock implements Clock {
  private offset: number | undefined;

  /** `monotonic` is a monotonic clock in milliseconds. */
  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Applies a reading (ms since 1970) that was made between `sent` and `received` of the monotonic clock. */
  observe(reading: number, sent: number, received: number): void {
    const [least, most] = [reading - received, reading - sent];
    this.offset = Math.min(Math.max(this.offset ?? (least + most) / 2, least), most);
  }

  /** @throws Error before the first reading. */
  now(): number {
    if (this.offset === undefined) throw new Error("the clock has not been read yet");
    return Math.floor(this.monotonic() + this.offset);
  }
}

/** A clock that is read at an interval until it is stopped. */
export interface RunningClock extends Clock {
  stop(): void;
}

/** Interval of readings, in milliseconds: the drift of a machine in it is below a millisecond. */
const EVERY_MS = 2_000;

/**
 * Follows the clock of the database. Rejects when the first reading fails; later the clock runs on without the
 * database.
 */
export async function followDatabaseClock({ sql }: Store): Promise<RunningClock> {
  const clock = new FollowingClock();
  const read = async () => {
    const sent = performance.now();
    const row = await onlyRow(
      sql<{ now: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
    );
    clock.observe(row.now, sent, performance.now());
  };
  await read();
  const stopped = new AbortController();
  void (async () => {
    while (!stopped.signal.aborted) {
      await sleep(EVERY_MS, stopped.signal);
      // A failed reading is ignored: users of the database notice its absence themselves.
      if (!stopped.signal.aborted) await read().catch(() => {});
    }
  })();
  return { now: () => clock.now(), stop: () => stopped.abort() };
}
