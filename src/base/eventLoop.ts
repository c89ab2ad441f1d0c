/** Long work in small steps that lets other work on the event loop run. */
import { setImmediate } from "node:timers";

/** Yields to the event loop: everything that waits for it runs first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(() => resolve()));
}

/** Yields to the event loop after every `ms` milliseconds of work. */
export class EventLoopPacer {
  private since = performance.now();
  constructor(private readonly ms = 5) {}

  /** Whether the next step yields. */
  get isDue(): boolean {
    return performance.now() - this.since >= this.ms;
  }

  /** To be awaited between two steps of the work. */
  async step(): Promise<void> {
    if (!this.isDue) return;
    await yieldToEventLoop();
    this.since = performance.now();
  }
}
