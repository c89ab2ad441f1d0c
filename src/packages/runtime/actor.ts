/** Actors as programs define them: a machine with schemas of its events, in the form that the runtime runs. */
import type { AnyStateMachine, ContextFrom, EventFrom } from "xstate";
import { z, type ZodObject, type ZodType } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Event } from "#src/base/turn.ts";
import type { ActorKind, Build, EffectContext, EffectLimit, OwnTable, Unfinished } from "#src/runtime/types.ts";

/** Schemas of events by their type, which is in capitals (`PLACE`): the members without `type`. */
export type EventSchemas = { readonly [type: string]: ZodObject };

/** The events of some schemas, as a machine gets them. */
export type EventOf<S extends EventSchemas> = {
  [T in keyof S & string]: { readonly type: T } & z.output<S[T]>;
}[keyof S & string];

/** The commands of an actor, as a caller sends them. */
export type CommandOf<A extends Actor> = {
  [T in keyof A["commandSchemas"] & string]: { readonly type: T } & z.input<A["commandSchemas"][T]>;
}[keyof A["commandSchemas"] & string];

/** The context of an actor's machine. */
export type ContextOf<A extends Actor> = ContextFrom<A["machine"]>;

/** An actor that a runtime runs, made by `defineActor`. */
export interface Actor<M extends AnyStateMachine = AnyStateMachine, C extends EventSchemas = EventSchemas>
  extends ActorKind {
  readonly machine: M;
  readonly commandSchemas: C;
}

/** The definition of an actor. `Outcome` are the events that its effects may return. */
export interface ActorDefinition<
  M extends AnyStateMachine,
  C extends EventSchemas,
  O extends EventSchemas,
> {
  /** Name of the kind: at most 64 lower-case letters, digits and dashes. */
  readonly kind: string;
  /** Version of the machine, stored with each snapshot. Raise it with a `migrate` when older snapshots do not fit. */
  readonly version: number;
  /** Form of the ids; without it an id is any text of 1 to 200 characters. */
  readonly ids?: RegExp;
  /** XState's `setup().createMachine()` without `after`, `invoke` or spawned actors; its actions are `turnActions`. */
  readonly machine: M;
  /** Commands by type. What a schema refuses never reaches the machine. */
  readonly commands: C & Accepted<M, C>;
  /** Outcomes of effects by type. */
  readonly outcomes?: O & Accepted<M, O>;
  readonly effects?: { readonly [name: string]: EffectOf<EventOf<O>> };
  /** Limits of effects by their names, over all processes. */
  readonly limits?: { readonly [effect: string]: EffectLimit };
  readonly builds?: { readonly [name: string]: Build };
  /** Values by which actors are listed (`Runtime.list`), by name. */
  readonly attributes?: { readonly [name: string]: AttributeOf<ContextFrom<M>> };
  /** Own tables by the name that the actions `put` and `remove` use. */
  readonly tables?: { readonly [name: string]: OwnTable };
  /** Members of events, by type, that subscribers and operators see; without it only states and causes. */
  readonly content?: EventSchemas;
  /** Converts a stored snapshot of the older version `from` to this version. Without it such an actor is refused. */
  migrate?(snapshot: Json, from: number): Json;
}

/**
 * A value by which actors are listed: a pure function of the state after a turn. `undefined` leaves the actor out. Of a text
 * the first 200 characters count; a time is in milliseconds since 1970.
 */
export type AttributeOf<Context> =
  | { readonly type: "text"; of(view: AttributeView<Context>): string | undefined }
  | { readonly type: "number"; of(view: AttributeView<Context>): number | bigint | undefined }
  | { readonly type: "time"; of(view: AttributeView<Context>): number | undefined };

interface AttributeView<Context> {
  readonly state: string;
  readonly context: Context;
}

/** For each schema whose events the machine does not take, a type that says so. */
type Accepted<M extends AnyStateMachine, S extends EventSchemas> = {
  [T in keyof S & string]: { readonly type: T } & z.output<S[T]> extends WithoutTurn<EventFrom<M>> ? unknown
    : `the machine takes no event ${T} with these members`;
};
type WithoutTurn<E> = E extends unknown ? Omit<E, "turn"> : never;

/** An effect whose outcomes are `Outcome`. */
export type EffectOf<Outcome extends Event> = (
  input: Json,
  context: EffectContext,
) => Promise<Outcome | Unfinished | undefined>;

/**
 * An effect with a schema of its input, for `ActorDefinition.effects`. It runs at least once after the commit of the turn
 * that requested it; the event that it returns is applied exactly once.
 *
 * @example
 * ```ts
 * const charge = defineEffect({
 *   input: z.object({ cents: z.int() }),
 *   run: async ({ cents }, { id, signal }) => {
 *     const body = JSON.stringify({ cents });
 *     const answer = await fetch("http://127.0.0.1:8080/charges", {
 *       method: "POST",
 *       headers: { "idempotency-key": id },
 *       body,
 *       signal,
 *     });
 *     if (answer.status >= 500) throw new Error(`the payment service answered ${answer.status}`);
 *     return answer.ok ? { type: "CHARGED" } : { type: "DECLINED" };
 *   },
 * });
 * ```
 */
export function defineEffect<Input, T extends string, Outcome extends { readonly type: T }>({ input: schema, run }: {
  readonly input: ZodType<Input>;
  run(input: Input, context: EffectContext): Promise<Outcome | Unfinished | undefined>;
}): EffectOf<Outcome> {
  return (input, context) => run(schema.parse(input), context);
}

/**
 * Defines a kind of actor.
 *
 * @throws {TypeError} where a schema cannot be extended with the event's type.
 *
 * @example
 * ```ts
 * const commands = { OPEN: z.object({ key: z.string() }) };
 * const door = defineActor({
 *   kind: "door",
 *   version: 1,
 *   commands,
 *   machine: setup({ types: machineTypes<object, EventOf<typeof commands>>(), actions: turnActions }).createMachine({
 *     context: {},
 *     initial: "closed",
 *     states: {
 *       closed: { on: { OPEN: { target: "open", actions: { type: "reply", params: { ok: "welcome" } } } } },
 *       open: {},
 *     },
 *   }),
 * });
 * ```
 */
export function defineActor<
  M extends AnyStateMachine,
  const C extends EventSchemas,
  const O extends EventSchemas = Record<never, never>,
>(definition: ActorDefinition<M, C, O>): Actor<M, C> {
  const { commands, outcomes, content, ...rest } = definition;
  return {
    ...rest,
    commandSchemas: commands,
    commands: eventSchema(commands),
    inputs: z.never(),
    outcomes: eventSchema(outcomes ?? {}),
    ...(content === undefined ? {} : { content: { schemas: content } }),
  };
}

/** A schema of the events of some schemas. */
function eventSchema(schemas: EventSchemas): ZodType<Event> {
  const known = new Map(
    Object.entries(schemas).map(([type, schema]) => [type, schema.safeExtend({ type: z.literal(type) })]),
  );
  const [first, ...others] = known.values();
  if (first === undefined) return z.never();
  // each schema was extended with `type`; the types of computed schemas do not say so
  return z.discriminatedUnion("type", [first, ...others]) as unknown as ZodType<Event>;
}
