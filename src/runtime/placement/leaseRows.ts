/** Reads and writes the rows of workers and of leases, those of partitions and named ones, for one worker. */
import { toJson } from "#src/base/json.ts";
import type { Fragment, Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

/** A partition and the epoch under which it was taken. */
export type HeldPartition = readonly [id: number, epoch: number];

/** The leases and workers as one statement read them. */
export interface LeaseView {
  /** Partitions whose leases were renewed; `wanted`: the owner that an operator chose. */
  readonly kept: { readonly id: number; readonly wanted: string | null }[] | null;
  /** Whether this worker is marked suspect. */
  readonly suspect: boolean;
  /** Whether workers with later versions of its kinds took partitions. */
  readonly outdated: boolean;
  /** The other workers that renewed within the time of a lease and are not draining. */
  readonly others:
    | { readonly worker: string; readonly partitions: number; readonly suspect: boolean; readonly outdated: boolean }[]
    | null;
  /** Number of partitions that are this worker's by their rows, those included that it does not know of. */
  readonly mine: number;
  /** Number of partitions that an operator moved to this worker and it does not hold yet. */
  readonly called: number;
  /** Milliseconds until the next lease of another worker expires. */
  readonly free_in: number | null;
}

/** Versions of kinds, by name. */
export type KindVersions = { readonly [kind: string]: number };

/** Whether the kinds of a worker are older than those with which partitions were taken; a kind that is missing is not. */
export function outdatedQuery(sql: Store["sql"], kinds: Fragment): Fragment {
  return sql`(${kinds} is null or exists
    (select 1 from kind_version v where (${kinds}->>v.kind)::int < v.version))`;
}

/** Updates this worker's row, renews its leases and reads the other workers, in one statement. */
export async function renewLeases(
  { sql }: Store,
  { worker, leaseMs, kinds, held }: {
    worker: string;
    leaseMs: number;
    kinds: KindVersions;
    held: readonly HeldPartition[];
  },
): Promise<LeaseView> {
  const mine = sql`${toJson(kinds)}::text::jsonb`;
  const ttl = `${leaseMs} ms`;
  return await onlyRow(sql<LeaseView[]>`
    with me as (insert into worker (id, seen, kinds) values (${worker}, now(), ${mine})
        on conflict (id) do update set seen = excluded.seen, kinds = excluded.kinds
        returning suspect is not null as suspect),
      kept as (update partition p set expires = now() + ${ttl}::interval
        from unnest(${held.map(([id]) => id)}::int[], ${held.map(([, epoch]) => epoch)}::bigint[]) as x(id, epoch)
        where p.id = x.id and p.epoch = x.epoch and p.owner = ${worker} returning p.id, p.wanted),
      others as (select id as worker, suspect is not null as suspect,
          (select count(*)::int from partition p where p.owner = w.id) as partitions, ${
    outdatedQuery(sql, sql`w.kinds`)
  } as outdated
        from worker w where seen > now() - ${ttl}::interval and id <> ${worker} and not draining)
    select (select suspect from me) as suspect, ${
    outdatedQuery(sql, mine)
  } as outdated, (select json_agg(kept) from kept) as kept,
      (select json_agg(others) from others) as others,
      (select count(*)::int from partition where owner = ${worker}) as mine,
      (select count(*)::int from partition where wanted = ${worker} and owner is distinct from ${worker}) as called,
      (select (extract(epoch from min(expires) - now()) * 1000)::float8 from partition
        where owner <> ${worker} and expires >= now()) as free_in`);
}

/**
 * Takes at most `most` partitions that are free, expired or held by workers in `gone`. `which`: those that an operator
 * moved here (`wanted`), or those that were not moved to another worker (`free`). Takes none where partitions were taken
 * with later versions of the kinds: a turn may have written what this worker cannot read.
 */
export async function takeLeases(
  { sql }: Store,
  { worker, leaseMs, kinds, most, which, held, others, gone }: {
    worker: string;
    leaseMs: number;
    kinds: KindVersions;
    most: number;
    which: "wanted" | "free";
    held: readonly number[];
    others: readonly string[];
    gone: readonly string[];
  },
): Promise<readonly { readonly id: number; readonly epoch: bigint; readonly wanted: string | null }[]> {
  const mine = sql`${toJson(kinds)}::text::jsonb`;
  // Locked rows are skipped, so as not to wait for a worker that may still be writing.
  return await sql<{ id: number; epoch: bigint; wanted: string | null }[]>`
    with taken as (update partition p set epoch = p.epoch + 1, checked = p.epoch + 1, owner = ${worker},
      expires = now() + ${`${leaseMs} ms`}::interval, wanted = case when p.wanted = ${worker} then p.wanted end
    from (select id from partition
      where not ${outdatedQuery(sql, mine)}
        and (owner is null or expires < now() or owner = ${worker} or owner = any(${[...gone]}::text[]))
        and id <> all(${[...held]}::int[])
        and case when ${which === "wanted"} then wanted = ${worker}
          else wanted is null or wanted <> all(${[...others]}::text[]) end
      order by id limit ${most} for update skip locked) free
    where p.id = free.id returning p.id, p.epoch, p.wanted),
      versions as (insert into kind_version as v (kind, version)
        select key, value::int from jsonb_each_text(${mine}) where exists (select 1 from taken)
        on conflict (kind) do update set version = excluded.version where v.version < excluded.version)
    select id, epoch, wanted from taken`;
}

/** Returns those of the leases that this worker still holds; with `ends` also deletes its row. */
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

/** Removes the suspect mark of this worker. */
export async function clearSuspicion({ sql }: Store, worker: string): Promise<void> {
  await sql`update worker set suspect = null where id = ${worker}`;
}

/** Marks this worker as draining: the others leave no share for it. */
export async function startDraining({ sql }: Store, worker: string): Promise<void> {
  await sql`update worker set draining = true where id = ${worker}`;
}

/** A named lease and who takes or has it. */
interface NamedLease {
  readonly name: string;
  readonly owner: string;
}

/**
 * Takes a named lease that is free, expired or held at the epoch `gone` (-1: none). `epoch` and `left`: the lease as it
 * was before, and the milliseconds until it expires.
 */
export async function takeLease(
  { sql }: Store,
  { name, owner, ttlMs, gone }: NamedLease & { ttlMs: number; gone: number },
): Promise<{ readonly taken: bigint | null; readonly epoch: bigint | null; readonly left: number | null }> {
  return await onlyRow(sql<{ taken: bigint | null; epoch: bigint | null; left: number | null }[]>`
    with taken as (insert into lease as l (name, epoch, checked, owner, expires)
      values (${name}, 1, 1, ${owner}, now() + ${ttlMs} * interval '1 ms')
      on conflict (name) do update
        set epoch = l.epoch + 1, checked = l.epoch + 1, owner = excluded.owner, expires = excluded.expires
      where l.owner is null or l.expires < now() or l.epoch = ${gone}
      returning epoch)
    select (select epoch from taken) as taken, l.epoch,
      case when isfinite(l.expires) then (extract(epoch from l.expires - now()) * 1000)::float8 end as left
    from (select 1) one left join lease l on l.name = ${name}`);
}

/** Renews a named lease; resolves to whether it is still held. */
export async function renewLease(
  { sql }: Store,
  { name, owner, ttlMs, epoch }: NamedLease & { ttlMs: number; epoch: number },
): Promise<boolean> {
  const rows = await sql`
    update lease set expires = now() + ${ttlMs} * interval '1 ms'
    where name = ${name} and epoch = ${epoch} and owner = ${owner} returning 1`;
  return rows.length === 1;
}

/** Returns a named lease that is still held. */
export async function returnLease(
  { sql }: Store,
  { name, owner, epoch }: NamedLease & { epoch: number },
): Promise<void> {
  await sql`
    update lease set owner = null, expires = '-infinity'
    where name = ${name} and epoch = ${epoch} and owner = ${owner}`;
}
