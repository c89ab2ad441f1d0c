/**
 * What a pure machine may ask of whoever runs it, as data: the names and parameters of the actions that become rows, replies
 * and effects of one turn. Machines (layer 1) and the runtime (layer 2) meet here and nowhere else; the runtime goes by the
 * names alone.
 *
 * ```ts
 * const machine = setup({ types: {…}, actions: turnActions }).createMachine({
 *   …, on: { PAY: { target: "paying", actions: { type: "effect", params: ({ context }) => ({ name: "wire", input: context.n }) } } }
 * });
 * ```
 */
import type { Json } from "#src/base/json.ts";
import type { Failure } from "#src/base/result.ts";

/** An event of a machine: a type in capitals (`SUBMIT`) and JSON beside it. The member `turn` is the runtime's own. */
export interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What the runtime adds to every event that it applies, as its member `turn`. */
export interface Turn {
  /** Wall-clock time of the turn, in milliseconds since 1970; a machine has no other clock. */
  readonly at: number;
  /** Id of the command being applied, where the event is one: to be kept by a machine that answers it in a later turn. */
  readonly command?: string;
  /** Position in the ordered input log, where the event came from it. */
  readonly input?: number;
}

/** An event as a machine sees it. */
export type InTurn<E> = E & { readonly turn: Turn };

/**
 * Answers a command: the one being applied, or with `to` an earlier one whose reply was left open. A command whose turn
 * gives no reply stays open until a later turn answers it.
 */
export type Reply = { readonly to?: string; readonly ok: Json } | { readonly to?: string; readonly error: Failure };

/** Runs the kind's effect `name` after the commit, at least once; its outcome comes back as an event. */
export interface Effect {
  readonly name: string;
  readonly input: Json;
}

/** Has `event` applied at wall-clock time `at` (ms since 1970), restarts included; replaces the reminder of that name. */
export interface Remind {
  readonly name: string;
  readonly at: number;
  readonly event: Event;
}

/** Takes back the reminder of that name. */
export interface Forget {
  readonly name: string;
}

/** Writes a row of one of the kind's own tables, named by its key in `ActorKind.tables`: inserted, or replaced by its key. */
export interface Put {
  readonly table: string;
  readonly row: { readonly [column: string]: Json };
}

/** Deletes a row of one of the kind's own tables by its key columns. */
export interface Remove {
  readonly table: string;
  readonly key: { readonly [column: string]: Json };
}

const asData = () => {};

/** The actions of a turn, to hand to XState's `setup({ actions })`: they do nothing by themselves and give their types. */
export const turnActions = {
  reply: asData as (_: unknown, params: Reply) => void,
  effect: asData as (_: unknown, params: Effect) => void,
  remind: asData as (_: unknown, params: Remind) => void,
  forget: asData as (_: unknown, params: Forget) => void,
  put: asData as (_: unknown, params: Put) => void,
  remove: asData as (_: unknown, params: Remove) => void,
};
