/** Reads an entity from its row, without a worker. */
import type { AnyMachineSnapshot } from "xstate";
import { stateName } from "#src/runtime/turns/machine.ts";
import type { ActorView, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** An entity's state, context and version; `undefined` if no event was ever applied to it. */
export async function readActor({ sql }: Store, entity: EntityRef): Promise<ActorView | undefined> {
  const [row] = await sql<{ version: bigint; snapshot: string }[]>`
    select version, snapshot::text as snapshot from actor where kind = ${entity.kind} and id = ${entity.id}`;
  if (row === undefined) return undefined;
  const { value, context } = JSON.parse(row.snapshot) as Pick<AnyMachineSnapshot, "value" | "context">;
  return { entity, state: stateName(value), context, version: Number(row.version) };
}
