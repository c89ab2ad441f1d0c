/**
 * Shows whether other processes are alive: each answers pings under a name that it uses for one run only. The result is
 * only a hint whether waiting for a process is worthwhile: a live process can be unreachable over the bus.
 */
import { sleep } from "#src/base/clock.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { aliveSubject, MISSED_OVER_MS, MISSED_PINGS, ping } from "#src/runtime/placement/failureDetector.ts";

export interface Presence {
  /** Name of this run of the process, unique. */
  readonly name: string;
  /** Whether no process answers under a name: `MISSED_PINGS` pings over `MISSED_OVER_MS` find no subscriber. */
  isGone(name: string): Promise<boolean>;
  close(): void;
}

/** Answers pings for this process until closed. */
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
