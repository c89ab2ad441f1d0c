/** The package `runtime`: durable actors on PostgreSQL, for programs of others. */
export {
  type Actor,
  type ActorDefinition,
  type AttributeOf,
  type CommandOf,
  type ContextOf,
  defineActor,
  defineEffect,
  type EffectOf,
  type EventOf,
  type EventSchemas,
} from "#src/packages/runtime/actor.ts";
export { startRuntime } from "#src/packages/runtime/start.ts";
export {
  type ActorPage,
  type ActorRoutes,
  type ActorState,
  type AttributeCondition,
  type CommandOptions,
  type EventOptions,
  type HistoryEntry,
  type HttpApp,
  type KeepHours,
  type ListedActor,
  type ListenOptions,
  type ListOptions,
  type Migration,
  type PageOptions,
  type Runtime,
  RuntimeError,
  type RuntimeErrorCode,
  type RuntimeEvent,
  type RuntimeOptions,
  type SqlValue,
} from "#src/packages/runtime/surface.ts";
export { type InTurn, machineTypes, type Turn, turnActions, type TurnParams } from "#src/base/turn.ts";
export {
  type Build,
  type BuildContext,
  defineBuild,
  type EffectContext,
  type EffectLimit,
  type Event,
  RUNTIME_CODES,
  type RuntimeCode,
  Unfinished,
} from "#src/runtime/types.ts";
export type { Failure, Result } from "#src/base/result.ts";
export type { Json } from "#src/base/json.ts";
