/** A kind of actor in two versions, for tests of upgrades: version 2 names its count differently. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { machineTypes, turnActions } from "#src/base/turn.ts";
import type { ActorKind } from "#src/runtime/types.ts";

const add = z.object({ type: z.literal("ADD") });

const rest = { inputs: z.never(), outcomes: z.never(), commands: add };

/** Version 1: the context is `{ n }`. */
export const tally1 = {
  ...rest,
  kind: "tally",
  version: 1,
  machine: setup({ types: machineTypes<{ readonly n: number }, z.infer<typeof add>>(), actions: turnActions })
    .createMachine({
      context: { n: 0 },
      initial: "open",
      states: { open: {} },
      on: {
        ADD: {
          actions: [
            assign({ n: ({ context }) => context.n + 1 }),
            { type: "reply", params: ({ context }) => ({ ok: { n: context.n, version: 1 } }) },
          ],
        },
      },
    }),
} satisfies ActorKind;

/** Version 2 without a conversion from version 1: the context is `{ total }`, the state `live`. */
export const tally2Alone = {
  ...rest,
  kind: "tally",
  version: 2,
  machine: setup({ types: machineTypes<{ readonly total: number }, z.infer<typeof add>>(), actions: turnActions })
    .createMachine({
      context: { total: 0 },
      initial: "live",
      states: { live: {} },
      on: {
        ADD: {
          actions: [
            assign({ total: ({ context }) => context.total + 1 }),
            { type: "reply", params: ({ context }) => ({ ok: { n: context.total, version: 2 } }) },
          ],
        },
      },
    }),
} satisfies ActorKind;

const snapshot1 = z.looseObject({ context: z.object({ n: z.int() }) });

/** Version 2 with a conversion. */
export const tally2 = {
  ...tally2Alone,
  migrate: (snapshot, from) => {
    if (from !== 1) throw new Error(`no snapshot of version ${from} exists`);
    const { context, ...other } = snapshot1.parse(snapshot);
    return JSON.parse(JSON.stringify({ ...other, value: "live", context: { total: context.n } }));
  },
} satisfies ActorKind;
