/**
 * An ordering service: each order is a durable actor. It is placed over HTTP, expires when nobody pays in time, is paid by
 * a payment service exactly once, and survives the end of this process at any point.
 */
import process from "node:process";
import {
  defineActor,
  defineEffect,
  type EventOf,
  machineTypes,
  startRuntime,
  turnActions,
} from "@arbor-cardano/runtime";
import { assign, setup } from "xstate";
import { z } from "zod";

const { DATABASE_URL, PAYMENTS_URL = "http://127.0.0.1:9090" } = process.env;
const EXPIRES_MS = Number(process.env.EXPIRES_MS ?? 15 * 60_000);

/** What callers may send. */
const commands = {
  PLACE: z.object({
    customer: z.string().min(1).max(100),
    item: z.string().min(1).max(100),
    cents: z.int().positive(),
  }),
  PAY: z.object({ source: z.string().min(1).max(100) }),
  CANCEL: z.object({}),
};

/** What the payment service may answer. */
const outcomes = {
  CHARGED: z.object({ receipt: z.string() }),
  DECLINED: z.object({ why: z.string() }),
};

interface Order {
  customer: string;
  item: string;
  cents: number;
  receipt: string | null;
}

type OrderEvent = EventOf<typeof commands> | EventOf<typeof outcomes> | { type: "EXPIRE" };

/** What an order may do. The machine is pure: it requests replies, reminders and effects as actions. */
const machine = setup({
  types: machineTypes<Order, OrderEvent>(),
  actions: {
    ...turnActions,
    place: assign(({ event }) => event.type === "PLACE" ? commands.PLACE.parse(event) : {}),
    pay: assign(({ event }) => event.type === "CHARGED" ? { receipt: event.receipt } : {}),
  },
}).createMachine({
  context: { customer: "", item: "", cents: 0, receipt: null },
  initial: "new",
  states: {
    new: {
      on: {
        PLACE: {
          target: "placed",
          actions: ["place", { type: "reply", params: ({ event }) => ({ ok: { cents: event.cents } }) }],
        },
      },
    },
    placed: {
      entry: {
        type: "remind",
        params: ({ event }) => ({
          name: "expiry",
          at: event.turn.at + EXPIRES_MS,
          event: { type: "EXPIRE" },
        }),
      },
      exit: { type: "forget", params: { name: "expiry" } },
      on: {
        PAY: {
          target: "paying",
          actions: [
            {
              type: "effect",
              params: ({ context, event }) => ({
                name: "charge",
                input: { cents: context.cents, source: event.source },
              }),
            },
            { type: "reply", params: { ok: "paying" } },
          ],
        },
        CANCEL: { target: "cancelled", actions: { type: "reply", params: { ok: "cancelled" } } },
        EXPIRE: { target: "expired" },
      },
    },
    paying: { on: { CHARGED: { target: "paid", actions: "pay" }, DECLINED: "placed" } },
    paid: { type: "final" },
    expired: { type: "final" },
    cancelled: { type: "final" },
  },
});

/** Runs after the commit of the turn that requested it, again after a crash; `id` is the same in every attempt. */
const charge = defineEffect({
  input: z.object({ cents: z.int(), source: z.string() }),
  run: async (payment, { id, signal }) => {
    const answer = await fetch(`${PAYMENTS_URL}/charges`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify(payment),
      signal,
    });
    if (answer.status === 402) return { type: "DECLINED", why: await answer.text() };
    if (!answer.ok) throw new Error(`the payment service answered ${answer.status}`); // attempted again
    return { type: "CHARGED", receipt: await answer.text() };
  },
});

export const order = defineActor({
  kind: "order",
  version: 1,
  commands,
  outcomes,
  machine,
  effects: { charge },
  content: { PLACE: commands.PLACE, CHARGED: outcomes.CHARGED },
});

const runtime = await startRuntime({
  databaseUrl: DATABASE_URL,
  actors: [order],
  http: { port: Number(process.env.PORT ?? 8080) },
  operators: { port: Number(process.env.OPERATOR_PORT ?? 8081) },
});
console.log(`orders at ${runtime.urls.http}/order, operators at ${runtime.urls.operators}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void runtime.stop());
