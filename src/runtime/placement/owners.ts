/** Which worker owns which partition, as an asker knows it: read when the asker begins, when leases changed hands, and when asked to. */
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
import type { Store } from "#src/store/store.ts";

export interface Owners {
  /** How many partitions there are; 0 before they were first read. */
  count(): number;
  of(partition: number): string | undefined;
  /** Reads them again. Many ask together when an owner goes: one look serves them all, and there is not more than one in a moment. */
  refresh(): Promise<void>;
  /** Calls `moved` when the partition gets another owner, until the function that it gives is called. */
  watch(partition: number, moved: () => void): () => void;
  close(): void;
}

/** Least time between two looks, and after one that failed, in milliseconds. */
const APART_MS = 20;
const TROUBLE_MS = 250;
/** How long a look may take, in milliseconds: those who wait for it have deadlines. */
const PATIENCE_MS = 1_000;

export function createOwners({ store, bus, log }: { store: Store; bus: Bus; log: Log }): Owners {
  let owners: readonly (string | null)[] = [];
  let next = -Infinity;
  let looking: Promise<void> | undefined;
  const watchers = new Map<number, Set<() => void>>();

  const look = async () => {
    const wait = next - performance.now();
    if (wait > 0) await sleep(wait);
    next = performance.now() + APART_MS;
    try {
      const rows = await inTime(
        store.sql<{ owner: string | null }[]>`select owner from partition order by id`,
        PATIENCE_MS,
      );
      if (rows === undefined) throw new Error("the database does not answer");
      const before = owners;
      owners = rows.map(({ owner }) => owner);
      for (const [partition, waiting] of [...watchers]) {
        if (owners[partition] !== before[partition]) { for (const moved of [...waiting]) moved(); }
      }
    } catch (error) {
      next = performance.now() + TROUBLE_MS;
      log.warn("placement not read", { reason: reason(error) });
    }
  };
  const refresh = () => looking ??= look().finally(() => looking = undefined);
  const unsubscribe = bus.subscribe(PLACEMENT, () => {
    // A look under way may have been too early.
    if (looking === undefined) void refresh();
    else void looking.then(refresh);
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
