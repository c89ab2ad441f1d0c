/** Reads the state of an actor without a turn. */
import type { AnyStateMachine, ContextFrom } from "xstate";
import type { Json } from "#src/base/json.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import { VIEW_BUILD } from "#src/runtime/turns/builds.ts";
import { hydrate, unreadableFailure, viewOf } from "#src/runtime/turns/machine.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** The state of an actor; its context is typed by the machine of its kind. */
export interface ActorState<Context> {
  /** `live`, or for nested states `live.syncing`. */
  readonly state: string;
  readonly context: Context;
  /** Number of events applied so far. */
  readonly version: number;
}

export interface ReadOptions {
  /**
   * `owner` (the default): from the memory of the worker that owns the actor. It has every command that was acknowledged
   * before the read; only a worker that was taken for dead and is alive may answer without those of the last lease time.
   *
   * `database`: the last committed turn, without a worker. A replica may be behind.
   */
  readonly from?: "owner" | "database";
  /** How long to wait for the owner, in milliseconds; 10,000 by default. */
  readonly deadlineMs?: number;
}

/** What is read of a kind. Declare it with `satisfies ActorKind`, so that the type of its machine is kept. */
type ReadableKind<Machine extends AnyStateMachine> = ActorKind & { readonly machine: Machine };

/**
 * A function that reads actors. It resolves to `undefined` for an actor that never applied an event, and to a failure
 * with a `RuntimeCode`: `unavailable` without an owner in time, `newer_version` or `failed` for a snapshot that this
 * version of the kind cannot read. A paused actor is read as any other.
 *
 * @example
 * ```ts
 * const { build } = createAsk({ bus, store });
 * const read = createReader({ store, build });
 * const found = await read(door, "front");
 * if (found.ok && found.value !== undefined) console.log(found.value.state, found.value.context);
 * const stored = await read(door, "front", { from: "database" });
 * ```
 */
export function createReader({ store, build }: { readonly store: Store; readonly build: Ask["build"] }) {
  return async <Machine extends AnyStateMachine>(
    kind: ReadableKind<Machine>,
    id: string,
    { from = "owner", ...options }: ReadOptions = {},
  ): Promise<Result<ActorState<ContextFrom<Machine>> | undefined, Failure>> => {
    const entity = { kind: kind.kind, id };
    // The machine of the kind wrote the context: hence the casts.
    if (from === "owner") {
      const answer = await build(entity, VIEW_BUILD, null, options);
      if (!answer.ok) return answer;
      const value = answer.value as unknown as ActorState<ContextFrom<Machine>>;
      return ok(value.version === 0 ? undefined : value);
    }
    const [row] = await store.sql<{ snapshot: Json; version: bigint; machine_version: number }[]>`
      select snapshot, version, machine_version from actor where kind = ${kind.kind} and id = ${id}`;
    if (row === undefined) return ok(undefined);
    try {
      const { state, context, version } = viewOf(
        entity,
        hydrate(kind, row.snapshot, row.machine_version),
        Number(row.version),
      );
      return ok({ state, context: context as ContextFrom<Machine>, version });
    } catch (error) {
      return unreadableFailure(kind, error instanceof Error ? error : new Error(String(error)));
    }
  };
}
