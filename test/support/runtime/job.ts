/** A kind of actor for tests of effects: each command RUN requests one call, STOP cancels calls. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { machineTypes, turnActions } from "#src/base/turn.ts";
import type { ActorKind, EffectLimit, EffectRun } from "#src/runtime/types.ts";

const callSchema = z.object({ key: z.string(), n: z.int() });
const commands = z.discriminatedUnion("type", [
  z.object({ type: z.literal("RUN"), key: z.string(), n: z.int() }),
  z.object({ type: z.literal("STOP"), call: callSchema.optional() }),
]);
const outcomes = z.object({ type: z.literal("DONE"), n: z.int() });

interface Context {
  readonly requested: number;
  /** Numbers of the calls whose outcomes were applied, in that order. */
  readonly done: readonly number[];
}

export const jobMachine = setup({
  types: machineTypes<Context, z.infer<typeof commands> | z.infer<typeof outcomes>>(),
  actions: turnActions,
}).createMachine({
  context: { requested: 0, done: [] },
  initial: "open",
  states: { open: {} },
  on: {
    RUN: {
      actions: [
        assign({ requested: ({ context }) => context.requested + 1 }),
        { type: "effect", params: ({ event: { key, n } }) => ({ name: "call", input: { key, n } }) },
        { type: "reply", params: { ok: null } },
      ],
    },
    STOP: {
      actions: [
        {
          type: "cancel",
          params: ({ event }) => ({ name: "call", ...(event.call === undefined ? {} : { input: event.call }) }),
        },
        { type: "reply", params: ({ context }) => ({ ok: [...context.done] }) },
      ],
    },
    DONE: { actions: assign({ done: ({ context, event }) => [...context.done, event.n] }) },
  },
});

/** Input of a call. */
export interface Call {
  readonly key: string;
  readonly n: number;
}

/** The input of the effect `call`. */
export function callOf(input: unknown): Call {
  return callSchema.parse(input);
}

/** Limits calls by their keys. */
export function limitedBy(limit: Omit<EffectLimit, "key">): Pick<ActorKind, "limits"> {
  return { limits: { call: { ...limit, key: (input) => callOf(input).key } } };
}

/** The kind, with its effect and what a test adds. */
export function jobKind(call: EffectRun, more: Partial<ActorKind> = {}): ActorKind {
  const kind: ActorKind = {
    kind: "job",
    version: 1,
    machine: jobMachine,
    commands,
    inputs: z.never(),
    outcomes,
    effects: { call },
  };
  return { ...kind, ...more };
}
