/**
 * The life cycle of a token on the chain.
 *
 * ```
 * absent → live → ended
 *           ↓ ↑
 *       quarantined   (a block changed the root in a way that the requests do not explain)
 * ```
 *
 * State changes arrive through the chain log; a rollback names the state that holds again. The intents (REQUEST,
 * UPDATE, END) are never applied: a build checks with `can` whether the machine accepts one. `absent` accepts them,
 * because the rows that a build reads may be ahead of the log that the actor has read; the rows then decide whether the
 * token exists.
 */
import { assign, setup } from "xstate";
import { z } from "zod";
import { machineTypes, turnActions } from "#src/base/turn.ts";

const slot = z.number().int();
/** The contents of a state output. */
const caged = {
  slot,
  /** Payment key hash of the owner. */
  owner: z.string(),
  /** Root of the facts, 64 hexadecimal digits. */
  root: z.string(),
  /** The state output, `<hash>#<index>`. */
  ref: z.string(),
};

export const tokenInputs = z.discriminatedUnion("type", [
  z.object({ type: z.literal("BOOTED"), ...caged }).strict(),
  z.object({ type: z.literal("UPDATED"), ...caged, applied: slot }).strict(),
  z.object({ type: z.literal("REQUESTED"), slot, request: z.string() }).strict(),
  z.object({ type: z.literal("RETRACTED"), slot, request: z.string() }).strict(),
  z.object({ type: z.literal("ENDED"), slot }).strict(),
  z.object({ type: z.literal("QUARANTINED"), slot, reason: z.string() }).strict(),
  z.object({ type: z.literal("RELEASED"), slot }).strict(),
  z.object({
    type: z.literal("ROLLED_BACK"),
    slot,
    to: z.enum(["absent", "live", "ended", "quarantined"]),
    owner: z.string().nullable(),
    root: z.string().nullable(),
    ref: z.string().nullable(),
    reason: z.string().nullable(),
  }).strict(),
]);

/** The intent of a build: only checked with `can`, never applied. */
export type TokenIntent = { readonly type: "REQUEST" } | { readonly type: "UPDATE" } | { readonly type: "END" };

export type TokenEvent = z.infer<typeof tokenInputs> | TokenIntent;

export interface TokenContext {
  readonly owner: string | null;
  readonly root: string | null;
  readonly ref: string | null;
  /** Slot of the last change. */
  readonly slot: number | null;
  readonly quarantine: string | null;
}

export const tokenMachine = setup({
  types: machineTypes<TokenContext, TokenEvent>(),
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
  context: { owner: null, root: null, ref: null, slot: null, quarantine: null },
  on: {
    ROLLED_BACK: [
      { guard: "toAbsent", target: ".absent", actions: "restore" },
      { guard: "toLive", target: ".live", actions: "restore" },
      { guard: "toEnded", target: ".ended", actions: "restore" },
      { target: ".quarantined", actions: "restore" },
    ],
  },
  states: {
    absent: {
      on: {
        REQUEST: { target: "absent" },
        UPDATE: { target: "absent" },
        END: { target: "absent" },
        BOOTED: { target: "live", actions: "take" },
      },
    },
    live: {
      on: {
        REQUEST: { target: "live" },
        UPDATE: { target: "live" },
        END: { target: "live" },
        UPDATED: { target: "live", actions: "take" },
        REQUESTED: { target: "live", actions: "note" },
        RETRACTED: { target: "live", actions: "note" },
        ENDED: { target: "ended", actions: "note" },
        QUARANTINED: { target: "quarantined", actions: "lock" },
      },
    },
    quarantined: {
      on: {
        END: { target: "quarantined" },
        UPDATED: { target: "quarantined", actions: "take" },
        REQUESTED: { target: "quarantined", actions: "note" },
        RETRACTED: { target: "quarantined", actions: "note" },
        ENDED: { target: "ended", actions: ["note", "unlock"] },
        RELEASED: { target: "live", actions: ["note", "unlock"] },
      },
    },
    ended: { on: { REQUESTED: { target: "ended", actions: "note" }, RETRACTED: { target: "ended", actions: "note" } } },
  },
});
