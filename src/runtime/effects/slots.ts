/** The rows of limited effects: `effect_queue`, where they wait in order, and `effect_limit`, one for each key. */
import type { Json } from "#src/base/json.ts";
import type { OpenEffect } from "#src/runtime/effects/openRows.ts";
import type { EffectLimit } from "#src/runtime/types.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";

/** Effects that share a limit: those of one name with the same key. */
export interface LimitKey {
  readonly kind: string;
  readonly name: string;
  readonly key: string;
}

/** What a taking of slots gave. */
export interface TakenSlots {
  /** Effects of this worker that have a slot and are due, also those that had it before. */
  readonly effects: readonly OpenEffect[];
  /** How long those that got a slot now have waited, in milliseconds. */
  readonly waitedMs: readonly number[];
  /** Whether another taking of the same key came first: nothing was taken. */
  readonly conflict: boolean;
  /** Whether effects of other workers are next and may start. */
  readonly others: boolean;
  /** Milliseconds until the rate lets the next one start, where one waits for it. */
  readonly againMs: number | undefined;
}

interface EffectRow {
  readonly id: string;
  readonly n: number;
  readonly partition: number;
  readonly input: Json;
  readonly attempts: number;
  readonly waited: number | null;
}

/**
 * Takes the free slots of a key for the first effects in its queue that are due, as far as they are this worker's: those
 * of other workers keep theirs free. One statement: it counts in its snapshot, and takes only if no other taking of the
 * key was committed since that snapshot (`version`).
 */
export async function takeSlots(
  { sql }: Store,
  worker: string,
  { kind, name, key }: LimitKey,
  { atOnce, rate }: EffectLimit,
  most: number,
): Promise<TakenSlots> {
  const per = sql`${rate?.perMs ?? 0}::float8 * interval '1 ms'`;
  const same = sql`q.kind = ${kind} and q.name = ${name} and q.key = ${key}`;
  const mine = sql`coalesce(p.owner = ${worker} and p.expires > now(), false)`;
  const due = sql`exists (select 1 from effect f
      where f.kind = q.kind and f.id = q.id and f.n = q.n and not f.done and f.next_attempt <= now())
    and not exists (select 1 from actor a where a.kind = q.kind and a.id = q.id and a.paused)`;
  const row = await onlyRow(sql<{
    effects: EffectRow[] | null;
    conflict: boolean;
    others: boolean;
    again: number | null;
  }[]>`
    with l as materialized (select version, starts from effect_limit q where ${same}),
      started as materialized (
        select q.id, q.n, q.seq, ${mine} as mine, q.epoch = p.epoch and p.expires > now() as holds, ${due} as due
        from effect_queue q join partition p on p.id = q.partition where ${same} and q.epoch is not null),
      recent as materialized (select s from l, unnest(l.starts) s where s > now() - ${per}),
      rest as materialized (select greatest(0, ${
    rate?.count ?? most
  }::int - (select count(*) from recent))::int as rate,
        greatest(0, ${atOnce ?? most}::int - ${
    atOnce === undefined ? sql`0` : sql`(select count(*) from started where holds)`
  })::int
          as slots),
      room as materialized (select least(${most}::int, rate, slots) as n, rate from rest),
      line as materialized (
        (select id, n, seq, mine from started where not holds and due)
        union all
        (select q.id, q.n, q.seq, ${mine} from effect_queue q join partition p on p.id = q.partition
          where ${same} and q.epoch is null and ${due} order by q.seq limit (select n + 1 from room))),
      head as materialized (select * from line order by seq limit (select n from room)),
      locked as (insert into effect_limit as x (kind, name, key, version, starts, until)
        select ${kind}, ${name}, ${key}, coalesce((select version from l), 0) + 1,
          (select coalesce(array_agg(s), '{}') from (select s from recent union all select now() from head where mine) y(s)
            where ${rate !== undefined}), now() + ${per}
        where exists (select 1 from head where mine)
        on conflict (kind, name, key) do update
          set version = excluded.version, starts = excluded.starts, until = excluded.until
          where x.version = excluded.version - 1
        returning 1),
      taken as (update effect_queue q set epoch = p.epoch, started = now() from head h, partition p
        where h.mine and exists (select 1 from locked) and q.kind = ${kind} and q.id = h.id and q.n = h.n
          and p.id = q.partition and p.owner = ${worker}
        returning q.id, q.n, (extract(epoch from now() - q.created) * 1000)::float8 as waited)
    select
      (select json_agg(json_build_object('id', f.id, 'n', f.n, 'partition', f.partition, 'input', f.input,
          'attempts', f.attempts, 'waited', x.waited))
        from (select id, n, waited from taken union all select id, n, null from started where holds and mine and due) x
        join effect f on f.kind = ${kind} and f.id = x.id and f.n = x.n) as effects,
      exists (select 1 from head where mine) and not exists (select 1 from locked) as conflict,
      exists (select 1 from head where not mine) as others,
      (select case when (select count(*) from line) > r.n and r.rate <= r.n then
          (extract(epoch from coalesce((select min(s) from recent), now()) + ${per} - now()) * 1000)::float8 end
        from room r) as again`);
  const found = row.effects ?? [];
  return {
    effects: found.map(({ id, n, partition, input, attempts }) => (
      { entity: { kind, id }, partition, n, name, input, attempts, key, held: true }
    )),
    waitedMs: found.flatMap(({ waited }) => waited ?? []),
    conflict: row.conflict,
    others: row.others,
    againMs: rate === undefined ? undefined : row.again ?? undefined,
  };
}

/** Puts an open effect into the queue of its key: its kind had no limit when a turn requested it. */
export async function enqueueEffect(
  { sql }: Store,
  { entity, n, partition }: OpenEffect,
  epoch: number,
  key: string,
): Promise<void> {
  await sql`
    with queued as (
      update effect set queued = true
      where kind = ${entity.kind} and id = ${entity.id} and n = ${n} and not done and not queued
        and exists (select 1 from partition where id = ${partition} and epoch = ${epoch})
      returning kind, id, n, partition, name)
    insert into effect_queue (kind, id, n, partition, name, key)
    select kind, id, n, partition, name, ${key} from queued on conflict do nothing`;
}

/** The keys of which some partitions have effects in the queue. */
export async function readQueuedKeys({ sql }: Store, partitions: readonly number[]): Promise<LimitKey[]> {
  const rows = await sql<LimitKey[]>`
    select distinct kind, name, key from effect_queue where partition = any(${[...partitions]}::int[])`;
  return rows.map(({ kind, name, key }) => ({ kind, name, key }));
}
