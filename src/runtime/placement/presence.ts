/**
 * Whether other processes are still there: each answers under a name that it has for one life. Nobody may conclude more from that than whom
 * it is worth to wait for: the bus can lose somebody who lives.
 */
import { sleep } from "#src/base/clock.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { aliveSubject, MISSED_OVER_MS, MISSED_PINGS, ping } from "#src/runtime/placement/failureDetector.ts";

export interface Presence {
  /** What this process is called until it ends; no other ever is. */
  readonly name: string;
  /** Whether nobody answers under a name, asked several times over a quarter of a second. */
  isGone(name: string): Promise<boolean>;
  close(): void;
}

/** Answers on a bus that this process is there. */
export function announcePresence(bus: Bus): Presence {
  const name = crypto.randomUUID();
  const unsubscribe = bus.subscribe(aliveSubject(name), (_, respond) => respond?.(null));
  return {
    name,
    isGone: async (other) => {
      for (let missed = 1; other !== name && await ping(bus, other) === "gone"; missed++) {
        if (missed === MISSED_PINGS) return true;
        await sleep(MISSED_OVER_MS / (MISSED_PINGS - 1));
      }
      return false;
    },
    close: unsubscribe,
  };
}
