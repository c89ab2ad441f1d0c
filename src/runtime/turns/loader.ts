/** Loads entities from their rows, several in one query. */
import { elementAt } from "#src/base/present.ts";
import { batched } from "#src/runtime/turns/batch.ts";
import type { EntityState } from "#src/runtime/turns/fold.ts";
import { loaded as counted } from "#src/runtime/metrics.ts";
import { hydrate } from "#src/runtime/turns/machine.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** An entity to load. */
export interface EntityTarget {
  readonly kind: ActorKind;
  readonly entity: EntityRef;
  readonly partition: number;
}

/** A loaded entity. */
export interface LoadedEntity {
  readonly state: EntityState;
  readonly paused: boolean;
  /** Whether the input log has events that the entity has not read. */
  readonly unread: boolean;
}

/** A row of `actor`, where there is one, and whether the entity has unread inputs. */
type Row =
  & { unread: boolean }
  & (
    | { snapshot: string; version: bigint; input_seq: bigint; machine_version: number; paused: boolean }
    | { snapshot: null }
  );

/**
 * A function that loads an entity. It rejects when the database does not answer, and resolves to an `Error` when the
 * snapshot cannot be read.
 */
export function createLoader(store: Store): (target: EntityTarget) => Promise<LoadedEntity | Error> {
  return batched(async (targets: readonly EntityTarget[]) => {
    const rows = await store.sql<Row[]>`
      select a.version, a.input_seq, a.snapshot::text as snapshot, a.machine_version, a.paused,
        exists (select 1 from input_log i where i.partition = e.partition and i.kind = e.kind and i.id = e.id and not i.read)
          as unread
      from unnest(${targets.map(({ entity }) => entity.kind)}::text[], ${
      targets.map(({ entity }) => entity.id)
    }::text[],
        ${targets.map(({ partition }) => partition)}::int[]) with ordinality as e(kind, id, partition, place)
      left join actor a on a.kind = e.kind and a.id = e.id
      order by e.place`;
    for (const { kind } of targets) counted.of(kind.kind).inc();
    return targets.map(({ kind }, i) => loaded(kind, elementAt(rows, i)));
  }, { most: 256, inFlight: 2 });
}

function loaded(kind: ActorKind, row: Row): LoadedEntity | Error {
  if (row.snapshot === null) {
    return { state: { snapshot: undefined, version: 0, inputSeq: 0 }, paused: false, unread: row.unread };
  }
  try {
    const snapshot = hydrate(kind, JSON.parse(row.snapshot), row.machine_version);
    const state = { snapshot, version: Number(row.version), inputSeq: Number(row.input_seq) };
    return { state, paused: row.paused, unread: row.unread };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
