/**
 * An ordering service: each order is a durable actor. It is placed over HTTP, expires unless it is paid in time, is charged
 * once by a payment service, and survives the end of this process at any point.
 */
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
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

const { DATABASE_URL, PAYMENTS_URL = "http://127.0.0.1:9090", PORT = "7070", OPERATOR_PORT = "7071" } = process.env;
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
  DECLINED: z.object({ reason: z.string() }),
};

interface Order {
  customer: string;
  item: string;
  cents: number;
  receipt: string | null;
}
type OrderEvent = EventOf<typeof commands> | EventOf<typeof outcomes> | { type: "EXPIRE" };

/** What an order may do. The machine is pure: it requests replies, timers and effects as actions. */
const machine = setup({
  types: machineTypes<Order, OrderEvent>(),
  actions: {
    ...turnActions,
    note: assign(({ event }) => {
      if (event.type === "PLACE") return commands.PLACE.parse(event);
      return event.type === "CHARGED" ? { receipt: event.receipt } : {};
    }),
  },
}).createMachine({
  context: { customer: "", item: "", cents: 0, receipt: null },
  initial: "new",
  states: {
    new: {
      on: { PLACE: { target: "placed", actions: ["note", { type: "reply", params: { ok: "placed" } }] } },
    },
    placed: {
      entry: {
        type: "remind",
        params: ({ event }) => ({ name: "expiry", at: event.turn.at + EXPIRES_MS, event: { type: "EXPIRE" } }),
      },
      exit: { type: "forget", params: { name: "expiry" } },
      on: {
        PAY: {
          target: "paying",
          actions: [
            {
              type: "effect",
              params: ({ context: { cents }, event: { source } }) => ({ name: "charge", input: { cents, source } }),
            },
            { type: "reply", params: { ok: "paying" } },
          ],
        },
        CANCEL: { target: "cancelled", actions: { type: "reply", params: { ok: "cancelled" } } },
        EXPIRE: "expired",
      },
    },
    paying: { on: { CHARGED: { target: "paid", actions: "note" }, DECLINED: "placed" } },
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
    if (answer.status === 402) return { type: "DECLINED", reason: await answer.text() };
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

/** Starts the service, unless a test imports this file. */
if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const runtime = await startRuntime({
    databaseUrl: DATABASE_URL,
    actors: [order],
    http: { port: Number(PORT) },
    operators: { port: Number(OPERATOR_PORT) },
  });
  console.log(`orders at ${runtime.urls.http}/order, operators at ${runtime.urls.operators}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void runtime.stop());
}
