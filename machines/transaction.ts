/**
 * The life of a submitted transaction.
 *
 * ```
 * created → submitting → pending → in_ledger
 *                ↓          ↓ ↑________↓ rolled back
 *             refused    expired
 * ```
 *
 * Refused is not for ever: another submission tries again. What the chain says (IN_LEDGER, EXPIRED, ROLLED_BACK) comes through
 * the chain log and wins over what a node answered; answers carry the attempt they belong to, so that a late one changes nothing.
 */
import { assign, enqueueActions, setup } from "xstate";
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import { type InTurn, turnActions } from "#src/base/turn.ts";

/** How long a pending transaction is left alone before it is looked for, in ms. */
export const CHECK_AFTER_MS = 20_000;
/** Most commands that wait for an answer, and most UTF-16 units of their ids together: a snapshot holds 16 kB. */
const WAITING_LIMIT = 64;
const WAITING_UNITS = 2_400;
/** Most UTF-16 units of failures in a snapshot; the reply has them whole. */
const FAILURE_UNITS = 2_000;

const slot = z.number().int();
const hex = z.string().regex(/^([0-9a-f]{2})+$/);

/** Hands over a signed transaction: its CBOR, what it spends, whom it pays, and the first slot in which it is no longer valid. */
export const submit = z.object({
  type: z.literal("SUBMIT"),
  cbor: hex,
  inputs: z.array(z.string()).max(2_000),
  addresses: z.array(z.string()).max(2_000),
  validTo: slot.nullable(),
}).strict();
export const transactionCommands = submit;

const attempt = z.number().int().positive();
/** A failure as the ledger names it, with what it says. */
const failure = z.object({ name: z.string(), message: z.string() }).catchall(z.unknown());
export const transactionOutcomes = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ACCEPTED"), attempt }).strict(),
  z.object({ type: z.literal("REFUSED"), attempt, failures: z.array(failure).max(50) }).strict(),
]);

export const transactionInputs = z.discriminatedUnion("type", [
  z.object({ type: z.literal("IN_LEDGER"), slot, block: z.string(), height: slot, valid: z.boolean() }).strict(),
  z.object({ type: z.literal("EXPIRED"), slot }).strict(),
  z.object({ type: z.literal("ROLLED_BACK"), slot }).strict(),
]);

const reminders = z.object({ type: z.literal("CHECK") }).strict();

export type TransactionEvent =
  | z.infer<typeof transactionCommands>
  | z.infer<typeof transactionOutcomes>
  | z.infer<typeof transactionInputs>
  | z.infer<typeof reminders>;

export interface TransactionContext {
  readonly hash: string;
  readonly validTo: number | null;
  /** Number of the last question put to the network. */
  readonly attempt: number;
  /** Commands whose reply is open. */
  readonly waiting: readonly string[];
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  readonly slot: number | null;
  readonly block: string | null;
  readonly height: number | null;
  /** False when the ledger took the collateral instead (phase 2 failed); null while it is not in the ledger. */
  readonly valid: boolean | null;
}

/** Names and messages of the first failures, as far as there is room. */
function summary(failures: TransactionContext["failures"]): TransactionContext["failures"] {
  let room = FAILURE_UNITS;
  return failures.flatMap(({ name, message }) => {
    if (room <= 0) return [];
    const kept = { name: cut(name, room), message: cut(message, Math.max(0, room - name.length)) };
    // The quotes and names around them.
    room -= kept.name.length + kept.message.length + 20;
    return [kept];
  });
}

/** The first `units` UTF-16 units of a text, no character halved. */
function cut(text: string, units: number): string {
  const end = text.codePointAt(units - 1) ?? 0;
  return text.slice(0, end > 0xffff ? units - 1 : units);
}

const notInLedger = { slot: null, block: null, height: null, valid: null } as const;

export const transactionMachine = setup({
  types: {
    context: {} as TransactionContext,
    events: {} as InTurn<TransactionEvent>,
    input: {} as { kind: string; id: string },
  },
  guards: {
    ofThisAttempt: ({ context, event }) => "attempt" in event && event.attempt === context.attempt,
    hasRoom: ({ context, event }) => {
      const ids = [...context.waiting, event.turn.command ?? ""];
      return ids.length <= WAITING_LIMIT && ids.reduce((sum, id) => sum + id.length, 0) <= WAITING_UNITS;
    },
  },
  actions: {
    ...turnActions,
    /** Keeps the transaction and asks the network to take it; the reply stays open. */
    submit: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "SUBMIT") return;
      const next = context.attempt + 1;
      enqueue.assign({
        validTo: event.validTo,
        attempt: next,
        failures: [],
        waiting: event.turn.command ? [...context.waiting, event.turn.command] : context.waiting,
      });
      enqueue({
        type: "put",
        params: {
          table: "submission",
          row: {
            hash: context.hash,
            cbor: "\\x" + event.cbor,
            inputs: event.inputs,
            addresses: event.addresses,
          },
        },
      });
      enqueue({ type: "put", params: { table: "open", row: { hash: context.hash, open_until: event.validTo } } });
      enqueue({ type: "effect", params: { name: "submit", input: { hash: context.hash, attempt: next } } });
    }),
    wait: assign({
      waiting: ({ context, event }) => event.turn.command ? [...context.waiting, event.turn.command] : context.waiting,
    }),
    answer: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "reply", params: { ok: { txHash: context.hash } } });
    }),
    answerWaiting: enqueueActions(({ enqueue, context }) => {
      for (const to of context.waiting) enqueue({ type: "reply", params: { to, ok: { txHash: context.hash } } });
      enqueue.assign({ waiting: [] });
    }),
    refuse: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "REFUSED") return;
      enqueue.assign({ failures: summary(event.failures), waiting: [] });
      for (const to of context.waiting) {
        enqueue({
          type: "reply",
          params: {
            to,
            error: {
              code: "refused_by_ledger",
              message: event.failures.map((one) => one.message).join(" ") || "The ledger refused the transaction.",
              details: event.failures as unknown as Json,
            },
          },
        });
      }
    }),
    open: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "put", params: { table: "open", row: { hash: context.hash, open_until: context.validTo } } });
    }),
    close: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "remove", params: { table: "open", key: { hash: context.hash } } });
      enqueue({ type: "forget", params: { name: "check" } });
    }),
    lookAgain: enqueueActions(({ enqueue, event }) => {
      enqueue({
        type: "remind",
        params: { name: "check", at: event.turn.at + CHECK_AFTER_MS, event: { type: "CHECK" } },
      });
    }),
    look: enqueueActions(({ enqueue, context }) => {
      const next = context.attempt + 1;
      enqueue.assign({ attempt: next });
      enqueue({ type: "effect", params: { name: "submit", input: { hash: context.hash, attempt: next } } });
    }),
    place: assign(({ event }) =>
      event.type === "IN_LEDGER"
        ? { slot: event.slot, block: event.block, height: event.height, valid: event.valid }
        : {}
    ),
    unplace: assign(notInLedger),
  },
}).createMachine({
  id: "transaction",
  initial: "created",
  context: ({ input }) => ({
    hash: input.id,
    validTo: null,
    attempt: 0,
    waiting: [],
    failures: [],
    ...notInLedger,
  }),
  on: {
    IN_LEDGER: { target: ".in_ledger", actions: ["place", "close", "answerWaiting"] },
  },
  states: {
    created: { on: { SUBMIT: { target: "submitting", actions: "submit" } } },
    submitting: {
      on: {
        SUBMIT: { guard: "hasRoom", actions: "wait" },
        ACCEPTED: { guard: "ofThisAttempt", target: "pending", actions: ["answerWaiting", "lookAgain"] },
        REFUSED: { guard: "ofThisAttempt", target: "refused", actions: ["refuse", "close"] },
      },
    },
    pending: {
      on: {
        SUBMIT: { actions: "answer" },
        CHECK: { actions: "look" },
        ACCEPTED: { guard: "ofThisAttempt", actions: "lookAgain" },
        REFUSED: { guard: "ofThisAttempt", target: "refused", actions: ["refuse", "close"] },
        EXPIRED: { target: "expired", actions: "close" },
      },
    },
    in_ledger: {
      on: {
        SUBMIT: { actions: "answer" },
        IN_LEDGER: { target: "in_ledger", actions: "place" },
        ROLLED_BACK: { target: "pending", actions: ["unplace", "open", "look"] },
      },
    },
    expired: { on: { SUBMIT: { target: "submitting", actions: "submit" } } },
    refused: { on: { SUBMIT: { target: "submitting", actions: "submit" } } },
  },
});
