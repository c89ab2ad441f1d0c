/**
 * The life cycle of a token on the chain.
 *
 * ```
 * absent → live → ended
 *           ↓ ↑
 *       quarantined   (a block changed the root in a way that the requests do not explain)
 * ```
 *
 * State changes arrive through the chain log; a rollback names the state that holds again.
 *
 * The intents (REQUEST, UPDATE, END) are never sent to the actor. Before a build makes a transaction it calls `refusalOf`
 * with the token's state that it read from the index's rows: the actor's own state is later, and leaves out pending
 * transactions. An UPDATE replaces the state output: it applies requests, or changes the owner. There is no intent RETRACT,
 * because a request can be retracted in every state.
 */
import { assign, setup } from "xstate";
import { z } from "zod";
import { present } from "#src/base/present.ts";
import { INTENT, machineTypes, turnActions } from "#src/base/turn.ts";

const slot = z.number().int().describe("Slot of the block.");
const owner = z.string().describe("Payment key hash of the owner, in hexadecimal.");
const root = z.string().describe("Root of the facts, 64 hexadecimal digits.");
const ref = z.string().describe("The state output, `<transaction hash>#<index>`.");
/** The contents of a state output. */
const stateFields = { slot, owner, root, ref };

/** Where an event took place. Inputs of older releases and events of older databases lack it. */
const blockHash = z.string().optional().describe("Hash of the block.");
const place = {
  transaction: z.string().optional().describe("Hash of the transaction."),
  block: blockHash,
  height: z.number().int().optional().describe("Height of the block."),
};

/** A key or a value of a fact in an event. */
const factText = z.union([
  z.string().describe("Text, as the token service shows it."),
  z.object({ hex: z.string().describe("The bytes in hexadecimal.") }).describe(
    "Bytes that are not UTF-8, or contain a zero byte.",
  ),
  z.object({
    size: z.number().int().describe("Number of bytes."),
    digest: z.string().describe("blake2b-256 of the bytes, in hexadecimal."),
    href: z.string().describe(
      "Path of the request at the token service; the member of the same name in `change` of the response has the text.",
    ),
  }).describe("Reference to a text of more than 2,000 bytes of JSON."),
]);
const requestRef = z.string().describe("The request's output, `<transaction hash>#<index>`.");
const requester = z.string().describe("Payment key hash of the request's refund address, in hexadecimal.");
const operation = z.enum(["insert", "update", "delete"]);
const values = {
  oldValue: factText.optional().describe("Value before the change; absent for an insert."),
  newValue: factText.optional().describe("Value after the change; absent for a delete."),
};
/** What a request changes; optional, as `place`. */
const requested = {
  requester: requester.optional(),
  key: factText.optional().describe("Key of the fact."),
  operation: operation.optional(),
  ...values,
  lovelace: z.string().optional().describe("Lovelace in the request's output."),
};
const factChange = z.object({
  request: requestRef,
  requester,
  key: factText.describe("Key of the fact."),
  operation,
  ...values,
});
const changes = z.array(factChange).describe("Applied requests, in the ledger's order.");
const unexplained = z.literal(true).optional().describe(
  "Present if the requests of this or an earlier update do not lead to the root. The facts stay as they are; when the " +
    "token is released, the changes apply in their order.",
);

const inputs = {
  BOOTED: z.object({ type: z.literal("BOOTED"), ...stateFields, ...place }).strict(),
  APPLIED: z.object({
    type: z.literal("APPLIED"),
    slot,
    ...place,
    part: z.number().int().positive().describe("Number of this part, from 1."),
    parts: z.number().int().describe("Number of parts; UPDATED is the last one."),
    changes,
    unexplained,
  }).strict(),
  UPDATED: z.object({
    type: z.literal("UPDATED"),
    ...stateFields,
    ...place,
    applied: z.number().int().describe("Number of applied requests, of all parts."),
    parts: z.number().int().optional().describe(
      "Number of parts, if the changes exceed one event; all but this part are preceding events `applied`.",
    ),
    changes: changes.optional(),
    unexplained,
  }).strict(),
  REQUESTED: z.object({ type: z.literal("REQUESTED"), slot, ...place, request: requestRef, ...requested }).strict(),
  RETRACTED: z.object({
    type: z.literal("RETRACTED"),
    slot,
    ...place,
    request: requestRef,
    requester: requester.optional(),
  }).strict(),
  /** An update of the owner refuses a request. */
  REFUSED: z.object({
    type: z.literal("REFUSED"),
    slot,
    ...place,
    request: requestRef,
    requester: requester.optional(),
  }).strict(),
  ENDED: z.object({ type: z.literal("ENDED"), slot, ...place }).strict(),
  QUARANTINED: z.object({
    type: z.literal("QUARANTINED"),
    slot,
    ...place,
    reason: z.string().describe("Why the requests do not explain the root."),
  }).strict(),
  RELEASED: z.object({ type: z.literal("RELEASED"), slot: slot.describe("Slot of the index at that time.") }).strict(),
  ROLLED_BACK: z.object({
    type: z.literal("ROLLED_BACK"),
    slot: slot.describe("Slot of the last block that stays; everything after it is undone."),
    block: blockHash,
    to: z.enum(["absent", "live", "ended", "quarantined"]).describe("State of the token at that block."),
    owner: z.string().nullable().describe("Payment key hash of the owner at that block; null without a token."),
    root: z.string().nullable().describe("Root of the facts; null without a token."),
    ref: z.string().nullable().describe("The state output; null without a token."),
    reason: z.string().nullable().describe("Reason of the quarantine."),
  }).strict(),
};

export const tokenInputs = z.discriminatedUnion("type", [
  inputs.BOOTED,
  inputs.APPLIED,
  inputs.UPDATED,
  inputs.REQUESTED,
  inputs.RETRACTED,
  inputs.REFUSED,
  inputs.ENDED,
  inputs.QUARANTINED,
  inputs.RELEASED,
  inputs.ROLLED_BACK,
]);

/** What subscribers get of an event, by its type. Every member of an input is public. */
export const tokenContent = {
  BOOTED: inputs.BOOTED.omit({ type: true }).strip(),
  APPLIED: inputs.APPLIED.omit({ type: true }).strip(),
  UPDATED: inputs.UPDATED.omit({ type: true }).strip(),
  REQUESTED: inputs.REQUESTED.omit({ type: true }).strip(),
  RETRACTED: inputs.RETRACTED.omit({ type: true }).strip(),
  REFUSED: inputs.REFUSED.omit({ type: true }).strip(),
  ENDED: inputs.ENDED.omit({ type: true }).strip(),
  QUARANTINED: inputs.QUARANTINED.omit({ type: true }).strip(),
  RELEASED: inputs.RELEASED.omit({ type: true }).strip(),
  ROLLED_BACK: inputs.ROLLED_BACK.omit({ type: true }).strip(),
};
/** The content of a token's events, by type. */
export type TokenContent = { readonly [Type in keyof typeof tokenContent]: z.infer<(typeof tokenContent)[Type]> };
/** A key or a value of a fact in an event. */
export type FactText = z.infer<typeof factText>;
/** A request that an update applied. */
export type FactChange = z.infer<typeof factChange>;

/** What a build may want of a token. */
export interface TokenIntent {
  readonly type: "REQUEST" | "UPDATE" | "END";
}

/** The states of a token. */
export type TokenStatus = "absent" | "live" | "quarantined" | "ended";

/** Why an intent is refused. */
export type TokenRefusal = "token_unknown" | "token_quarantined" | "token_ended";

export interface TokenContext {
  readonly owner: string | null;
  readonly root: string | null;
  readonly ref: string | null;
  /** Slot of the last change. */
  readonly slot: number | null;
  readonly quarantine: string | null;
}

const asked = { actions: "stay", meta: INTENT } as const;

const START: TokenContext = { owner: null, root: null, ref: null, slot: null, quarantine: null };

export const tokenMachine = setup({
  types: machineTypes<TokenContext, z.infer<typeof tokenInputs>, TokenIntent>(),
  guards: {
    toAbsent: ({ event }) => event.type === "ROLLED_BACK" && event.to === "absent",
    toLive: ({ event }) => event.type === "ROLLED_BACK" && event.to === "live",
    toEnded: ({ event }) => event.type === "ROLLED_BACK" && event.to === "ended",
  },
  actions: {
    ...turnActions,
    take: assign(({ event }) =>
      event.type === "BOOTED" || event.type === "UPDATED"
        ? { owner: event.owner, root: event.root, ref: event.ref, slot: event.slot }
        : {}
    ),
    note: assign(({ event }) => "slot" in event ? { slot: event.slot } : {}),
    lock: assign(({ event }) => event.type === "QUARANTINED" ? { quarantine: event.reason, slot: event.slot } : {}),
    unlock: assign({ quarantine: null }),
    stay: assign({}),
    restore: assign(({ event }) =>
      event.type === "ROLLED_BACK"
        ? {
          owner: event.owner,
          root: event.root,
          ref: event.ref,
          slot: event.slot,
          quarantine: event.to === "quarantined" ? event.reason : null,
        }
        : {}
    ),
  },
}).createMachine({
  id: "token",
  initial: "absent",
  context: START,
  on: {
    ROLLED_BACK: [
      { guard: "toAbsent", target: ".absent", actions: "restore" },
      { guard: "toLive", target: ".live", actions: "restore" },
      { guard: "toEnded", target: ".ended", actions: "restore" },
      { target: ".quarantined", actions: "restore" },
    ],
  },
  states: {
    absent: { on: { BOOTED: { target: "live", actions: "take" } } },
    live: {
      on: {
        REQUEST: asked,
        UPDATE: asked,
        END: asked,
        APPLIED: { target: "live", actions: "note" },
        UPDATED: { target: "live", actions: "take" },
        REQUESTED: { target: "live", actions: "note" },
        RETRACTED: { target: "live", actions: "note" },
        REFUSED: { target: "live", actions: "note" },
        ENDED: { target: "ended", actions: "note" },
        QUARANTINED: { target: "quarantined", actions: "lock" },
      },
    },
    quarantined: {
      on: {
        END: asked,
        APPLIED: { target: "quarantined", actions: "note" },
        UPDATED: { target: "quarantined", actions: "take" },
        REQUESTED: { target: "quarantined", actions: "note" },
        RETRACTED: { target: "quarantined", actions: "note" },
        REFUSED: { target: "quarantined", actions: "note" },
        ENDED: { target: "ended", actions: ["note", "unlock"] },
        RELEASED: { target: "live", actions: ["note", "unlock"] },
      },
    },
    ended: { on: { REQUESTED: { target: "ended", actions: "note" }, RETRACTED: { target: "ended", actions: "note" } } },
  },
});

const REFUSALS: Readonly<Partial<Record<TokenStatus, TokenRefusal>>> = {
  absent: "token_unknown",
  quarantined: "token_quarantined",
  ended: "token_ended",
};

/** Asks the machine whether a token accepts an intent in a state: why it refuses it; `undefined` when it accepts it. */
export function refusalOf(state: TokenStatus, intent: TokenIntent): TokenRefusal | undefined {
  const can = tokenMachine.resolveState({ value: state, context: START }).can(intent);
  return can ? undefined : present(REFUSALS[state], "the reason of a refusal");
}
