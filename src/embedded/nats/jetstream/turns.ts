/** Shares of the process's time and of the database for consumers, so that none delays the others. */
import { yieldToEventLoop } from "#src/base/eventLoop.ts";
import { sleep } from "#src/base/clock.ts";

/** How long one slice may run, in milliseconds. */
export const SLICE_MS = 3;

/** Runs short work in the order in which it was added, with a pause after about `SLICE_MS` of it. */
export class Turns {
  private readonly queue: (() => void)[] = [];
  private serving = false;

  /** A pause of 0 ms only lets other work run. */
  constructor(private readonly pauseMs: number) {}

  /** Runs some work in its turn. */
  async run<T>(work: () => T): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.queue.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (!this.serving) void this.serve();
    });
  }

  private async serve(): Promise<void> {
    this.serving = true;
    let since = performance.now();
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) {
      next();
      if (performance.now() - since < SLICE_MS) continue;
      await (this.pauseMs > 0 ? sleep(this.pauseMs) : yieldToEventLoop());
      since = performance.now();
    }
    this.serving = false;
  }
}

/** Lets a number of jobs run at a time; others wait in their order. */
export class Gate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.most) await new Promise<void>((resolve) => void this.waiting.push(resolve));
    else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}
