/**
 * Reads of actors for operators: lists by kind and state, one actor in full, its history. Lists use an index, page by
 * page.
 */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import {
  attributesIn,
  attributesQuery,
  type AttributeValues,
  type StoredAttributes,
} from "#src/runtime/operations/attributes.ts";
import type { TransitionRow } from "#src/runtime/events/transition.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import { stateName } from "#src/runtime/turns/machine.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

/** Number of actors of a kind, in total and by state. */
export interface KindCount {
  readonly kind: string;
  readonly actors: number;
  readonly paused: number;
  readonly states: readonly { readonly state: string; readonly actors: number }[];
}

/** Counts of all kinds with actors, by name. */
export async function countActors(store: Store): Promise<KindCount[]> {
  const [states, paused] = await Promise.all([
    store.sql<{ kind: string; state: string; actors: number }[]>`
      select kind, state, count(*)::int as actors from actor group by kind, state order by kind, state`,
    store.sql<{ kind: string; actors: number }[]>`
      select kind, count(*)::int as actors from actor where paused group by kind`,
  ]);
  const kinds = new Map<string, { state: string; actors: number }[]>();
  for (const { kind, ...count } of states) kinds.set(kind, [...(kinds.get(kind) ?? []), count]);
  return [...kinds].map(([kind, counts]) => ({
    kind,
    actors: counts.reduce((sum, { actors }) => sum + actors, 0),
    paused: paused.find((one) => one.kind === kind)?.actors ?? 0,
    states: counts,
  }));
}

/** Which of some actors cannot reply now: they are paused, or no worker owns their partition. */
export async function readUnavailable(
  sql: Queries,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`${unavailableQuery(sql, kind, ids)}`;
  return new Set(rows.map(({ id }) => id));
}

/** The query of `readUnavailable`, for `readTogether`: rows with an `id`. */
export function unavailableQuery(sql: Queries, kind: string, ids: readonly string[]): Fragment {
  // one by one: before version 17 PostgreSQL may read all rows of the kind for `any`
  return sql`select a.id from unnest(${sql.array([...ids])}::text[]) of(id)
    cross join lateral (
      select x.id, x.partition, x.paused from actor x where x.kind = ${kind} and x.id = of.id offset 0) a
    join partition p on p.id = a.partition
    where a.paused or p.owner is null or p.expires < now()`;
}

/** An actor in a list. */
export interface ActorSummary {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly paused: boolean;
  /** When its last turn was written. */
  readonly changed: Date;
  readonly partition: number;
  /** The worker that owns its partition. */
  readonly owner: string | null;
}

export interface ActorFilter {
  readonly kind?: string | undefined;
  readonly state?: string | undefined;
  readonly paused?: boolean | undefined;
  /** Prefix of the id. */
  readonly prefix?: string | undefined;
  /** With an open effect that has failed, or a dead letter; or without. */
  readonly failing?: boolean | undefined;
  /** Changed at this time or later, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Changed before this time. */
  readonly before?: number | undefined;
}

/** A place in a list by time: microseconds since 1970, and the actor. */
export interface ChangedPlace extends EntityRef {
  readonly at: string;
}

/** The actors that pass a filter, ordered by kind and id, at most `limit` after `after`. */
export async function listActors(
  store: Store,
  filter: ActorFilter,
  after: EntityRef | undefined,
  limit: number,
): Promise<ActorSummary[]> {
  const { sql } = store;
  const kinds = filter.kind === undefined ? await kindsFrom(store, after?.kind ?? "") : [filter.kind];
  const actors: ActorSummary[] = [];
  for (const kind of kinds) {
    if (actors.length >= limit) break;
    if (after !== undefined && kind < after.kind) continue;
    const rows = await sql<(Omit<ActorSummary, "version"> & { version: bigint })[]>`
      select a.kind, a.id, a.state, a.version, a.paused, a.changed, a.partition, p.owner
      from (select * from actor where kind = ${kind} ${conditions(sql, filter)}
          ${after?.kind === kind ? sql`and id > ${after.id}` : sql``}
        order by id limit ${limit - actors.length}) a
      left join partition p on p.id = a.partition order by a.id`;
    actors.push(...rows.map((row) => ({ ...row, version: Number(row.version) })));
  }
  return actors;
}

/** The actors that pass a filter, ordered by the time of their last turn, at most `limit` behind `after`. Reads all that pass. */
export async function listActorsByChange(
  { sql }: Store,
  filter: ActorFilter,
  { after, limit, newestFirst }: {
    readonly after: ChangedPlace | undefined;
    readonly limit: number;
    readonly newestFirst: boolean;
  },
): Promise<(ActorSummary & { readonly at: string })[]> {
  const order = newestFirst ? sql`desc` : sql`asc`;
  const behind = newestFirst ? sql`<` : sql`>`;
  const time = (at: string) => sql`timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond'`;
  const rows = await sql<(Omit<ActorSummary, "version"> & { version: bigint; at: string })[]>`
    select a.kind, a.id, a.state, a.version, a.paused, a.changed, a.partition, p.owner,
      (extract(epoch from a.changed) * 1000000)::bigint::text as at
    from (select * from actor where true
        ${filter.kind === undefined ? sql`` : sql`and kind = ${filter.kind}`} ${conditions(sql, filter)}
        ${
    after === undefined ? sql`` : sql`and (changed, kind, id) ${behind} (${time(after.at)}, ${after.kind}, ${after.id})`
  }
      order by changed ${order}, kind ${order}, id ${order} limit ${limit}) a
    left join partition p on p.id = a.partition order by a.changed ${order}, a.kind ${order}, a.id ${order}`;
  return rows.map((row) => ({ ...row, version: Number(row.version) }));
}

/** Conditions of a filter on rows of `actor`, but for the kind. */
function conditions(sql: Queries, { state, paused, prefix, failing, since, before }: ActorFilter): Fragment {
  const failed = sql`(kind, id) in (
    select kind, id from effect where not done and not queued and attempts > 0
    union all select f.kind, f.id from effect_queue q join effect f using (kind, id, n) where f.attempts > 0
    union all select kind collate "C", id collate "C" from dead_letter)`;
  return sql`
    ${state === undefined ? sql`` : sql`and state = ${state}`}
    ${paused === undefined ? sql`` : paused ? sql`and paused` : sql`and not paused`}
    ${prefix === undefined ? sql`` : sql`and id >= ${prefix} and id <= ${prefix + LAST}`}
    ${failing === undefined ? sql`` : failing ? sql`and ${failed}` : sql`and not ${failed}`}
    ${since === undefined ? sql`` : sql`and changed >= ${new Date(since)}`}
    ${before === undefined ? sql`` : sql`and changed < ${new Date(before)}`}`;
}

/** Sorts after every continuation of a prefix. */
const LAST = "\u{10FFFF}";

/** The kinds with actors, from `from` on: one index lookup for each, not a scan. */
async function kindsFrom(store: Store, from: string): Promise<string[]> {
  const rows = await store.sql<{ kind: string }[]>`
    with recursive k as (
      (select kind from actor where kind >= ${from} order by kind limit 1)
      union all select (select a.kind from actor a where a.kind > k.kind order by a.kind limit 1) from k where k.kind is not null)
    select kind from k where kind is not null`;
  return rows.map(({ kind }) => kind);
}

/** One actor in full. */
export interface ActorDetail {
  readonly machineVersion: number;
  /** XState's state value, and its name. */
  readonly value: Json;
  readonly state: string;
  /** Whether the machine is in a final state. */
  readonly done: boolean;
  readonly context: Json;
  readonly version: number;
  readonly inputSeq: number;
  readonly paused: boolean;
  readonly changed: Date;
  readonly partition: number;
  readonly owner: string | null;
  readonly epoch: number;
  readonly reminders: readonly { readonly name: string; readonly at: Date; readonly event: string }[];
  /** Open effects, oldest first, at most `MOST`. */
  readonly effects: readonly {
    readonly n: number;
    readonly name: string;
    readonly attempts: number;
    readonly nextAttempt: Date;
    readonly error: string | null;
  }[];
  readonly unreadInputs: number;
  /** Its search attributes by name; a time in milliseconds since 1970. */
  readonly attributes: AttributeValues;
}

/** What is read of a snapshot. */
type Snapshot = { value: Json; context: Json; status: string };
const json = z.custom<Json>((value) => value !== undefined);
const snapshotSchema = z.looseObject({ value: json, context: json, status: z.string() });

/** Most effects and reminders of one actor. */
const MOST = 200;

/**
 * Reads one actor; `undefined` when no event was ever applied to it. With `machine` a snapshot of an older version is
 * shown as this one reads it.
 */
export async function inspectActor(
  store: Store,
  { kind, id }: EntityRef,
  machine?: Pick<ActorKind, "version" | "migrate">,
): Promise<ActorDetail | undefined> {
  const { sql } = store;
  const actor = sql<{
    machine_version: number;
    snapshot: Snapshot;
    version: bigint;
    input_seq: bigint;
    paused: boolean;
    changed: Date;
    partition: number;
    owner: string | null;
    epoch: bigint | null;
    unread: number;
    attributes: StoredAttributes | null;
  }[]>`
    select a.machine_version, a.snapshot, a.version, a.input_seq, a.paused, a.changed, a.partition, p.owner, p.epoch,
      (select count(*)::int from input_log i
        where not i.read and i.partition = a.partition and i.kind = a.kind and i.id = a.id) as unread,
      ${attributesQuery(sql)} as attributes
    from actor a left join partition p on p.id = a.partition where a.kind = ${kind} and a.id = ${id}`;
  const [[row], reminders, effects] = await Promise.all([
    actor,
    sql<{ name: string; at: Date; event: string }[]>`
      select name, at, event->>'type' as event from reminder where kind = ${kind} and id = ${id} order by at limit ${MOST}`,
    sql<{ n: bigint; name: string; attempts: number; next_attempt: Date; error: string | null }[]>`
      select n, name, attempts, next_attempt, error from effect
      where kind = ${kind} and id = ${id} and not done order by n limit ${MOST}`,
  ]);
  if (row === undefined) return undefined;
  const { value, context, status } = machine?.migrate !== undefined && row.machine_version < machine.version
    ? snapshotSchema.parse(machine.migrate(row.snapshot, row.machine_version))
    : row.snapshot;
  return {
    machineVersion: row.machine_version,
    value,
    state: stateName(value),
    done: status === "done",
    context,
    version: Number(row.version),
    inputSeq: Number(row.input_seq),
    paused: row.paused,
    changed: row.changed,
    partition: row.partition,
    owner: row.owner,
    epoch: Number(row.epoch ?? 0),
    reminders,
    effects: effects.map(({ n, next_attempt: nextAttempt, ...rest }) => ({ n: Number(n), nextAttempt, ...rest })),
    unreadInputs: row.unread,
    attributes: attributesIn(row.attributes),
  };
}

/** A transition in an actor's history. */
export interface HistoryEntry {
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly cause: string;
  readonly at: Date;
  /** The machine's event, not for readers: what they may see of it is its content. */
  readonly body: Json;
}

/** An actor's transitions below the version `before`, newest first, at most `limit`. */
export async function readHistory(
  store: Store,
  { kind, id }: EntityRef,
  before: number | undefined,
  limit: number,
): Promise<HistoryEntry[]> {
  const rows = await store.sql<TransitionRow[]>`
    select kind, id, version, from_state, to_state, type, cause, at, body from outbox
    where kind = ${kind} and id = ${id} and version < ${before ?? Number.MAX_SAFE_INTEGER}
    order by version desc limit ${limit}`;
  return rows.map(({ version, from_state: from, to_state: to, type: event, cause, at, body }) => (
    { version: Number(version), from, to, event, cause, at, body }
  ));
}

/** Which of some actors exist, as `<kind>/<id>`. */
export async function readKnownActors({ sql }: Store, actors: readonly EntityRef[]): Promise<ReadonlySet<string>> {
  const rows = actors.length === 0 ? [] : await sql<EntityRef[]>`
    select a.kind, a.id from unnest(${sql.array(actors.map(({ kind }) => kind))}::text[],
      ${sql.array(actors.map(({ id }) => id))}::text[]) as x(kind, id) join actor a on a.kind = x.kind and a.id = x.id`;
  return new Set(rows.map(entityKey));
}

/** The names of some effects of an actor, by number; those whose rows were deleted are missing. */
export async function readEffectNames(
  { sql }: Store,
  { kind, id }: EntityRef,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = numbers.length === 0 ? [] : await sql<{ n: bigint; name: string }[]>`
    select n, name from effect where kind = ${kind} and id = ${id} and n = any(${sql.array([...numbers])}::bigint[])`;
  return new Map(rows.map(({ n, name }) => [Number(n), name]));
}

/** Whether an actor is paused; `undefined` when it has no row. */
export async function readPaused(store: Store, { kind, id }: EntityRef): Promise<{ paused: boolean } | undefined> {
  const [row] = await store.sql<{ paused: boolean }[]>`select paused from actor where kind = ${kind} and id = ${id}`;
  return row;
}

/** Whether an actor has a reminder of a name. */
export async function hasReminder(store: Store, { kind, id }: EntityRef, name: string): Promise<boolean> {
  const rows = await store.sql`
    select 1 from reminder where kind = ${kind} and id = ${id} and name = ${name}`;
  return rows.length > 0;
}
