/**
 * The actions of a turn: the interface between machines (layer 1) and the runtime (layer 2). A machine requests rows,
 * replies and effects as actions of these names and parameters; they do nothing by themselves, and the runtime carries
 * them out.
 *
 * @example
 * ```ts
 * const machine = setup({ types: {…}, actions: turnActions }).createMachine({
 *   …
 *   on: {
 *     PAY: {
 *       target: "paying",
 *       actions: { type: "effect", params: ({ context }) => ({ name: "wire", input: context.n }) },
 *     },
 *   },
 * });
 * ```
 */
import type { Json } from "#src/base/json.ts";
import type { Failure } from "#src/base/result.ts";

/** An event of a machine: a type in capitals (`SUBMIT`) and JSON members. The runtime adds the member `turn`. */
export interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The member `turn` of every event that the runtime applies. */
export interface Turn {
  /** Wall-clock time of the turn, in milliseconds since 1970; a machine has no other clock. */
  readonly at: number;
  /** Id of the command, if the event is one. A machine that replies in a later turn stores it. */
  readonly command?: string;
  /** Position in the input log, if the event came from it. */
  readonly input?: number;
}

/** An event as a machine sees it. */
export type InTurn<E> = E & { readonly turn: Turn };

/** The types of a machine, for XState's `setup({ types })`, which infers them and reads no value. */
export interface MachineTypes<Context, E, Intent> {
  readonly context?: Context;
  readonly events?: InTurn<E> | Intent;
  readonly input?: { readonly kind: string; readonly id: string };
}

/** Declares the types of a machine: of its context, of its events, without their member `turn`, and of its intents. */
export function machineTypes<Context, E, Intent = never>(): MachineTypes<Context, E, Intent> {
  return {};
}

/**
 * Marks a transition (its `meta`) as an intent: a build asks the machine for it with `can`, in the state that the rows
 * show at its point, and no turn applies it. It needs an action, which changes nothing: `can` is false without one.
 */
export const INTENT = { intent: true } as const;

/**
 * Replies to a command: the current one, or with `to` an earlier one whose reply is open. A command whose turn gives no
 * reply stays open until a later turn replies.
 */
export type Reply = { readonly to?: string; readonly ok: Json } | { readonly to?: string; readonly error: Failure };

/** Runs the kind's effect `name` after the commit, at least once. Its outcome is an event. */
export interface Effect {
  readonly name: string;
  readonly input: Json;
}

/**
 * Cancels the open effects of that name that earlier turns or earlier actions requested; with `input` only those with an
 * equal one. The signal of a running attempt aborts, no further attempt starts, and no outcome is applied. An outcome
 * that was applied before stays; what an attempt did outside is not undone.
 */
export interface Cancel {
  readonly name: string;
  readonly input?: Json;
}

/** Applies `event` at time `at` (ms since 1970), also after a restart; replaces the reminder of that name. */
export interface Remind {
  readonly name: string;
  readonly at: number;
  readonly event: Event;
}

/** Deletes the reminder of that name. */
export interface Forget {
  readonly name: string;
}

/** Upserts a row of one of the kind's own tables; `table` is its name in `ActorKind.tables`. */
export interface Put {
  readonly table: string;
  readonly row: { readonly [column: string]: Json };
}

/** Deletes a row of one of the kind's own tables by its key columns. */
export interface Remove {
  readonly table: string;
  readonly key: { readonly [column: string]: Json };
}

/** The parameters of the actions of a turn, by name. */
export interface TurnParams {
  readonly reply: Reply;
  readonly effect: Effect;
  readonly cancel: Cancel;
  readonly remind: Remind;
  readonly forget: Forget;
  readonly put: Put;
  readonly remove: Remove;
}

/** An action of a turn. */
export type TurnAction = {
  [Name in keyof TurnParams]: { readonly type: Name; readonly params: TurnParams[Name] };
}[keyof TurnParams];

const asData = () => {};

/** The actions of a turn, for XState's `setup({ actions })`. They only declare the types of the parameters. */
export const turnActions: { readonly [Name in keyof TurnParams]: (_: unknown, params: TurnParams[Name]) => void } = {
  reply: asData,
  effect: asData,
  cancel: asData,
  remind: asData,
  forget: asData,
  put: asData,
  remove: asData,
};
