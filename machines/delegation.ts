/**
 * What a stake credential's certificates say: whom its stake and its vote go to, now and in the epochs to come.
 *
 * ```
 *            JOIN, VOTE                JOIN, VOTE
 * neither ───────────────▶ delegating ◀─────────▶ voting ◀──────────▶ both      (UNREGISTERED: back to neither)
 * ```
 *
 * Every step comes through the chain log. The state is what the newest certificate left; stake counts only from the second epoch after
 * it, so `active` and `next` go behind it. Wallets that share a credential may be read at different places of the chain: what is
 * older than what is known changes nothing, and TOLD says all of it anew, when a wallet comes to where the others are. The intents (JOIN, QUIT,
 * CAST) are never applied: whether the machine accepts one says whether a transaction that does it can be made.
 */
import { assign, setup } from "xstate";
import { z } from "zod";
import { type InTurn, turnActions } from "#src/base/turn.ts";

/** Epochs from a certificate to the one in which it counts. */
export const LAG = 2;

const slot = z.number().int().min(-1);
const epoch = z.number().int().min(0);
const whom = {
  /** Pool id in hexadecimal; of whatever length the chain has it. */
  pool: z.string().nullable(),
  /** `abstain`, `no_confidence`, `key-<hash>` or `script-<hash>`. */
  drep: z.string().nullable(),
};
const certified = z.object({
  /** Epoch of the certificate; -1 for what held before anything is known. */
  epoch: z.number().int().min(-1),
  ...whom,
}).strict();
const account = {
  slot,
  epoch,
  registered: z.boolean(),
  /** Lovelace in digits; null where the certificate did not state it. */
  deposit: z.string().regex(/^\d+$/).nullable(),
};
/**
 * All there is to say; `slot` is that of the newest of it, for a later rollback that changes none of it is not told, `epoch` that of the block
 * where the index stands. `history` has the newest certificates of the last epochs, the oldest first.
 */
const whole = { ...account, history: z.array(certified).max(LAG + 2), rewards: z.string().regex(/^\d+$/) };

export const delegationInputs = z.discriminatedUnion("type", [
  /** A block has certificates of the credential; this is what they leave. */
  z.object({ type: z.literal("CERTIFIED"), ...account, ...whom }).strict(),
  /** The first block of an epoch in which something begins to count. */
  z.object({ type: z.literal("EPOCH"), slot, epoch }).strict(),
  /** Rewards that are not withdrawn, as the ledger tells them after an epoch's beginning or a withdrawal left them. */
  z.object({ type: z.literal("REWARDED"), slot, epoch, rewards: z.string().regex(/^\d+$/) }).strict(),
  /** All of it, as a wallet's rows have it when it is from now on read with all others. */
  z.object({ type: z.literal("TOLD"), ...whole }).strict(),
  /** Blocks that said something are no more; this holds again. */
  z.object({ type: z.literal("ROLLED_BACK"), ...whole }).strict(),
]);

/** What somebody wants to do; only asked about, never applied. */
export type DelegationIntent =
  | { readonly type: "JOIN"; readonly pool: string; readonly drep?: string }
  | { readonly type: "CAST"; readonly drep: string }
  /** `withdrawing`: the rewards go out in the same transaction. */
  | { readonly type: "QUIT"; readonly withdrawing: boolean };

export type DelegationEvent = z.infer<typeof delegationInputs> | DelegationIntent;

/** Whom stake and vote go to. */
export interface Delegated {
  readonly pool: string | null;
  readonly drep: string | null;
}

/** What a certificate left, and its epoch. */
export interface Certified extends Delegated {
  readonly epoch: number;
}

/** Whom stake and vote count for in an epoch, and what changes in the next ones. */
export interface Shown {
  readonly active: Delegated;
  readonly next: readonly (Delegated & { readonly from: number })[];
}

export interface DelegationContext extends Shown {
  /** Of the last thing told; null before it. */
  readonly slot: number | null;
  readonly epoch: number;
  readonly registered: boolean;
  readonly deposit: string | null;
  readonly history: readonly Certified[];
  /** Lovelace not withdrawn, as far as the network said. */
  readonly rewards: string;
}

const NOBODY: Delegated = { pool: null, drep: null };
const same = (a: Delegated, b: Delegated) => a.pool === b.pool && a.drep === b.drep;
const only = ({ pool, drep }: Delegated): Delegated => ({ pool, drep });

/** What counts in an epoch and after it, of certificates with the oldest first. A change that changes nothing is no change. */
export function shownIn(history: readonly Certified[], epoch: number): Shown {
  const active = only(history.findLast((one) => one.epoch <= epoch - LAG) ?? NOBODY);
  const next: (Delegated & { from: number })[] = [];
  let last = active;
  for (let of = epoch - LAG + 1; of <= epoch; of++) {
    const left = history.findLast((one) => one.epoch === of);
    if (!left || same(left, last)) continue;
    last = only(left);
    next.push({ ...last, from: of + LAG });
  }
  return { active, next };
}

/** The part of a history that can still matter in an epoch: the newest of each epoch, and one that has begun to count. */
export function kept(history: readonly Certified[], epoch: number): readonly Certified[] {
  const newest = history.filter((one, i) => history[i + 1]?.epoch !== one.epoch);
  const begun = newest.findLastIndex((one) => one.epoch <= epoch - LAG);
  return newest.slice(Math.max(0, begun));
}

/** Why an account cannot do what is wanted; undefined where it can. */
export type Objection =
  | "pool_already_joined"
  | "pool_already_joined_same_vote"
  | "same_vote"
  | "not_delegating_to"
  | "non_null_rewards";

/** What decides whether an intent is possible. */
export interface Standing extends Delegated {
  readonly registered: boolean;
  readonly rewards: bigint;
}

/** Whether an account that stands so can do what is wanted. */
export function objection(
  { registered, pool, drep, rewards }: Standing,
  intent: DelegationIntent,
): Objection | undefined {
  switch (intent.type) {
    case "JOIN": {
      if (pool !== intent.pool) return undefined;
      if (intent.drep === undefined) return "pool_already_joined";
      return drep === intent.drep ? "pool_already_joined_same_vote" : undefined;
    }
    case "CAST":
      return drep === intent.drep ? "same_vote" : undefined;
    case "QUIT":
      if (!registered) return "not_delegating_to";
      return rewards > 0n && !intent.withdrawing ? "non_null_rewards" : undefined;
  }
}

type Whole = Extract<DelegationEvent, { type: "TOLD" | "ROLLED_BACK" }>;

/** What the newest certificate left. */
function newest({ history }: Pick<DelegationContext, "history">): Delegated {
  return history.at(-1) ?? NOBODY;
}

function after(context: DelegationContext, event: DelegationEvent): Partial<DelegationContext> {
  switch (event.type) {
    case "CERTIFIED": {
      const { slot, epoch, registered, deposit, pool, drep } = event;
      const history = kept([...context.history, { epoch, pool, drep }], epoch);
      return { slot, epoch, registered, deposit, history, ...shownIn(history, epoch) };
    }
    case "EPOCH": {
      const history = kept(context.history, event.epoch);
      return { slot: event.slot, epoch: event.epoch, history, ...shownIn(history, event.epoch) };
    }
    case "REWARDED":
      return { slot: event.slot, rewards: event.rewards };
    case "TOLD":
    case "ROLLED_BACK": {
      const { slot, epoch, registered, deposit, rewards } = event;
      const history = kept(event.history, epoch);
      return { slot, epoch, registered, deposit, rewards, history, ...shownIn(history, epoch) };
    }
    default:
      return {};
  }
}

/** The state that a certificate leaves. */
function stateOf({ pool, drep }: Delegated): "neither" | "delegating" | "voting" | "both" {
  if (pool !== null) return drep !== null ? "both" : "delegating";
  return drep !== null ? "voting" : "neither";
}

/** Whether the chain tells something that is not behind what is known. */
function counts(context: DelegationContext, event: DelegationEvent): boolean {
  if (!("slot" in event)) return false;
  if (event.type === "TOLD" || event.type === "ROLLED_BACK") return true;
  return context.slot === null || event.slot >= context.slot;
}

const leads =
  (to: ReturnType<typeof stateOf>) => ({ context, event }: { context: DelegationContext; event: DelegationEvent }) => {
    if (!counts(context, event)) return false;
    if (event.type === "CERTIFIED") return stateOf(event) === to;
    return stateOf(newest(event as Whole)) === to;
  };

const possible = ({ context, event }: { context: DelegationContext; event: DelegationEvent }) =>
  !("slot" in event) &&
  objection({
      ...newest(context),
      registered: context.registered,
      rewards: BigInt(context.rewards),
    }, event) === undefined;

const moves = [
  { guard: "toNeither", target: ".neither", actions: "take" },
  { guard: "toDelegating", target: ".delegating", actions: "take" },
  { guard: "toVoting", target: ".voting", actions: "take" },
  { guard: "toBoth", target: ".both", actions: "take" },
  // of a wallet that is read behind others
  { actions: "stay" },
] as const;

export const delegationMachine = setup({
  types: {
    context: {} as DelegationContext,
    events: {} as InTurn<DelegationEvent>,
    input: {} as { kind: string; id: string },
  },
  guards: {
    toNeither: leads("neither"),
    toDelegating: leads("delegating"),
    toVoting: leads("voting"),
    toBoth: leads("both"),
    counts: ({ context, event }) => counts(context, event),
    possible,
  },
  actions: {
    ...turnActions,
    take: assign(({ context, event }) => after(context, event)),
    stay: assign({}),
  },
}).createMachine({
  id: "delegation",
  initial: "neither",
  context: {
    slot: null,
    epoch: 0,
    registered: false,
    deposit: null,
    history: [],
    rewards: "0",
    active: NOBODY,
    next: [],
  },
  on: {
    CERTIFIED: moves,
    TOLD: moves,
    ROLLED_BACK: moves,
    EPOCH: [{ guard: "counts", actions: "take" }, { actions: "stay" }],
    REWARDED: [{ guard: "counts", actions: "take" }, { actions: "stay" }],
    JOIN: { guard: "possible", actions: "stay" },
    CAST: { guard: "possible", actions: "stay" },
    QUIT: { guard: "possible", actions: "stay" },
  },
  states: { neither: {}, delegating: {}, voting: {}, both: {} },
});
