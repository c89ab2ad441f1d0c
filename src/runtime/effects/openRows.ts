/** Rows of open work: effects, reminders and unread inputs of entities that are not paused. */
import type { Json } from "#src/base/json.ts";
import type { TraceRef } from "#src/base/trace.ts";
import type { SetReminder } from "#src/runtime/turns/fold.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** An effect to run. */
export interface OpenEffect {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly n: number;
  readonly name: string;
  readonly input: Json;
  /** Number of failed attempts so far. */
  readonly attempts: number;
  /** The key of its limit, where its kind limits it. */
  readonly key?: string;
  /** Whether it has a slot of that key. */
  readonly held?: true;
  /** The span of the turn that requested it, when that turn was just committed. */
  readonly trace?: TraceRef | undefined;
}

/** A reminder and its entity. */
export interface Reminder extends SetReminder {
  readonly entity: EntityRef;
  readonly name: string;
}

interface ReminderRow extends EntityRef {
  readonly name: string;
  readonly n: bigint;
  readonly at: Date;
  readonly event: Event;
}

/** Decodes a row of `reminder`. */
const reminderOf = ({ kind, id, name, n, at, event }: ReminderRow): Reminder => ({
  entity: { kind, id },
  name,
  n: Number(n),
  at: at.getTime(),
  event,
});

/** Reminders of some partitions that are due at `until` (ms since 1970), the earliest first. */
export async function readDueReminders(
  { sql }: Store,
  partitions: readonly number[],
  until: number,
  most: number,
): Promise<Reminder[]> {
  const rows = await sql<ReminderRow[]>`
    select kind, id, name, n, at, event from reminder r
    where partition = any(${[...partitions]}::int[]) and at <= ${new Date(until)}
      and not exists (select 1 from actor a where a.kind = r.kind and a.id = r.id and a.paused)
    order by at limit ${most}`;
  return rows.map(reminderOf);
}

/** The reminder of an entity by name; `undefined` when there is none. */
export async function readReminder({ sql }: Store, entity: EntityRef, name: string): Promise<Reminder | undefined> {
  const rows = await sql<ReminderRow[]>`
    select kind, id, name, n, at, event from reminder
    where kind = ${entity.kind} and id = ${entity.id} and name = ${name}`;
  return rows.map(reminderOf)[0];
}

interface EffectRow extends EntityRef {
  readonly partition: number;
  readonly n: bigint;
  readonly name: string;
  readonly input: Json;
  readonly attempts: number;
}

/** Open effects of some partitions that are due, the earliest first, without those in the queues of limits. */
export async function readDueEffects(
  { sql }: Store,
  partitions: readonly number[],
  most: number,
): Promise<OpenEffect[]> {
  const rows = await sql<EffectRow[]>`
    select kind, id, partition, n, name, input, attempts from effect f
    where not done and not queued and partition = any(${[...partitions]}::int[])
      and next_attempt <= now()
      and not exists (select 1 from actor a where a.kind = f.kind and a.id = f.id and a.paused)
    order by next_attempt limit ${most}`;
  return rows.map(({ kind, id, n, ...rest }) => ({ entity: { kind, id }, n: Number(n), ...rest }));
}

/**
 * Sets the next attempt of an effect in `ms` milliseconds, unless another worker owns the partition: after a failure
 * with its `error`, after a slice without one. A failure frees its slot. Failures are counted by the minute.
 */
export async function postponeEffect(
  { sql }: Store,
  { entity, n, partition }: OpenEffect,
  epoch: number,
  ms: number,
  error: string | null,
): Promise<void> {
  await sql`
    with postponed as (
      update effect set attempts = case when ${error}::text is null then 0 else attempts + 1 end, error = ${error},
        next_attempt = now() + ${ms} * interval '1 ms'
      where kind = ${entity.kind} and id = ${entity.id} and n = ${n} and not done
        and exists (select 1 from partition where id = ${partition} and epoch = ${epoch})
      returning kind, id, n, partition),
      freed as (update effect_queue q set epoch = null from postponed p
        where q.kind = p.kind and q.id = p.id and q.n = p.n and ${error}::text is not null)
    insert into effect_failure as f (minute, partition, failures)
    select floor(extract(epoch from now()) / 60)::int, partition, 1 from postponed where ${error}::text is not null
    on conflict (minute, partition) do update set failures = f.failures + 1`;
}

/** Some entities of some partitions that have unread inputs. */
export async function readEntitiesWithInputs(
  { sql }: Store,
  partitions: readonly number[],
  most: number,
): Promise<EntityRef[]> {
  const rows = await sql<EntityRef[]>`
    select distinct kind, id from input_log i
    where not read and partition = any(${[...partitions]}::int[])
      and not exists (select 1 from actor a where a.kind = i.kind and a.id = i.id and a.paused)
    limit ${most}`;
  return rows.map(({ kind, id }) => ({ kind, id }));
}

/** The first unread inputs of an entity, in their order. */
export async function readInputs(
  { sql }: Store,
  { kind, id }: EntityRef,
  partition: number,
  most: number,
): Promise<{ readonly seq: number; readonly event: Event }[]> {
  const rows = await sql<{ seq: bigint; event: Event }[]>`
    select seq, event from input_log
    where not read and partition = ${partition} and kind = ${kind} and id = ${id} order by seq limit ${most}`;
  return rows.map(({ seq, event }) => ({ seq: Number(seq), event }));
}
