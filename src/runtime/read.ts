/** Reads that need no worker: an entity as its rows have it. */
import type { AnyMachineSnapshot } from "xstate";
import { entityKey } from "#src/runtime/partition.ts";
import { stateName } from "#src/runtime/machine.ts";
import type { ActorView, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** An entity's state, context and version; `undefined` when no event was ever applied to it. */
export async function readActor(store: Store, entity: EntityRef): Promise<ActorView | undefined> {
  return (await readActors(store, [entity])).get(entityKey(entity));
}

/** Several entities by `kind/id`; those to which no event was ever applied are left out. */
export async function readActors(store: Store, entities: readonly EntityRef[]): Promise<Map<string, ActorView>> {
  const rows = await store.sql<{ kind: string; id: string; version: bigint; snapshot: string }[]>`
    select a.kind, a.id, a.version, a.snapshot::text as snapshot from actor a
    join unnest(${entities.map(({ kind }) => kind)}::text[], ${entities.map(({ id }) => id)}::text[]) as e(kind, id)
      on e.kind = a.kind and e.id = a.id`;
  return new Map(rows.map(({ kind, id, version, snapshot }) => {
    const { value, context } = JSON.parse(snapshot) as Pick<AnyMachineSnapshot, "value" | "context">;
    const entity = { kind, id };
    return [entityKey(entity), { entity, state: stateName(value), context, version: Number(version) }];
  }));
}
