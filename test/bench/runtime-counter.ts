/** The kind of actor in the benchmark: a counter that answers with its value, like those of the peers. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { type InTurn, turnActions } from "#src/base/turn.ts";
import type { ActorKind } from "#src/runtime/types.ts";

const command = z.object({ type: z.literal("ADD"), amount: z.number() });

const machine = setup({
  types: {
    context: {} as { count: number },
    events: {} as InTurn<z.infer<typeof command>>,
    input: {} as { kind: string; id: string },
  },
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

/** A counter: its commands add, its events report that. */
export const counterKind: ActorKind = {
  kind: "counter",
  version: 1,
  machine,
  commands: command,
  inputs: z.never(),
  outcomes: z.never(),
};
