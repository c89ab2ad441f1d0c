/**
 * The interface of the runtime: actor kinds, the events and effects of an entity, and the runtime's own error codes.
 *
 * Assumptions: one entity has one owner at a time, and PostgreSQL alone decides whose write counts. A message may be
 * lost or delivered twice. A process may die between any two statements. An event is JSON, and a machine is pure.
 */
import type { AnyStateMachine } from "xstate";
import type { ZodType } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Event } from "#src/base/turn.ts";
import type { KindContent } from "#src/runtime/events/content.ts";

export type { Event } from "#src/base/turn.ts";

/**
 * Names an entity. `kind` is 1 to 64 lower-case letters, digits and dashes and starts with a letter; `id` has 1 to 200
 * characters.
 */
export interface EntityRef {
  readonly kind: string;
  readonly id: string;
}

/** Passed to an effect with its input. */
export interface EffectContext {
  readonly entity: EntityRef;
  /** `effect:<kind>/<id>:<n>`: the same in every attempt, so that an external service can recognise a repetition. */
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborts at the deadline, when the entity moves to another worker, and when the effect is cancelled. */
  readonly signal: AbortSignal;
  /** When this attempt times out, in milliseconds since 1970. */
  readonly deadline: number;
}

/** Returned by a long effect that stored its progress and has more to do. This is not a failure. */
export class Unfinished {
  /** The effect runs again after `againMs` milliseconds, on the worker that owns the entity by then. */
  constructor(readonly againMs: number) {}
}

/**
 * A side effect, run at least once after the commit of the turn that requested it. The returned event is the outcome,
 * which is applied exactly once; `undefined` ends the effect without an outcome. An effect that throws is retried with
 * exponential backoff. An effect that needs longer than one attempt does a slice, stores it and returns `Unfinished`.
 *
 * @example
 * ```ts
 * const ring: EffectRun = async (input, { id, signal }) => {
 *   const answer = await fetch("http://127.0.0.1:8080/ring", { method: "POST", body: toJson({ id, input }), signal });
 *   return answer.status === 202 ? new Unfinished(1_000) : { type: "RUNG" };
 * };
 * ```
 */
export type EffectRun = (input: Json, context: EffectContext) => Promise<Event | Unfinished | undefined>;

/** An entity's state as a reader sees it. */
export interface ActorView {
  readonly entity: EntityRef;
  /** `live`, or for nested states `live.syncing`. */
  readonly state: string;
  readonly context: { readonly [name: string]: unknown };
  /** Number of events applied so far. */
  readonly version: number;
}

/** Passed to a build with its input. */
export interface BuildContext {
  readonly entity: EntityRef;
  /** Aborts at the deadline. */
  readonly signal: AbortSignal;
  /** In milliseconds since 1970. */
  readonly deadline: number;
}

/** The answer of a build. */
export type BuildAnswer = Result<Json, Failure>;

/** A computation outside the turns: it changes no entity and may run twice. */
export interface Build<Input = unknown> {
  readonly input: ZodType<Input>;
  run(
    view: ActorView & { can(event: Event): boolean },
    input: Input,
    context: BuildContext,
  ): Promise<BuildAnswer>;
}

/**
 * A build whose `run` is typed by its schema, for `ActorKind.builds`.
 *
 * @example
 * ```ts
 * const plan = defineBuild({
 *   input: z.object({ doors: z.number().int() }),
 *   run: ({ state }, { doors }) => Promise.resolve(ok({ state, doors })),
 * });
 * ```
 */
export function defineBuild<Input>(build: Build<Input>): Build {
  return build;
}

/** One of a kind's own tables, written by its turns. */
export interface OwnTable {
  readonly table: string;
  /** Columns of its primary key (or of a unique index). */
  readonly key: readonly string[];
}

/**
 * Limits the attempts of an effect over all workers: those with equal keys wait for each other, in the order in which
 * they were requested. At least one of `atOnce` and `rate` is there.
 */
export interface EffectLimit {
  /** At most 200 characters; without it all effects of the name share the limit. */
  key?(input: Json, entity: EntityRef): string;
  /** Most attempts at the same time. A slice that returns `Unfinished` keeps its place until the next one. */
  readonly atOnce?: number;
  /** At most `count` attempts, 1,000 or fewer, start within any `perMs` milliseconds. Further slices are not counted. */
  readonly rate?: { readonly count: number; readonly perMs: number };
}

/** What an attribute is computed from. */
type AttributeView = Pick<ActorView, "state" | "context">;

/**
 * A value by which actors are listed (`findActors`): a pure function of the state after a turn. The turn writes it where
 * it changes, and the first turn after a load writes all: an attribute that a new version adds is there from then on.
 * `undefined` leaves the actor out. Of a text the first 200 characters count.
 */
export type Attribute =
  | { readonly type: "text"; of(view: AttributeView): string | undefined }
  | { readonly type: "number"; of(view: AttributeView): number | bigint | undefined }
  /** In milliseconds since 1970. */
  | { readonly type: "time"; of(view: AttributeView): number | undefined };

/**
 * A kind of actor: a machine with the schemas of its events, its own tables, its effects and its builds.
 *
 * The machine is pure: XState's `setup().createMachine()` without `after`, `invoke` or spawned children. Its only
 * actions are `assign`, `raise` (without a delay), `enqueueActions` and those of `turnActions`. It is created with the
 * input `{ kind, id }`. Every event has a member `turn` (`Turn`). An event that the machine does not accept in its
 * state (`snapshot.can`) is refused with `not_possible`; nothing but that reply is written.
 *
 * The snapshot (state and context) is plain JSON of at most 16 kB without `bigint`: quantities are decimal strings.
 *
 * @example
 * ```ts
 * const door: ActorKind = {
 *   kind: "door",
 *   version: 1,
 *   machine: setup({ actions: turnActions }).createMachine({
 *     initial: "closed",
 *     states: {
 *       closed: { on: { OPEN: { target: "open", actions: { type: "reply", params: { ok: null } } } } },
 *       open: {},
 *     },
 *   }),
 *   commands: z.object({ type: z.literal("OPEN") }),
 *   inputs: z.never(),
 *   outcomes: z.never(),
 * };
 * ```
 */
export interface ActorKind {
  readonly kind: string;
  /** Form of its ids; without it an id is any text. */
  readonly ids?: RegExp;
  /** Version of the machine, stored with each snapshot. */
  readonly version: number;
  readonly machine: AnyStateMachine;
  /** Events accepted as commands. */
  readonly commands: ZodType<Event>;
  /** Events accepted from the ordered input log. */
  readonly inputs: ZodType<Event>;
  /** Events accepted as outcomes of effects. */
  readonly outcomes: ZodType<Event>;
  /** What its events say to subscribers; without it, only states and causes. */
  readonly content?: KindContent;
  readonly tables?: { readonly [name: string]: OwnTable };
  /** By name; an actor can be listed by them. */
  readonly attributes?: { readonly [name: string]: Attribute };
  /**
   * Members of events, by type, that the history leaves out: large ones that a row of an own table has, and on which the
   * machine's state does not depend.
   */
  readonly unlogged?: { readonly [type: string]: readonly string[] };
  readonly effects?: { readonly [name: string]: EffectRun };
  /** By the name of the effect. */
  readonly limits?: { readonly [effect: string]: EffectLimit };
  readonly builds?: { readonly [name: string]: Build };
  /** Converts a persisted snapshot of the older machine version `from` to this version. */
  migrate?(snapshot: Json, from: number): Json;
}

/** Error codes of the runtime itself; the replies of a machine add their own. */
export const RUNTIME_CODES = [
  /** The machine does not accept the event in its state. */
  "not_possible",
  /** The command, its event or its entity is malformed. */
  "invalid",
  /** No worker runs this kind, or the kind has no such build. */
  "unknown_kind",
  /** The entity's mailbox is full. */
  "overloaded",
  /**
   * No reply within the deadline. The command may still be applied; sending it again with the same id gives its result.
   */
  "unavailable",
  /** The entity is paused. */
  "paused",
  /** A later version of the program wrote the entity's snapshot. Nothing is lost: that version can load it. */
  "newer_version",
  /** The request or the reply is larger than a message may be. */
  "too_large",
  /** The machine threw, requested something that does not exist, or its rows could not be written. */
  "failed",
] as const;
export type RuntimeCode = (typeof RUNTIME_CODES)[number];

/** A point in the work of a worker at which a test can inject a fault. */
export interface WorkerStage {
  readonly at: "before-commit" | "after-commit" | "before-effect" | "after-effect" | "before-reply" | "before-publish";
  readonly entity: EntityRef;
  /** Causes of the events in the turn (such as command ids), or the id of the effect. */
  readonly causes: readonly string[];
}
