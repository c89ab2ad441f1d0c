/**
 * Workers that nobody hears any more. An asker whose questions to a worker meet no listener, three times over a moment, marks
 * it suspect by a column of its row; the others try its subject themselves, and whoever meets no listener either may take its
 * partitions before its lease ends. That is safe because only the epoch decides whose write counts.
 *
 * A worker that is marked and lives hears its own voice over the bus and takes the mark away; until then it takes no partitions,
 * because nobody could ask it about them.
 */
import { type Log, reason } from "#src/base/log.ts";
import { type Bus, BusError } from "#src/runtime/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Subject of the message that says that workers or leases changed. */
export const PLACEMENT = "arbor.placement";

/** Where a worker, or the holder of a lease, says that it is there. */
export function aliveSubject(name: string): string {
  return `arbor.alive.${name}`;
}

/** Questions without a listener before a worker is marked, and the time over which they are spread, in milliseconds: a client that
 * has lost its connection is back within that time. */
export const MISSED = 3;
export const OVER_MS = 250;
/** How long whoever is there may take to say so, in milliseconds. */
const PING_MS = 250;

/** What an asker keeps in mind about workers that did not listen. */
export interface Suspicion {
  /** A question to a worker met no listener. */
  missed(worker: string): void;
  /** A worker answered something. */
  answered(worker: string): void;
}

export function createSuspicion({ store, bus, log }: { store: Store; bus: Bus; log: Log }): Suspicion {
  const misses = new Map<string, { count: number; since: number }>();
  const mark = async (worker: string) => {
    const marked = await store.sql`
      update worker set suspect = now() where id = ${worker} and suspect is null and not draining returning 1`;
    if (marked.length === 0) return;
    log.warn("a worker does not listen and is suspect", { suspect: worker });
    bus.publish(PLACEMENT, { suspect: worker });
  };
  return {
    missed: (worker) => {
      const now = performance.now();
      const miss = misses.get(worker);
      if (miss === undefined) {
        misses.set(worker, { count: 1, since: now });
        return;
      }
      if (++miss.count < MISSED || now - miss.since < OVER_MS) return;
      misses.delete(worker);
      mark(worker).catch((error) => log.warn("a worker was not marked", { suspect: worker, reason: reason(error) }));
    },
    answered: (worker) => {
      if (misses.size > 0) misses.delete(worker);
    },
  };
}

/** `there`, `gone` where nobody listens, `silent` where somebody listens and says nothing, or the bus is away. */
export async function ping(bus: Bus, name: string): Promise<"there" | "gone" | "silent"> {
  try {
    await bus.request(aliveSubject(name), null, PING_MS);
    return "there";
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return error.code === "no_responders" ? "gone" : "silent";
  }
}
