/**
 * The database's clock, for a process whose own clock may be wrong: what is due, and when something happened, goes by one clock for all
 * processes of a database.
 */
import { type Clock, sleep } from "#src/base/clock.ts";
import type { Store } from "#src/store/store.ts";

/**
 * A clock that follows another one by readings of it. It runs on a monotonic clock between them; a reading moves it no further than its own
 * bounds require, so that slow readings do not shake it.
 */
export class FollowingClock implements Clock {
  private offset: number | undefined;

  /** `monotonic` gives milliseconds since any fixed moment. */
  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Takes a reading in milliseconds since 1970, made at some moment between `asked` and `answered` of the monotonic clock. */
  observe(reading: number, asked: number, answered: number): void {
    const [least, most] = [reading - answered, reading - asked];
    this.offset = Math.min(Math.max(this.offset ?? (least + most) / 2, least), most);
  }

  /** @throws Error before the first reading. */
  now(): number {
    if (this.offset === undefined) throw new Error("the clock was never read");
    return Math.floor(this.monotonic() + this.offset);
  }
}

/** A clock that is read again and again until it is stopped. */
export interface RunningClock extends Clock {
  stop(): void;
}

/** Time between two readings, in milliseconds: a machine drifts by less than a millisecond in it. */
const EVERY_MS = 2_000;

/** Follows the clock of a store's database. Rejects where the first reading fails; while the database is away the clock goes on. */
export async function followDatabaseClock({ sql }: Store): Promise<RunningClock> {
  const clock = new FollowingClock();
  const read = async () => {
    const asked = performance.now();
    const [row] = await sql<{ now: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    clock.observe(row!.now, asked, performance.now());
  };
  await read();
  const stopped = new AbortController();
  void (async () => {
    while (!stopped.signal.aborted) {
      await sleep(EVERY_MS, stopped.signal);
      // Who needs the database finds out for itself that it is away.
      if (!stopped.signal.aborted) await read().catch(() => {});
    }
  })();
  return { now: () => clock.now(), stop: () => stopped.abort() };
}
