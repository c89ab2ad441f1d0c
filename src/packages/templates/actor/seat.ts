/** A seat as a durable actor: held for a customer until it is bought, or until the time is up. */
import { defineActor, type EventOf, machineTypes, turnActions } from "@arbor-cardano/runtime";
import { assign, setup } from "xstate";
import { z } from "zod";

/** How long a seat is held, in milliseconds. */
export const HOLD_MS = 10 * 60_000;

/** What callers may send. */
const commands = {
  HOLD: z.object({ customer: z.string().min(1).max(100) }),
  BUY: z.object({ customer: z.string().min(1).max(100) }),
};

interface Seat {
  customer: string | null;
}
type SeatEvent = EventOf<typeof commands> | { type: "EXPIRE" };

/** What a seat may do. The machine is pure: it requests replies and timers as actions. */
const machine = setup({
  types: machineTypes<Seat, SeatEvent>(),
  guards: {
    isHolder: ({ context, event }) => event.type === "BUY" && event.customer === context.customer,
  },
  actions: {
    ...turnActions,
    note: assign(({ event }) => event.type === "HOLD" ? { customer: event.customer } : {}),
    release: assign({ customer: null }),
  },
}).createMachine({
  context: { customer: null },
  initial: "free",
  states: {
    free: {
      on: { HOLD: { target: "held", actions: ["note", { type: "reply", params: { ok: "held" } }] } },
    },
    held: {
      entry: {
        type: "remind",
        params: ({ event }) => ({ name: "expiry", at: event.turn.at + HOLD_MS, event: { type: "EXPIRE" } }),
      },
      exit: { type: "forget", params: { name: "expiry" } },
      on: {
        BUY: [
          { guard: "isHolder", target: "sold", actions: { type: "reply", params: { ok: "sold" } } },
          {
            actions: {
              type: "reply",
              params: { error: { code: "held_by_another", message: "Another customer holds this seat." } },
            },
          },
        ],
        EXPIRE: { target: "free", actions: "release" },
      },
    },
    sold: { type: "final" },
  },
});

export const seat = defineActor({
  kind: "seat",
  version: 1,
  commands,
  machine,
  content: { HOLD: commands.HOLD, BUY: commands.BUY },
});
