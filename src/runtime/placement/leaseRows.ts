/** The rows of workers and of the leases of partitions, as one worker reads and writes them. */
import type { Store } from "#src/store/store.ts";

/** A partition under the epoch at which it was taken. */
export type HeldPartition = readonly [id: number, epoch: number];

/** What a look at the rows gave. */
export interface LeaseView {
  /** Partitions whose leases were renewed, and who is to have each, where somebody said so. */
  readonly kept: { readonly id: number; readonly wanted: string | null }[] | null;
  /** Whether askers got no answer from this worker. */
  readonly suspect: boolean;
  /** The other workers that were seen within the time of a lease and do not drain. */
  readonly others: { readonly worker: string; readonly partitions: number; readonly suspect: boolean }[] | null;
  /** How many partitions this worker does not hold and is wanted to. */
  readonly called: number;
  /** Milliseconds until a lease of somebody else runs out. */
  readonly free_in: number | null;
}

/** Says that this worker lives, renews what it holds, and looks at the others; in one commit. */
export async function renewLeases(
  { sql }: Store,
  { worker, leaseMs, held }: { worker: string; leaseMs: number; held: readonly HeldPartition[] },
): Promise<LeaseView> {
  const ttl = `${leaseMs} ms`;
  const [row] = await sql<LeaseView[]>`
    with me as (insert into worker (id, seen) values (${worker}, now())
        on conflict (id) do update set seen = excluded.seen returning suspect is not null as suspect),
      kept as (update partition p set expires = now() + ${ttl}::interval
        from unnest(${held.map(([id]) => id)}::int[], ${held.map(([, epoch]) => epoch)}::bigint[]) as x(id, epoch)
        where p.id = x.id and p.epoch = x.epoch and p.owner = ${worker} returning p.id, p.wanted),
      others as (select id as worker, suspect is not null as suspect,
          (select count(*)::int from partition p where p.owner = w.id) as partitions
        from worker w where seen > now() - ${ttl}::interval and id <> ${worker} and not draining)
    select (select suspect from me) as suspect, (select json_agg(kept) from kept) as kept,
      (select json_agg(others) from others) as others,
      (select count(*)::int from partition where wanted = ${worker} and owner is distinct from ${worker}) as called,
      (select (extract(epoch from min(expires) - now()) * 1000)::float8 from partition
        where owner <> ${worker} and expires >= now()) as free_in`;
  return row!;
}

/**
 * Takes at most so many partitions that are free, have run out or belong to those that are gone: those that are wanted here, or
 * whatever none of the others is to have.
 */
export async function takeLeases(
  { sql }: Store,
  { worker, leaseMs, most, which, held, others, gone }: {
    worker: string;
    leaseMs: number;
    most: number;
    which: "wanted" | "free";
    held: readonly number[];
    others: readonly string[];
    gone: readonly string[];
  },
): Promise<readonly { readonly id: number; readonly epoch: bigint; readonly wanted: string | null }[]> {
  // Skipping rows that a statement holds means never to wait for a worker that may still be writing.
  return await sql<{ id: number; epoch: bigint; wanted: string | null }[]>`
    update partition p set epoch = p.epoch + 1, owner = ${worker}, expires = now() + ${`${leaseMs} ms`}::interval,
      wanted = case when p.wanted = ${worker} then p.wanted end
    from (select id from partition
      where (owner is null or expires < now() or owner = ${worker} or owner = any(${[...gone]}::text[]))
        and id <> all(${[...held]}::int[])
        and case when ${which === "wanted"} then wanted = ${worker}
          else wanted is null or wanted <> all(${[...others]}::text[]) end
      order by id limit ${most} for update skip locked) free
    where p.id = free.id returning p.id, p.epoch, p.wanted`;
}

/** Gives leases back, those that are still this worker's; `ends` takes the worker out of the others' sight with them. */
export async function returnLeases(
  { sql }: Store,
  { worker, held, ends = false }: { worker: string; held: readonly HeldPartition[]; ends?: boolean },
): Promise<void> {
  await sql`
    with gone as (delete from worker where id = ${worker} and ${ends})
    update partition p set owner = null, expires = '-infinity', wanted = nullif(p.wanted, ${worker})
    from unnest(${held.map(([id]) => id)}::int[], ${held.map(([, epoch]) => epoch)}::bigint[]) as x(id, epoch)
    where p.id = x.id and p.epoch = x.epoch and p.owner = ${worker}`;
}

/** Notes that askers hear this worker again. */
export async function clearSuspicion({ sql }: Store, worker: string): Promise<void> {
  await sql`update worker set suspect = null where id = ${worker}`;
}

/** Has the others leave no share for this worker. */
export async function startDraining({ sql }: Store, worker: string): Promise<void> {
  await sql`update worker set draining = true where id = ${worker}`;
}
