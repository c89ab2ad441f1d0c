/** The queues of limited effects, for operators. */
import { MOST } from "#src/runtime/operations/counts.ts";
import type { Store } from "#src/store/store.ts";

/** The queue of one key of a limited effect. */
export interface LimitQueue {
  readonly kind: string;
  readonly effect: string;
  readonly key: string;
  /** Number of effects that wait, those whose next attempt is not due and those of paused actors included. */
  readonly waiting: number;
  /** When the first of them was requested. */
  readonly since: Date | null;
  /** Ids of the first actors that wait, in the order of the queue. */
  readonly next: readonly string[];
  /** Effects that have a slot, and the workers that run them. */
  readonly running: readonly RunningEffect[];
}

interface RunningEffect {
  readonly id: string;
  readonly n: number;
  readonly since: Date;
  readonly worker: string;
}

/** Effects of a queue that an answer names. */
const NAMED = 20;

/** The queues with effects, of a kind or of all kinds: the longest first. Counts stop at `MOST`. */
export async function readLimitQueues(
  { sql }: Store,
  { kind, limit }: { readonly kind?: string | undefined; readonly limit: number },
): Promise<LimitQueue[]> {
  type Running = Omit<RunningEffect, "since"> & { readonly since: string };
  const rows = await sql<
    (Omit<LimitQueue, "next" | "running"> & { next: string[] | null; running: Running[] | null })[]
  >`
    select kind, name as effect, key, count(*) filter (where not holds)::int as waiting,
      min(created) filter (where not holds) as since,
      to_json((array_agg(id order by seq) filter (where not holds))[1:${NAMED}]) as next,
      to_json((array_agg(json_build_object('id', id, 'n', n, 'since', started, 'worker', owner) order by seq)
        filter (where holds))[1:${NAMED}]) as running
    from (select q.*, p.owner, coalesce(q.epoch = p.epoch and p.expires > now(), false) as holds
      from effect_queue q left join partition p on p.id = q.partition
      ${kind === undefined ? sql`` : sql`where q.kind = ${kind}`} limit ${MOST}) x
    group by kind, name, key order by waiting desc, kind, name, key limit ${limit}`;
  return rows.map(({ next, running, ...row }) => ({
    ...row,
    next: next ?? [],
    running: (running ?? []).map((one) => ({ ...one, since: new Date(one.since) })),
  }));
}
