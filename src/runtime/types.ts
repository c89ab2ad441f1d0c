/**
 * What a kind of actor is made of, and what is said to one.
 *
 * Hypotheses of the runtime: one entity has one owner at a time, and PostgreSQL alone decides whose write counts; a message
 * may be lost or come twice; a process may die between any two statements; an event is JSON and a machine is pure.
 */
import type { AnyStateMachine } from "xstate";
import type { ZodType } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Event } from "#src/base/turn.ts";

export type { Event } from "#src/base/turn.ts";

/** Whom a command is for: `kind` is 1 to 64 lower-case letters, digits and dashes, a letter first; `id` 1 to 200 characters. */
export interface EntityRef {
  readonly kind: string;
  readonly id: string;
}

/** What an effect is told about its run. */
export interface EffectContext {
  readonly entity: EntityRef;
  /** `effect:<kind>/<id>:<n>`: the same in every attempt, so that the world outside can tell a repetition. */
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborts at the deadline, and when the entity moves to another worker. */
  readonly signal: AbortSignal;
  /** When this attempt is given up, in milliseconds since 1970. */
  readonly deadline: number;
}

/** What a long effect gives that kept what it did and has more to do. It has not failed. */
export class Unfinished {
  /** The effect runs again after `againMs` milliseconds, on whichever worker owns the entity by then. */
  constructor(readonly againMs: number) {}
}

/**
 * Does something outside. It runs at least once; the event that it gives is the outcome and is applied exactly once; giving
 * `undefined` ends it without one. An effect that throws is run again, later and later; one whose work does not fit into an attempt does
 * a slice, keeps it and gives `Unfinished`.
 */
export type EffectRun = (input: Json, context: EffectContext) => Promise<Event | Unfinished | undefined>;

/** An entity's state as a reader sees it. */
export interface ActorView {
  readonly entity: EntityRef;
  /** `live`, or for nested states `live.syncing`. */
  readonly state: string;
  readonly context: { readonly [name: string]: unknown };
  /** How many events were applied; 0 when there were none yet. */
  readonly version: number;
}

/** What a build is told about its run. */
export interface BuildContext {
  readonly entity: EntityRef;
  /** Aborts at the deadline. */
  readonly signal: AbortSignal;
  /** In milliseconds since 1970. */
  readonly deadline: number;
}

/** A computation beside the turns: it changes no entity and may run twice. */
export interface Build<Input extends Json = Json> {
  readonly input: ZodType<Input>;
  run(
    view: ActorView & { can(event: Event): boolean },
    input: Input,
    context: BuildContext,
  ): Promise<Result<Json, Failure>>;
}

/** A build whose `run` is typed by its schema, for `ActorKind.builds`. */
export function defineBuild<Input extends Json>(build: Build<Input>): Build {
  return build;
}

/** One of a kind's own tables, written by its turns. */
export interface OwnTable {
  readonly table: string;
  /** Columns of its primary key (or of a unique index). */
  readonly key: readonly string[];
}

/**
 * A kind of actor: a machine bound to what it accepts and to what it may ask for.
 *
 * The machine is pure: XState's `setup().createMachine()` without `after`, `invoke`, spawned children or actions of its own
 * beyond `assign`, `raise` (without a delay), `enqueueActions` and those of `turnActions`. It is created with the input
 * `{ kind, id }`; every event that it sees has a member `turn` (`Turn`). An event that it does not accept in its
 * state (`snapshot.can`) is refused with `not_possible` and leaves no trace but that answer.
 *
 * A context is plain JSON of at most 16 kB with its state, without `bigint`: quantities are kept as decimal strings.
 */
export interface ActorKind {
  readonly kind: string;
  /** Version of the machine, stored with each snapshot. */
  readonly version: number;
  readonly machine: AnyStateMachine;
  /** Events accepted as commands. */
  readonly commands: ZodType<Event>;
  /** Events accepted from the ordered input log. */
  readonly inputs: ZodType<Event>;
  /** Events accepted as outcomes of effects. */
  readonly outcomes: ZodType<Event>;
  readonly tables?: { readonly [name: string]: OwnTable };
  readonly effects?: { readonly [name: string]: EffectRun };
  readonly builds?: { readonly [name: string]: Build };
  /** Brings a persisted snapshot of an older machine version up to this one. */
  migrate?(snapshot: Json, from: number): Json;
}

/** Codes of refusals that the runtime itself gives; a machine's own replies add theirs. */
export type RuntimeCode =
  /** The machine does not accept the event in its state. */
  | "not_possible"
  /** The command, its event or its entity is malformed. */
  | "invalid"
  /** No worker knows the kind, or the kind has no such build. */
  | "unknown_kind"
  /** The entity's mailbox is full. */
  | "overloaded"
  /** Nobody answered within the deadline. The command may still be applied; asking again with its id tells. */
  | "unavailable"
  /** The entity is paused. */
  | "paused"
  /** A later version of the program wrote the entity's snapshot. Nothing is lost: that version can go on with it. */
  | "newer_version"
  /** The question or the answer is larger than a message may be. */
  | "too_large"
  /** The machine threw, or asked for something that does not exist or could not be written. */
  | "failed";

/** Where a worker stands in a piece of work, for faults put there by tests. */
export interface WorkerStage {
  readonly at: "before-commit" | "after-commit" | "before-effect" | "after-effect" | "before-reply" | "before-publish";
  readonly entity: EntityRef;
  /** Causes of the events in the turn (command ids and the like), or the id of the effect. */
  readonly causes: readonly string[];
}
