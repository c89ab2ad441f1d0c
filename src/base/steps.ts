/**
 * Long work in steps: a generator that stops between them. It is written once, and its caller chooses whether it runs at
 * once or lets other work on the event loop run in between.
 */
import type { EventLoopPacer } from "#src/base/eventLoop.ts";

/** Work that stops between its steps, and its result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Items that `each` handles in one step at most: a few milliseconds of work that takes microseconds for an item. */
export const STEP_ITEMS = 500;

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the steps, and yields to the event loop between them when the pacer says so. */
export async function inTurns<T>(steps: Steps<T>, pacer: EventLoopPacer): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (pacer.isDue) await pacer.step();
  }
}

/** Calls `act` with every item, and stops after every `STEP_ITEMS`. What is iterated over must not change meanwhile. */
export function* each<T>(items: Iterable<T>, act: (item: T) => void): Steps<void> {
  let handled = 0;
  for (const item of items) {
    act(item);
    if (++handled % STEP_ITEMS === 0) yield;
  }
}
