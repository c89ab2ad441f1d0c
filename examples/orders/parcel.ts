/** Parcels of orders: what the ordering service does not need, one feature after the other. */
import process from "node:process";
import {
  defineActor,
  defineBuild,
  defineEffect,
  type EventOf,
  machineTypes,
  type Runtime,
  type RuntimeOptions,
  startRuntime,
  turnActions,
  Unfinished,
} from "@arbor-cardano/runtime";
import { assign, setup } from "xstate";
import { z } from "zod";
import { order } from "./orders.ts";

const commands = {
  HAND_OVER: z.object({ order: z.string().max(200), grams: z.int().positive() }),
  RECALL: z.object({}),
};
const outcomes = { COLLECTED: z.object({ tracking: z.string() }) };

interface Parcel {
  id: string;
  order: string;
  grams: number;
  tracking: string | null;
}

const machine = setup({
  types: machineTypes<Parcel, EventOf<typeof commands> | EventOf<typeof outcomes>>(),
  actions: {
    ...turnActions,
    note: assign(({ event }) => {
      if (event.type === "HAND_OVER") return commands.HAND_OVER.parse(event);
      return event.type === "COLLECTED" ? { tracking: event.tracking } : {};
    }),
  },
}).createMachine({
  context: ({ input }) => ({ id: input.id, order: "", grams: 0, tracking: null }),
  initial: "new",
  states: {
    new: {
      on: {
        HAND_OVER: {
          target: "waiting",
          actions: [
            "note",
            {
              type: "put",
              params: ({ context: { id, order, grams } }) => ({
                table: "parcels",
                row: { id, order_id: order, grams },
              }),
            },
            { type: "effect", params: ({ context: { grams } }) => ({ name: "collect", input: { grams } }) },
            { type: "reply", params: { ok: null } },
          ],
        },
      },
    },
    waiting: {
      on: {
        COLLECTED: { target: "travelling", actions: "note" },
        RECALL: {
          target: "recalled",
          actions: [
            { type: "cancel", params: { name: "collect" } },
            { type: "remove", params: ({ context: { id } }) => ({ table: "parcels", key: { id } }) },
            { type: "reply", params: { ok: "recalled" } },
          ],
        },
      },
    },
    travelling: {},
    recalled: { type: "final" },
  },
});

/** Asks the carrier each minute, for days if it has to, on whichever process runs the parcel by then. */
const collect = defineEffect({
  input: z.object({ grams: z.int() }),
  run: async ({ grams }, { id, signal }) => {
    const place = `${process.env.CARRIER_URL}/pickups/${encodeURIComponent(id)}?grams=${grams}`;
    const answer = await fetch(place, { method: "PUT", signal });
    if (answer.status === 202) return new Unfinished(60_000);
    if (!answer.ok) throw new Error(`the carrier answered ${answer.status}`);
    return { type: "COLLECTED", tracking: await answer.text() };
  },
});

export const parcel = defineActor({
  kind: "parcel",
  version: 2,
  commands,
  outcomes,
  machine,
  effects: { collect },
  limits: { collect: { atOnce: 4, rate: { count: 100, perMs: 60_000 } } },
  tables: { parcels: { table: "parcel", key: ["id"] } },
  attributes: {
    order: { type: "text", of: ({ context }) => context.order },
    grams: { type: "number", of: ({ context }) => context.grams },
  },
  builds: {
    postage: defineBuild({
      input: z.object({ centsPerKilo: z.int() }),
      run: async ({ context }, { centsPerKilo }) => {
        return { ok: true, value: Math.ceil(Number(context.grams) * centsPerKilo / 1_000) };
      },
    }),
  },
  migrate: (snapshot) => {
    // version 1 had the weight in kilograms
    const { context, ...rest } = v1.parse(snapshot);
    const { kilos, ...same } = context;
    return { ...rest, context: { ...same, grams: kilos * 1_000 } };
  },
});

const v1 = z.looseObject({ context: z.looseObject({ kilos: z.number() }) });

/** Own tables of parcels, written by their turns. */
export const migrations = [{
  id: "parcels-1",
  sql: "create table parcel (id text primary key, order_id text not null, grams int not null)",
}];

/** Starts one of several processes: it runs actors, or serves HTTP. */
export function startProcess(natsUrl: string, services?: Pick<RuntimeOptions, "http" | "operators">): Promise<Runtime> {
  return startRuntime({
    databaseUrl: process.env.DATABASE_URL,
    natsUrl,
    natsToken: process.env.NATS_TOKEN,
    actors: [order, parcel],
    migrations,
    worker: services === undefined,
    ...services,
  });
}

/** The heavy parcels of an order. */
export async function heavyParcels(runtime: Runtime, orderId: string) {
  return await runtime.list(parcel, {
    where: [{ attribute: "order", equals: orderId }, { attribute: "grams", from: 1_000 }],
    order: "grams",
    descending: true,
  });
}

/** The weight of all parcels that wait or travel. */
export async function totalGrams(runtime: Runtime): Promise<number> {
  const [row] = await runtime.sql<{ grams: number }>`select coalesce(sum(grams), 0)::int as grams from parcel`;
  return row?.grams ?? 0;
}

/** Prints what happens to orders, from a position on; a position that is kept continues there after a restart. */
export async function follow(runtime: Runtime, from: string, signal: AbortSignal): Promise<string> {
  let position = from;
  for await (const event of runtime.events({ kind: "order", from, signal })) {
    console.log(`${event.id}: ${event.from} -> ${event.to} by ${event.type}`);
    position = event.position;
  }
  return position;
}
