/** The kinds of actors in the benchmark, each the like of what the peers offer: a counter, a workflow, an alarm. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { ok } from "#src/base/result.ts";
import { machineTypes, turnActions } from "#src/base/turn.ts";
import { type ActorKind, defineBuild } from "#src/runtime/types.ts";

const add = z.object({ type: z.literal("ADD"), amount: z.number() });

const counter = setup({
  types: machineTypes<{ count: number }, z.infer<typeof add>>(),
  actions: turnActions,
}).createMachine({
  id: "counter",
  context: { count: 0 },
  initial: "counting",
  states: {
    counting: {
      on: {
        ADD: {
          actions: [
            assign({ count: ({ context, event }) => context.count + event.amount }),
            { type: "reply", params: ({ context }) => ({ ok: { count: context.count } }) },
          ],
        },
      },
    },
  },
});

/** A counter: its commands add, its build reads the sum. */
const counterKind: ActorKind = {
  kind: "counter",
  version: 1,
  machine: counter,
  commands: add,
  inputs: z.never(),
  outcomes: z.never(),
  builds: {
    sum: defineBuild({
      input: z.object({ amount: z.number() }),
      run: ({ context }, { amount }) => Promise.resolve(ok({ sum: Number(context.count ?? 0) + amount })),
    }),
  },
};

const run = z.object({ type: z.literal("RUN"), steps: z.int().min(0).max(64) });
const stepped = z.object({ type: z.literal("STEPPED"), value: z.int() });

const workflow = setup({
  types: machineTypes<
    { values: readonly number[]; steps: number; command: string },
    z.infer<typeof run> | z.infer<typeof stepped>
  >(),
  actions: turnActions,
}).createMachine({
  id: "workflow",
  context: { values: [], steps: 0, command: "" },
  initial: "idle",
  states: {
    idle: {
      on: {
        RUN: [
          {
            guard: ({ event }) => event.steps === 0,
            actions: { type: "reply", params: { ok: { values: [] } } },
          },
          {
            target: "running",
            actions: [
              assign({
                values: [],
                steps: ({ event }) => event.steps,
                command: ({ event }) => event.turn.command ?? "",
              }),
              { type: "effect", params: { name: "step", input: 0 } },
            ],
          },
        ],
      },
    },
    running: {
      on: {
        STEPPED: [
          {
            guard: ({ context }) => context.values.length + 1 < context.steps,
            actions: [
              assign({ values: ({ context, event }) => [...context.values, event.value] }),
              { type: "effect", params: ({ context }) => ({ name: "step", input: context.values.length }) },
            ],
          },
          {
            target: "idle",
            actions: [
              assign({ values: ({ context, event }) => [...context.values, event.value] }),
              {
                type: "reply",
                params: ({ context }) => ({ to: context.command, ok: { values: [...context.values] } }),
              },
            ],
          },
        ],
      },
    },
  },
});

/** A workflow of durable steps in sequence: each an effect, whose outcome is a turn; the last one replies. */
const workflowKind: ActorKind = {
  kind: "workflow",
  version: 1,
  machine: workflow,
  commands: run,
  inputs: z.never(),
  outcomes: stepped,
  effects: { step: (input) => Promise.resolve({ type: "STEPPED", value: Number(input) }) },
};

/** `at` in milliseconds since 1970; without it now, and the reply is given when the reminder has fired. */
const set = z.object({ type: z.literal("SET"), at: z.number().optional() });

const alarm = setup({
  types: machineTypes<{ command: string }, z.infer<typeof set> | { type: "RANG" }>(),
  actions: turnActions,
}).createMachine({
  id: "alarm",
  context: { command: "" },
  initial: "idle",
  states: {
    idle: {
      on: {
        SET: [
          {
            guard: ({ event }) => event.at !== undefined,
            target: "set",
            actions: [
              {
                type: "remind",
                params: ({ event }) => ({ name: "ring", at: event.at ?? 0, event: { type: "RANG" } }),
              },
              { type: "reply", params: { ok: null } },
            ],
          },
          {
            target: "waited",
            actions: [
              assign({ command: ({ event }) => event.turn.command ?? "" }),
              { type: "remind", params: ({ event }) => ({ name: "ring", at: event.turn.at, event: { type: "RANG" } }) },
            ],
          },
        ],
      },
    },
    set: { on: { RANG: "idle" } },
    waited: {
      on: {
        RANG: {
          target: "idle",
          actions: { type: "reply", params: ({ context }) => ({ to: context.command, ok: null }) },
        },
      },
    },
  },
});

/** An alarm: a reminder that is set and fires. */
const alarmKind: ActorKind = {
  kind: "alarm",
  version: 1,
  machine: alarm,
  commands: set,
  inputs: z.never(),
  outcomes: z.never(),
};

/** All kinds of the benchmark. */
export const benchKinds: readonly ActorKind[] = [counterKind, workflowKind, alarmKind];
