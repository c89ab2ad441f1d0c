/** Work in many small steps that holds nobody up. */
import { setImmediate } from "node:timers";

/** Lets everything that waits for the loop have its turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(() => resolve()));
}

/** Breathes after every `ms` milliseconds of work. */
export class EventLoopPacer {
  private since = performance.now();
  constructor(private readonly ms = 5) {}

  async step(): Promise<void> {
    if (performance.now() - this.since < this.ms) return;
    await yieldToEventLoop();
    this.since = performance.now();
  }
}
