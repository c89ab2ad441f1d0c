/**
 * The life cycle of a submitted transaction.
 *
 * ```
 * created → submitting → pending → in_ledger
 *                ↓       ↓  ↓ ↑ ↑______↓ rolled back
 *             refused ←──┘  ↓ ↑ rolled back below its last slot
 *                          expired            pending, expired, refused → forgotten
 * ```
 *
 * `refused` is not final: another submission tries again, and so does CHECK if the network accepted the transaction
 * before. Events from the chain (IN_LEDGER, EXPIRED, ROLLED_BACK) arrive through the chain log and override the replies
 * of a node. Those replies carry their attempt, so that a late one changes nothing. A forgotten transaction is no
 * longer submitted; the chain may still include it. The machine does not poll: the sweep over pending transactions
 * sends CHECK when the network differs, and a lost transaction informs those that spend its outputs (PARENT_LOST).
 */
import { assign, enqueueActions, setup } from "xstate";
import { z } from "zod";
import { toJson } from "#src/base/json.ts";
import { machineTypes, turnActions } from "#src/base/turn.ts";

/** Most commands with an open reply, and most UTF-16 units of their ids together: a snapshot is limited to 16 kB. */
const WAITING_LIMIT = 64;
const WAITING_UNITS = 2_400;
/** Most UTF-16 units of failures in a snapshot; the reply has them in full. */
const FAILURE_UNITS = 2_000;
/** Most wallets that one transaction is pending in. */
const WALLETS = 16;

const slot = z.number().int();
const wallet = z.string().min(1).max(100);
const hex = z.string().regex(/^([0-9a-f]{2})+$/);

/**
 * Submits a signed transaction: its CBOR, the outputs it spends, the addresses it pays, and the first slot in which it
 * is no longer valid. `by` is the wallet that submitted it, with the tip at that time; that wallet lists it as pending.
 */
export const submit = z.object({
  type: z.literal("SUBMIT"),
  cbor: hex,
  inputs: z.array(z.string()).max(2_000),
  addresses: z.array(z.string()).max(2_000),
  validTo: slot.nullable(),
  by: z.object({ wallet, slot, height: slot }).strict().optional(),
}).strict();
export const transactionCommands = z.discriminatedUnion("type", [
  submit,
  /** The wallet no longer lists it; null for a transaction that was submitted without a wallet. */
  z.object({ type: z.literal("FORGET"), wallet: wallet.nullable() }).strict(),
  /** Submits it to the network again. */
  z.object({ type: z.literal("CHECK") }).strict(),
]);

const attempt = z.number().int().positive();
/** Most signers and dependents that an event names. */
export const MOST_NAMED = 20;
/** Of a lost transaction, so that its owners know what to build and sign again. */
const lost = {
  signers: z.array(z.string()).max(MOST_NAMED).optional().describe(
    "Hashes of the keys that signed it, at most 20, if the network had accepted it: they sign again what replaces it.",
  ),
  dependents: z.array(z.string()).max(MOST_NAMED).optional().describe(
    "Hashes of the transactions that cannot enter the ledger without it, parents first, at most 20, if the network had " +
      "accepted it. Each of them has this event too.",
  ),
};
/** A failure by the ledger's name, with its message. */
const failure = z.object({ name: z.string(), message: z.string() }).catchall(z.unknown());
/** The public, shortened part of a failure. */
const cause = z.object({
  name: z.string().describe(
    "The ledger's name of the failure, or `TransactionLost`: it depends on a transaction that expired or is refused.",
  ),
  message: z.string().describe("What failed."),
});
export const transactionOutcomes = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ACCEPTED"), attempt }).strict(),
  z.object({
    type: z.literal("REFUSED"),
    attempt,
    failures: z.array(failure).max(50),
    causes: z.array(cause).max(50).optional(),
    ...lost,
  }).strict(),
]);

export const transactionInputs = z.discriminatedUnion("type", [
  z.object({ type: z.literal("IN_LEDGER"), slot, block: z.string(), height: slot, valid: z.boolean() }).strict(),
  z.object({ type: z.literal("EXPIRED"), slot }).strict(),
  z.object({ type: z.literal("ROLLED_BACK"), slot, block: z.string().optional() }).strict(),
  /** A transaction of which it spends outputs has expired or is refused. */
  z.object({ type: z.literal("PARENT_LOST"), transaction: z.string() }).strict(),
]);

const ofAttempt = attempt.describe("Number of the submission to the network, from 1.");
/**
 * What subscribers get of an event, by its type; the status is the state in which the event leaves the transaction.
 * Guests read it: it has no wallets and not the transaction itself.
 */
export const transactionContent = {
  SUBMIT: z.object({
    validTo: slot.nullable().describe("First slot in which the transaction is no longer valid; null if there is none."),
  }),
  FORGET: z.object({}),
  CHECK: z.object({}),
  ACCEPTED: z.object({ attempt: ofAttempt }),
  REFUSED: z.object({
    attempt: ofAttempt,
    causes: z.array(cause).optional().describe(
      "Why the ledger refuses the transaction: the first failures, shortened.",
    ),
    ...lost,
  }),
  IN_LEDGER: z.object({
    slot: slot.describe("Slot of the block."),
    block: z.string().describe("Hash of the block."),
    height: slot.describe("Height of the block."),
    valid: z.boolean().describe("False if a script failed and the ledger took the collateral."),
  }),
  EXPIRED: z.object({ slot: slot.describe("Slot of the first block in which it was no longer valid.") }),
  ROLLED_BACK: z.object({
    slot: slot.describe("Slot of the last block that stays."),
    block: z.string().optional().describe("Hash of that block."),
  }),
  PARENT_LOST: z.object({
    transaction: z.string().describe(
      "Hash of a transaction of which it spends outputs, and which expired or is refused; this one is submitted again.",
    ),
  }),
};

export type TransactionEvent =
  | z.infer<typeof transactionCommands>
  | z.infer<typeof transactionOutcomes>
  | z.infer<typeof transactionInputs>;

export interface TransactionContext {
  readonly hash: string;
  readonly validTo: number | null;
  /** Number of the last submission to the network. */
  readonly attempt: number;
  /** Commands whose reply is open. */
  readonly waiting: readonly string[];
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  /** Whether the network accepted it, or the ledger had it, since it was last forgotten. */
  readonly taken: boolean;
  readonly forgotten: boolean;
  /** Wallets that list it. */
  readonly wallets: readonly string[];
  readonly slot: number | null;
  readonly block: string | null;
  readonly height: number | null;
  /** False when the ledger took the collateral instead (phase 2 failed); null while it is not in the ledger. */
  readonly valid: boolean | null;
}

/** Names and messages of the first failures, up to `units` UTF-16 units. */
export function causesOf(failures: TransactionContext["failures"], units = FAILURE_UNITS) {
  let room = units;
  return failures.flatMap(({ name, message }) => {
    if (room <= 0) return [];
    const kept = { name: cut(name, room), message: cut(message, Math.max(0, room - name.length)) };
    // The quotes and names around them.
    room -= kept.name.length + kept.message.length + 20;
    return [kept];
  });
}

/** The first `units` UTF-16 units of a text, without splitting a surrogate pair. */
function cut(text: string, units: number): string {
  const end = text.codePointAt(units - 1) ?? 0;
  return text.slice(0, end > 0xffff ? units - 1 : units);
}

/**
 * The row of `submission_status`. `lapsedUntil`: a rollback below that slot makes the transaction valid again.
 * `failures`: why the network refuses it.
 */
function statusRow(
  hash: string,
  status: "pending" | "in_ledger" | "expired" | "refused",
  lapsedUntil: number | null = null,
  failures: TransactionContext["failures"] = [],
) {
  return { hash, status, lapsed_until: lapsedUntil, failures: failures.length === 0 ? null : toJson([...failures]) };
}

/** Whether a wallet other than the one that forgets it lists it. */
function listedElsewhere(context: TransactionContext, event: TransactionEvent): boolean {
  return event.type === "FORGET" && event.wallet !== null && context.wallets.some((one) => one !== event.wallet);
}

const notInLedger = { slot: null, block: null, height: null, valid: null } as const;

/** The handler of SUBMIT in states without a submission in progress. */
const submittable = { SUBMIT: { target: "submitting", actions: ["submit", "link"] } } as const;

export const transactionMachine = setup({
  types: machineTypes<TransactionContext, TransactionEvent>(),
  guards: {
    ofThisAttempt: ({ context, event }) => "attempt" in event && event.attempt === context.attempt,
    hasRoom: ({ context, event }) => {
      const ids = [...context.waiting, event.turn.command ?? ""];
      return ids.length <= WAITING_LIMIT && ids.reduce((sum, id) => sum + id.length, 0) <= WAITING_UNITS;
    },
    /** The block with the transaction was rolled back. */
    itsBlock: ({ context, event }) =>
      event.type === "ROLLED_BACK" && context.slot !== null && context.slot > event.slot,
    itsBlockAndForgotten: ({ context, event }) =>
      event.type === "ROLLED_BACK" && context.slot !== null && context.slot > event.slot && context.forgotten,
    /** The chain was rolled back to a point at which it is valid. */
    validAgain: ({ context, event }) =>
      event.type === "ROLLED_BACK" && context.taken && (context.validTo === null || context.validTo > event.slot),
    wasTaken: ({ context }) => context.taken,
    ofThisAttemptAndTaken: ({ context, event }) =>
      "attempt" in event && event.attempt === context.attempt && context.taken,
    listedElsewhere: ({ context, event }) => listedElsewhere(context, event),
    takenAndListedElsewhere: ({ context, event }) => context.taken && listedElsewhere(context, event),
  },
  actions: {
    ...turnActions,
    /** Stores the transaction and submits it to the network; the reply stays open. */
    submit: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "SUBMIT") return;
      const next = context.attempt + 1;
      enqueue.assign({
        validTo: event.validTo,
        attempt: next,
        failures: [],
        forgotten: false,
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
      // anyone may submit what the network refuses: until it is accepted, only what a wallet here has signed is pending
      if (event.by !== undefined) {
        enqueue({ type: "put", params: { table: "open", row: { hash: context.hash, open_until: event.validTo } } });
      }
      enqueue({ type: "put", params: { table: "status", row: statusRow(context.hash, "pending") } });
      const input = { hash: context.hash, attempt: next, taken: context.taken };
      enqueue({ type: "effect", params: { name: "submit", input } });
    }),
    /** The submitting wallet lists it. */
    link: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "SUBMIT" || event.by === undefined) return;
      const { wallet, slot, height } = event.by;
      if (context.wallets.includes(wallet) || context.wallets.length >= WALLETS) return;
      enqueue.assign({ wallets: [...context.wallets, wallet] });
      const row = { hash: context.hash, wallet, since_slot: slot, since_height: height };
      enqueue({ type: "put", params: { table: "link", row } });
    }),
    unlink: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "FORGET" || event.wallet === null) return;
      const { wallet } = event;
      enqueue.assign({ wallets: context.wallets.filter((one) => one !== wallet) });
      enqueue({ type: "remove", params: { table: "link", key: { hash: context.hash, wallet } } });
    }),
    /** The network refused it before it was ever taken: no wallet lists it, and its status says so. */
    unlinkRefused: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "REFUSED") return;
      for (const wallet of context.wallets) {
        enqueue({ type: "remove", params: { table: "link", key: { hash: context.hash, wallet } } });
      }
      const row = statusRow(context.hash, "refused", null, causesOf(event.failures));
      enqueue({ type: "put", params: { table: "status", row } });
      enqueue.assign({ wallets: [], taken: false });
    }),
    unlinkAll: enqueueActions(({ enqueue, context }) => {
      for (const wallet of context.wallets) {
        enqueue({ type: "remove", params: { table: "link", key: { hash: context.hash, wallet } } });
      }
      enqueue({ type: "remove", params: { table: "status", key: { hash: context.hash } } });
      enqueue.assign({ wallets: [], taken: false });
    }),
    settled: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "put", params: { table: "status", row: statusRow(context.hash, "in_ledger") } });
    }),
    lapse: enqueueActions(({ enqueue, context, event }) => {
      const failures = event.type === "REFUSED" ? causesOf(event.failures) : [];
      const row = statusRow(context.hash, "expired", context.validTo, failures);
      enqueue({ type: "put", params: { table: "status", row } });
    }),
    take: assign({ taken: true }),
    forgetIt: assign({ forgotten: true, taken: false, failures: [] }),
    refuseToForget: enqueueActions(({ enqueue, context }) => {
      const message = `The transaction ${context.hash} is already on the ledger and cannot be forgotten.`;
      const error = { code: "transaction_already_in_ledger", message, details: { transaction_id: context.hash } };
      enqueue({ type: "reply", params: { error } });
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
      enqueue.assign({ failures: causesOf(event.failures), waiting: [] });
      for (const to of context.waiting) {
        enqueue({
          type: "reply",
          params: {
            to,
            error: {
              code: "refused_by_ledger",
              message: event.failures.map((one) => one.message).join(" ") || "The ledger rejected the transaction.",
              details: event.failures,
            },
          },
        });
      }
    }),
    open: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "put", params: { table: "open", row: { hash: context.hash, open_until: context.validTo } } });
      enqueue({ type: "put", params: { table: "status", row: statusRow(context.hash, "pending") } });
    }),
    close: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "remove", params: { table: "open", key: { hash: context.hash } } });
    }),
    look: enqueueActions(({ enqueue, context }) => {
      const next = context.attempt + 1;
      enqueue.assign({ attempt: next });
      const input = { hash: context.hash, attempt: next, taken: context.taken };
      enqueue({ type: "effect", params: { name: "submit", input } });
    }),
    place: assign(({ event }) =>
      event.type === "IN_LEDGER"
        ? { slot: event.slot, block: event.block, height: event.height, valid: event.valid }
        : {}
    ),
    /** Informs the pending transactions that spend its outputs. */
    reportLoss: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "effect", params: { name: "lost", input: { hash: context.hash } } });
    }),
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
    taken: false,
    forgotten: false,
    wallets: [],
    ...notInLedger,
  }),
  on: {
    IN_LEDGER: { target: ".in_ledger", actions: ["place", "take", "close", "settled", "answerWaiting"] },
  },
  states: {
    created: { on: submittable },
    submitting: {
      on: {
        SUBMIT: { guard: "hasRoom", actions: ["wait", "link"] },
        ACCEPTED: { guard: "ofThisAttempt", target: "pending", actions: ["take", "open", "answerWaiting"] },
        REFUSED: [
          { guard: "ofThisAttemptAndTaken", target: "refused", actions: ["refuse", "close", "lapse", "reportLoss"] },
          { guard: "ofThisAttempt", target: "refused", actions: ["refuse", "close", "unlinkRefused"] },
        ],
      },
    },
    pending: {
      on: {
        SUBMIT: { actions: ["answer", "link"] },
        CHECK: { actions: ["answer", "look"] },
        ACCEPTED: { guard: "ofThisAttempt", actions: "take" },
        REFUSED: { guard: "ofThisAttempt", target: "refused", actions: ["refuse", "close", "lapse", "reportLoss"] },
        EXPIRED: { target: "expired", actions: ["close", "lapse", "reportLoss"] },
        PARENT_LOST: { actions: "look" },
        FORGET: [
          { guard: "listedElsewhere", actions: ["unlink", "answer"] },
          { target: "forgotten", actions: ["close", "unlinkAll", "forgetIt", "answer"] },
        ],
      },
    },
    in_ledger: {
      on: {
        SUBMIT: { actions: "answer" },
        IN_LEDGER: { target: "in_ledger", actions: "place" },
        ROLLED_BACK: [
          { guard: "itsBlockAndForgotten", target: "forgotten", actions: ["unplace", "unlinkAll"] },
          { guard: "itsBlock", target: "pending", actions: ["unplace", "open", "look"] },
        ],
        FORGET: { actions: "refuseToForget" },
      },
    },
    expired: {
      on: {
        ...submittable,
        ROLLED_BACK: { guard: "validAgain", target: "pending", actions: ["open", "look"] },
        FORGET: [
          { guard: "listedElsewhere", actions: ["unlink", "answer"] },
          { target: "forgotten", actions: ["unlinkAll", "forgetIt", "answer"] },
        ],
      },
    },
    refused: {
      on: {
        ...submittable,
        CHECK: { guard: "wasTaken", actions: ["answer", "look"] },
        ACCEPTED: { guard: "ofThisAttemptAndTaken", target: "pending", actions: ["open"] },
        ROLLED_BACK: { guard: "validAgain", target: "pending", actions: ["open", "look"] },
        FORGET: [
          { guard: "takenAndListedElsewhere", actions: ["unlink", "answer"] },
          { guard: "wasTaken", target: "forgotten", actions: ["unlinkAll", "forgetIt", "answer"] },
        ],
      },
    },
    forgotten: { on: submittable },
  },
});
