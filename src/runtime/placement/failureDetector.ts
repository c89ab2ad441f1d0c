/**
 * Detects workers that do not respond. A caller whose requests to a worker find no subscriber, `MISSED_PINGS` times
 * over `MISSED_OVER_MS`, marks the worker suspect in its row. The other workers ping it themselves, and one that finds
 * no subscriber either may take its partitions before their leases end. That is safe, because only the epoch decides
 * whose write counts.
 *
 * A suspect worker that is alive receives its own ping over the bus and removes the mark. Until then it takes no
 * partitions, because no caller could reach it.
 */
import { type Log, reason } from "#src/base/log.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Subject of the message that says that workers or leases changed. */
export const PLACEMENT = "arbor.placement";

/** Subject on which a worker, or the holder of a lease, answers pings. */
export function aliveSubject(name: string): string {
  return `arbor.alive.${name}`;
}

/**
 * Requests without a subscriber after which a worker is marked, and the least time over which they are spread, in
 * milliseconds: a client that lost its connection is back within that time.
 */
export const MISSED_PINGS = 3;
export const MISSED_OVER_MS = 250;
/** Timeout of a ping, in milliseconds. */
const PING_MS = 250;
/** How long a worker with open requests may send no reply at all before it is pinged, in milliseconds. */
const SILENT_MS = 100;

/** A caller's view of which workers respond. */
export interface FailureDetector {
  /** Call when a request to a worker found no subscriber. */
  missed(worker: string): void;
  /** Call when a worker replied. */
  answered(worker: string): void;
  /**
   * Calls `gone` when a worker with an open request is silent and has no subscriber, until the returned function is
   * called.
   */
  watch(worker: string, gone: () => void): () => void;
}

/** The open requests to a worker. */
interface Watched {
  readonly gone: Set<() => void>;
  /** Whether its first request was sent, or a reply came, since the last check. */
  heard: boolean;
  pinging: boolean;
}

export function createFailureDetector({ store, bus, log }: { store: Store; bus: Bus; log: Log }): FailureDetector {
  const misses = new Map<string, { count: number; since: number }>();
  const mark = async (worker: string) => {
    const marked = await store.sql`
      update worker set suspect = now() where id = ${worker} and suspect is null and not draining returning 1`;
    if (marked.length === 0) return;
    log.warn("a worker does not respond and is marked as suspect", { suspect: worker });
    bus.publish(PLACEMENT, { suspect: worker });
  };
  const watched = new Map<string, Watched>();
  let timer: ReturnType<typeof setInterval> | undefined;
  /** Finds workers that were killed with the only open requests: no further request would find out. */
  const check = () => {
    for (const [worker, waiting] of watched) {
      if (waiting.gone.size === 0) watched.delete(worker);
      else if (!waiting.heard && !waiting.pinging) {
        waiting.pinging = true;
        ping(bus, worker).then((is) => {
          if (is === "gone") { for (const gone of [...waiting.gone]) gone(); }
        }).catch((error) => log.warn("a worker could not be pinged", { worker, reason: reason(error) }))
          .finally(() => waiting.pinging = false);
      }
      waiting.heard = false;
    }
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    watch: (worker, gone) => {
      let waiting = watched.get(worker);
      if (waiting === undefined) watched.set(worker, waiting = { gone: new Set(), heard: true, pinging: false });
      const { gone: all } = waiting;
      if (all.size === 0) waiting.heard = true;
      all.add(gone);
      timer ??= setInterval(check, SILENT_MS);
      return () => void all.delete(gone);
    },
    missed: (worker) => {
      const now = performance.now();
      const miss = misses.get(worker);
      if (miss === undefined) {
        misses.set(worker, { count: 1, since: now });
        return;
      }
      if (++miss.count < MISSED_PINGS || now - miss.since < MISSED_OVER_MS) return;
      misses.delete(worker);
      mark(worker).catch((error) =>
        log.warn("a worker could not be marked as suspect", { suspect: worker, reason: reason(error) })
      );
    },
    answered: (worker) => {
      if (misses.size > 0) misses.delete(worker);
      const waiting = watched.get(worker);
      if (waiting !== undefined) waiting.heard = true;
    },
  };
}

/**
 * Pings a name: `there`; `gone` when there is no subscriber; `silent` when a subscriber does not reply or the bus is
 * unreachable.
 */
export async function ping(bus: Bus, name: string): Promise<"there" | "gone" | "silent"> {
  try {
    await bus.request(aliveSubject(name), null, PING_MS);
    return "there";
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    return error.code === "no_responders" ? "gone" : "silent";
  }
}
