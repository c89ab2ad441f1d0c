/** Notifications that the chain has changed, for followers of its table. */
import { sleep } from "#src/base/clock.ts";
import type { WaitForChange } from "#src/devnet/serve/follow.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";

/**
 * Waits for a notification of the devnet or for the poll interval (ms). A notification between two waits ends the next
 * one at once.
 */
export function blockSignal(bus: Pick<Bus, "subscribe">, pollMs: number): { wait: WaitForChange; stop: () => void } {
  let signalled = new AbortController();
  const stop = bus.subscribe(BLOCK_SUBJECT, () => signalled.abort());
  return {
    stop,
    wait: async (signal) => {
      await sleep(pollMs, AbortSignal.any([signalled.signal, signal]));
      signalled = new AbortController();
    },
  };
}
