/** A kind of actor for tests of the runtime: an account that pays through a slow external service. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { type InTurn, turnActions } from "#src/base/turn.ts";
import type { Migration } from "#src/store/migrations.ts";
import type { Store } from "#src/store/store.ts";
import { type ActorKind, defineBuild, type EffectRun } from "#src/runtime/types.ts";

const command = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ADD"), amount: z.number() }),
  z.object({ type: z.literal("PAY"), amount: z.number(), slowly: z.boolean().optional() }),
  z.object({ type: z.literal("REMEMBER"), at: z.number() }),
  z.object({ type: z.literal("FORGET") }),
  z.object({ type: z.literal("CLOSE") }),
  z.object({ type: z.literal("NOTE"), text: z.string() }),
]);
const input = z.object({ type: z.literal("SEEN"), n: z.number() });
const outcome = z.object({ type: z.literal("PAID"), n: z.number() });
const woken = z.object({ type: z.literal("WOKEN") });

type Events = InTurn<z.infer<typeof command> | z.infer<typeof input> | z.infer<typeof outcome> | z.infer<typeof woken>>;
interface Context {
  id: string;
  balance: number;
  adds: number;
  seen: number[];
  woken: number;
  payments: number;
  asked: string;
  note: string;
}

export const accountMachine = setup({
  types: { context: {} as Context, events: {} as Events, input: {} as { kind: string; id: string } },
  actions: turnActions,
}).createMachine({
  id: "account",
  context: ({ input }) => ({
    id: input.id,
    balance: 0,
    adds: 0,
    seen: [],
    woken: 0,
    payments: 0,
    asked: "",
    note: "",
  }),
  initial: "open",
  on: {
    SEEN: {
      guard: ({ event }) => event.n >= 0,
      actions: assign({ seen: ({ context, event }) => [...context.seen, event.n] }),
    },
    WOKEN: { actions: assign({ woken: ({ context }) => context.woken + 1 }) },
  },
  states: {
    open: {
      on: {
        ADD: {
          actions: [
            assign({
              balance: ({ context, event }) => context.balance + event.amount,
              adds: ({ context }) => context.adds + 1,
            }),
            { type: "reply", params: ({ context }) => ({ ok: { balance: context.balance, adds: context.adds } }) },
            {
              type: "put",
              params: ({ context }) => ({ table: "balances", row: { account: context.id, balance: context.balance } }),
            },
          ],
        },
        PAY: {
          target: "paying",
          guard: ({ context, event }) => context.balance >= event.amount,
          actions: [
            assign({
              balance: ({ context, event }) => context.balance - event.amount,
              asked: ({ event }) => event.turn.command ?? "",
            }),
            {
              type: "effect",
              params: ({ event }) => ({
                name: "wire",
                input: { amount: event.amount, ...(event.slowly === undefined ? {} : { slowly: event.slowly }) },
              }),
            },
          ],
        },
        NOTE: {
          actions: [assign({ note: ({ event }) => event.text }), {
            type: "reply",
            params: ({ event }) => ({ ok: event.text }),
          }],
        },
        REMEMBER: {
          actions: [
            { type: "remind", params: ({ event }) => ({ name: "wake", at: event.at, event: { type: "WOKEN" } }) },
            { type: "reply", params: { ok: null } },
          ],
        },
        FORGET: { actions: [{ type: "forget", params: { name: "wake" } }, { type: "reply", params: { ok: null } }] },
        CLOSE: {
          target: "closed",
          actions: [
            { type: "remove", params: ({ context }) => ({ table: "balances", key: { account: context.id } }) },
            { type: "reply", params: { ok: "closed" } },
          ],
        },
      },
    },
    paying: {
      on: {
        PAID: {
          target: "open",
          actions: [
            assign({ payments: ({ context }) => context.payments + 1 }),
            { type: "reply", params: ({ context, event }) => ({ to: context.asked, ok: { paid: event.n } }) },
          ],
        },
      },
    },
    closed: {},
  },
});

/** The account, bound to its table and to the payment function. */
export function accountKind(wire: EffectRun): ActorKind {
  return {
    kind: "account",
    version: 1,
    machine: accountMachine,
    commands: command,
    inputs: input,
    outcomes: outcome,
    tables: { balances: { table: "test_balance", key: ["account"] } },
    effects: { wire },
    builds: {
      quote: defineBuild({
        input: z.object({ amount: z.number() }),
        run: async (view, { amount }) => ({
          ok: true,
          value: { state: view.state, after: Number(view.context.balance) - amount, version: view.version },
        }),
      }),
    },
  };
}

/** The account's own table, and the external payments that were really made: one row per attempt. */
export const accountMigrations: readonly Migration[] = [{
  id: "test-1",
  sql: `create table test_balance (account text primary key, balance bigint not null, noted timestamptz default now());
    create table test_outside (n bigint generated always as identity primary key, effect text not null, amount bigint not null)`,
}];

/**
 * Pays by adding a row to the table of external payments; returns the row's number. The first attempt of a slow payment
 * ends only when it is aborted.
 */
export function wire(store: Store): EffectRun {
  return async (input, { id, signal }) => {
    const { amount, slowly } = input as { amount: number; slowly?: boolean };
    const [row] = await store.sql<{ n: bigint; attempts: number }[]>`
      insert into test_outside (effect, amount) values (${id}, ${amount})
      returning n, (select count(*)::int from test_outside where effect = ${id}) as attempts`;
    if (slowly && row!.attempts === 0) {
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    }
    return { type: "PAID", n: Number(row!.n) };
  };
}
