/**
 * The ordered input log: what happened elsewhere, told to entities in the order of its rows. Whoever knows it appends rows in
 * the transaction that records it, then rings; the entity's turn reads the rows. A lost notifyInputs costs a moment, never a row.
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
  /** Set on what is told again and again while it holds: left out while the entity has an unread event of this type. */
  readonly standing?: true;
}

const ROWS = 1_000;

/**
 * Appends events in their order, within the caller's transaction. For one entity there is one writer at a time, so that the order
 * of rows is the order of commits: the holder of a lease, or whoever holds until the commit a row that the holder locks before it
 * appends. The partitions exist (`createPartitions`).
 */
export async function appendInputs(sql: Queries, rows: readonly InputRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += ROWS) {
    const some = rows.slice(i, i + ROWS);
    await sql`
      insert into input_log (kind, id, partition, event)
      select kind, id, (hash % (select count(*) from partition))::int, event::jsonb
      from unnest(${some.map(({ entity }) => entity.kind)}::text[], ${some.map(({ entity }) => entity.id)}::text[],
        ${some.map(({ entity }) => entityHash(entity))}::bigint[], ${some.map(({ event }) => toJson(event))}::text[],
        ${some.map(({ standing }) => standing === true ? 1 : 0)}::int[])
        with ordinality as x(kind, id, hash, event, standing, place)
      where standing = 0 or not exists (select 1 from input_log i
        where not i.read and i.partition = (hash % (select count(*) from partition))::int and i.kind = x.kind and i.id = x.id
          and i.event->>'type' = x.event::jsonb->>'type')
      order by place`;
  }
}

export const INPUTS_SUBJECT = "arbor.ring";

/** Tells the workers which entities have new rows, after the commit. */
export function notifyInputs(bus: Bus, entities: readonly EntityRef[]): void {
  for (let i = 0; i < entities.length; i += ROWS) {
    bus.publish(INPUTS_SUBJECT, entities.slice(i, i + ROWS).map(({ kind, id }) => [kind, id]));
  }
}
