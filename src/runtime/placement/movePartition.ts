/** Moves a partition to another worker at an operator's request. */
import { sleep } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { outdatedQuery } from "#src/runtime/placement/leaseRows.ts";
import { PLACEMENT } from "#src/runtime/placement/failureDetector.ts";
import type { Store } from "#src/store/store.ts";

export type MoveCode = "partition_unknown" | "worker_unknown" | "no_other_worker" | "not_moved";

/** Timeout of a move, after which it is cancelled, in milliseconds. */
const MOVE_MS = 5_000;

/**
 * Moves a partition to the worker `to`, by default to the worker with the fewest partitions besides its owner. Resolves
 * once that worker owns it. The partition stays there as long as it fits into that worker's share: the worker returns a
 * partition that was not moved instead. If `to` already owns the partition, it keeps it in the same way.
 */
export async function movePartition(
  { store, bus }: { readonly store: Store; readonly bus: Bus },
  id: number,
  to?: string,
): Promise<Result<{ partition: number; owner: string }, Failure<MoveCode>>> {
  const [partition] = await store.sql<{ owner: string | null }[]>`select owner from partition where id = ${id}`;
  if (partition === undefined) return fail("partition_unknown", `No partition ${id} exists.`);
  // A live worker has an unexpired lease, or it holds nothing yet and was seen recently.
  const workers = await store.sql<{ id: string }[]>`
    select w.id from worker w left join partition p on p.owner = w.id
    where not w.draining and w.suspect is null and not ${outdatedQuery(store.sql, store.sql`w.kinds`)}
    group by w.id having max(p.expires) > now() or w.seen > now() - interval '2 seconds'
    order by count(p.id), w.id`;
  const owner = to ?? workers.find((worker) => worker.id !== partition.owner)?.id;
  if (owner === undefined) return fail("no_other_worker", "No other worker is available for the partition.");
  if (!workers.some((worker) => worker.id === owner)) {
    return fail("worker_unknown", `No worker ${owner} is available for the partition.`);
  }
  await store.sql`update partition set wanted = ${owner} where id = ${id}`;
  bus.publish(PLACEMENT, { moved: id });
  for (const until = performance.now() + MOVE_MS; performance.now() < until; await sleep(20)) {
    const [row] = await store.sql<{ owner: string | null }[]>`select owner from partition where id = ${id}`;
    if (row?.owner === owner) return ok({ partition: id, owner });
  }
  await store.sql`
    update partition set wanted = null where id = ${id} and wanted = ${owner} and owner is distinct from ${owner}`;
  return fail("not_moved", `Partition ${id} was not handed over within ${MOVE_MS / 1_000} seconds.`);
}
