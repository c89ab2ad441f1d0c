/** Reading of long answers that lets other work on the event loop run. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";

/** The results of a function for each element, in their order; yields to the event loop after every few milliseconds. */
export async function mapInSteps<T, R>(all: readonly T[], read: (one: T, index: number) => R): Promise<R[]> {
  const pace = new EventLoopPacer();
  const results: R[] = [];
  for (const [index, one] of all.entries()) {
    if (pace.isDue) await pace.step();
    results.push(read(one, index));
  }
  return results;
}
