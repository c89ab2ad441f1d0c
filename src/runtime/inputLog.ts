/**
 * The ordered input log: external events for entities, applied in the order of their rows. The component that records
 * such an event appends the rows in the same transaction and then notifies the workers; the turns of the entities read
 * the rows. A lost notification delays a row until the next sweep and loses nothing.
 */
import { toJson } from "#src/base/json.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { entityHash } from "#src/runtime/placement/partitions.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";

/** An event for one entity. */
export interface InputRow {
  readonly entity: EntityRef;
  readonly event: Event;
  /** For an event that is repeated as long as it holds: skipped while the entity has an unread event of this type. */
  readonly oneUnread?: true;
}

const ROWS = 1_000;

/**
 * Appends events in their order, within the caller's transaction. The partitions must exist (`createPartitions`).
 *
 * There must be one writer for an entity at a time, so that the order of rows is the order of commits: the holder of a
 * lease, or a transaction that holds a row lock until its commit which the lease holder also takes before it appends.
 *
 * @example
 * ```ts
 * const entity = { kind: "door", id: "front" };
 * await store.sql.begin(async (sql) => {
 *   if ((await fence(sql, "follower", epoch)).length === 0) return;
 *   await appendInputs(sql, [{ entity, event: { type: "SEEN", at: 7 } }]);
 * });
 * notifyInputs(bus, [entity]);
 * ```
 */
export async function appendInputs(sql: Queries, rows: readonly InputRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += ROWS) {
    const some = rows.slice(i, i + ROWS);
    await sql`
      insert into input_log (kind, id, partition, event)
      select kind, id, (hash % (select count(*) from partition))::int, event::jsonb
      from unnest(${some.map(({ entity }) => entity.kind)}::text[], ${some.map(({ entity }) => entity.id)}::text[],
        ${some.map(({ entity }) => entityHash(entity))}::bigint[], ${some.map(({ event }) => toJson(event))}::text[],
        ${some.map(({ oneUnread }) => oneUnread === true ? 1 : 0)}::int[])
        with ordinality as x(kind, id, hash, event, one_unread, place)
      where one_unread = 0 or not exists (select 1 from input_log i
        where not i.read and i.partition = (hash % (select count(*) from partition))::int and i.kind = x.kind and i.id = x.id
          and i.event->>'type' = x.event::jsonb->>'type')
      order by place`;
  }
}

/** NATS subject of the notifications. */
export const INPUTS_SUBJECT = "arbor.ring";

/** Notifies the workers, after the commit, which entities have new rows. */
export function notifyInputs(bus: Bus, entities: readonly EntityRef[]): void {
  for (let i = 0; i < entities.length; i += ROWS) {
    bus.publish(INPUTS_SUBJECT, entities.slice(i, i + ROWS).map(({ kind, id }) => [kind, id]));
  }
}
