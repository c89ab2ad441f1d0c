/** Waiting for the chain to change: for whoever follows it out of its table. */
import { sleep } from "#src/base/clock.ts";
import type { Wait } from "#src/devnet/serve/follow.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";

/** Waits for the devnet to ring, or for the poll (ms). A ring between two waits ends the next one at once. */
export function doorbell(bus: Pick<Bus, "subscribe">, pollMs: number): { wait: Wait; stop: () => void } {
  let rung = new AbortController();
  const stop = bus.subscribe(BLOCK_SUBJECT, () => rung.abort());
  return {
    stop,
    wait: async (signal) => {
      await sleep(pollMs, AbortSignal.any([rung.signal, signal]));
      rung = new AbortController();
    },
  };
}
