/** The orderly end of a process: what started last stops first. */
import { type Log, reason } from "#src/base/log.ts";

/** Stops one part of a process. */
export type Stop = () => Promise<void>;

/**
 * Calls all stops, the last one first, and empties the list. A stop that fails is logged; the others are called all the
 * same.
 */
export async function stopAll(stops: Stop[], log: Log): Promise<void> {
  for (const stop of stops.splice(0).reverse()) {
    try {
      await stop();
    } catch (error) {
      log.error("a component did not stop cleanly", { reason: reason(error) });
    }
  }
}
