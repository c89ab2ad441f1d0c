/**
 * Workers that nobody hears any more. An asker whose questions to a worker meet no listener, three times over a moment, marks
 * it suspect by a column of its row; the others try its subject themselves, and whoever meets no listener either may take its
 * partitions before its lease ends. That is safe because only the epoch decides whose write counts.
 *
 * A worker that is marked and lives hears its own voice over the bus and takes the mark away; until then it takes no partitions,
 * because nobody could ask it about them.
 */
import { type Log, reason } from "#src/base/log.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Subject of the message that says that workers or leases changed. */
export const PLACEMENT = "arbor.placement";

/** Where a worker, or the holder of a lease, says that it is there. */
export function aliveSubject(name: string): string {
  return `arbor.alive.${name}`;
}

/** Questions without a listener before a worker is marked, and the time over which they are spread, in milliseconds: a client that
 * has lost its connection is back within that time. */
export const MISSED_PINGS = 3;
export const MISSED_OVER_MS = 250;
/** How long whoever is there may take to say so, in milliseconds. */
const PING_MS = 250;
/** How long a worker that was asked may say nothing to anybody before it is asked whether it is there, in milliseconds. */
const SILENT_MS = 100;

/** What an asker keeps in mind about workers that did not listen. */
export interface FailureDetector {
  /** A question to a worker met no listener. */
  missed(worker: string): void;
  /** A worker answered something. */
  answered(worker: string): void;
  /** Has `gone` called, once, when an asked worker is silent and nobody listens at it, until the function that it gives is called. */
  watch(worker: string, gone: () => void): () => void;
}

/** Those who wait for a worker. */
interface Waiting {
  readonly gone: Set<() => void>;
  /** Whether it was asked first, or answered, since the last look. */
  heard: boolean;
  pinging: boolean;
}

export function createFailureDetector({ store, bus, log }: { store: Store; bus: Bus; log: Log }): FailureDetector {
  const misses = new Map<string, { count: number; since: number }>();
  const mark = async (worker: string) => {
    const marked = await store.sql`
      update worker set suspect = now() where id = ${worker} and suspect is null and not draining returning 1`;
    if (marked.length === 0) return;
    log.warn("a worker does not listen and is suspect", { suspect: worker });
    bus.publish(PLACEMENT, { suspect: worker });
  };
  const asked = new Map<string, Waiting>();
  let timer: ReturnType<typeof setInterval> | undefined;
  /** Whoever was killed with questions in hand answers none; and there may be no others that meet no listener. */
  const look = () => {
    for (const [worker, waiting] of asked) {
      if (waiting.gone.size === 0) asked.delete(worker);
      else if (!waiting.heard && !waiting.pinging) {
        waiting.pinging = true;
        ping(bus, worker).then((is) => {
          if (is === "gone") { for (const gone of [...waiting.gone]) gone(); }
        }).catch((error) => log.warn("a worker was not asked", { worker, reason: reason(error) }))
          .finally(() => waiting.pinging = false);
      }
      waiting.heard = false;
    }
    if (asked.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    watch: (worker, gone) => {
      let waiting = asked.get(worker);
      if (waiting === undefined) asked.set(worker, waiting = { gone: new Set(), heard: true, pinging: false });
      const { gone: all } = waiting;
      if (all.size === 0) waiting.heard = true;
      all.add(gone);
      timer ??= setInterval(look, SILENT_MS);
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
      mark(worker).catch((error) => log.warn("a worker was not marked", { suspect: worker, reason: reason(error) }));
    },
    answered: (worker) => {
      if (misses.size > 0) misses.delete(worker);
      const waiting = asked.get(worker);
      if (waiting !== undefined) waiting.heard = true;
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
