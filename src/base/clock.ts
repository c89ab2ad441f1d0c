/** A source of wall-clock time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** A clock that also runs something later. */
export interface Timers extends Clock {
  /** Calls `run` after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Timers = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** A clock for tests, which moves only by `advance`. */
export class VirtualClock implements Timers {
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  constructor(private time: number) {}

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** When the next timer is due; `Infinity` without one. */
  next(): number {
    return Math.min(Infinity, ...[...this.#timers].map(({ at }) => at));
  }

  /** Moves the clock forward by `ms` milliseconds, then runs the timers that are due, the earliest first. */
  advance(ms: number): void {
    this.time += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.time).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }
}

/**
 * Waits `ms` milliseconds, or until one of the signals aborts; never rejects. It leaves nothing on the others: a loop that
 * is woken often would else collect timers and listeners on the signal that ends it.
 */
export function sleep(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some((signal) => signal?.aborted)) return resolve();
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) signal?.addEventListener("abort", done, { once: true });
  });
}

/**
 * Waits for a promise at most `ms` milliseconds, then resolves to `undefined`. Rejects if the promise rejects before.
 */
export async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), Math.max(0, ms)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
