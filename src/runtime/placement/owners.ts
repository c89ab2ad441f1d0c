/** The owners of partitions as a caller knows them: read at the start, when leases changed, and on demand. */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
import type { Store } from "#src/store/store.ts";

export interface Owners {
  /** Number of partitions; 0 before the first read. */
  count(): number;
  of(partition: number): string | undefined;
  /** Reads the owners again. Concurrent calls share one query, and queries are at least `REFRESH_PAUSE_MS` apart. */
  refresh(): Promise<void>;
  /** Calls `moved` when the partition gets another owner, until the returned function is called. */
  watch(partition: number, moved: () => void): () => void;
  close(): void;
}

/** Least time between two queries, and after a failed one, in milliseconds. */
const REFRESH_PAUSE_MS = 20;
const RETRY_MS = 250;
/** Timeout of a query, in milliseconds: the callers that wait for it have deadlines. */
const QUERY_MS = 1_000;

export function createOwners({ store, bus, log }: { store: Store; bus: Bus; log: Log }): Owners {
  let owners: readonly (string | null)[] = [];
  let next = -Infinity;
  let reading: Promise<void> | undefined;
  const watchers = new Map<number, Set<() => void>>();

  const read = async () => {
    const wait = next - performance.now();
    if (wait > 0) await sleep(wait);
    next = performance.now() + REFRESH_PAUSE_MS;
    try {
      const rows = await inTime(
        store.sql<{ owner: string | null }[]>`select owner from partition order by id`,
        QUERY_MS,
      );
      if (rows === undefined) throw new Error("the database does not respond");
      const before = owners;
      owners = rows.map(({ owner }) => owner);
      for (const [partition, waiting] of [...watchers]) {
        if (owners[partition] !== before[partition]) { for (const moved of [...waiting]) moved(); }
      }
    } catch (error) {
      next = performance.now() + RETRY_MS;
      log.warn("the placement could not be read", { reason: reason(error) });
    }
  };
  const refresh = () => reading ??= read().finally(() => reading = undefined);
  const unsubscribe = bus.subscribe(PLACEMENT, () => {
    // A query that is running may have read the old owners.
    if (reading === undefined) void refresh();
    else void reading.then(refresh);
  });

  return {
    count: () => owners.length,
    of: (partition) => owners[partition] ?? undefined,
    refresh,
    watch: (partition, moved) => {
      let waiting = watchers.get(partition);
      if (waiting === undefined) watchers.set(partition, waiting = new Set());
      waiting.add(moved);
      return () => {
        waiting.delete(moved);
        if (waiting.size === 0 && watchers.get(partition) === waiting) watchers.delete(partition);
      };
    },
    close: unsubscribe,
  };
}
