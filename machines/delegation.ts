/**
 * The delegation of a stake credential, by its certificates: pool and DRep now and in the coming epochs. Its states say
 * which of the two it has: `neither`, a pool (`delegating`), a DRep (`voting`) or `both`; a certificate leads from each
 * to each.
 *
 * State changes arrive through the chain log. The state is the result of the newest certificate. Stake counts only from
 * the second epoch after the certificate, so `active` and `next` follow later. Wallets that share a credential may be
 * read at different points of the chain: events older than the known ones change nothing, and TOLD carries the whole
 * account when a wallet reaches the others.
 *
 * The intents (JOIN, QUIT, CAST) are never applied. A build asks for one with `refusalOf`, on the account of its own
 * rows: the actor reads the log later, and knows nothing of pending transactions.
 */
import { assign, setup } from "xstate";
import { z } from "zod";
import { present } from "#src/base/present.ts";
import { INTENT, machineTypes, turnActions } from "#src/base/turn.ts";

/** Epochs from a certificate to the first one in which it counts. */
export const LAG = 2;

const slot = z.number().int().min(-1).describe("Slot of the block; -1 for the origin of the chain.");
const epoch = z.number().int().min(0).describe("Epoch of the block.");
const whom = {
  pool: z.string().nullable().describe("Pool id in hexadecimal, of any length; null without one."),
  drep: z.string().nullable().describe(
    "The vote: `abstain`, `no_confidence`, `key-<hash>` or `script-<hash>`; null without one.",
  ),
};
const certified = z.object({
  epoch: z.number().int().min(-1).describe(
    "Epoch of the certificate; -1 for the delegation before the first known one.",
  ),
  ...whom,
}).strict();
const account = {
  slot,
  epoch,
  registered: z.boolean().describe("Whether the stake credential is registered."),
  deposit: z.string().regex(/^\d+$/).nullable().describe(
    "Deposit of the registration in lovelace; null where no certificate and no query of the network stated it.",
  ),
};
const rewards = z.string().regex(/^\d+$/).describe("Rewards that are not withdrawn, in lovelace.");
/** How many transactions of a block an event names. */
export const MOST_TRANSACTIONS = 50;
/** The block of an event; missing in events of releases that did not write it. */
const block = z.object({
  slot,
  hash: z.string().regex(/^([0-9a-f]{64})?$/).describe("Its hash; empty for the origin of the chain."),
  height: z.number().int().optional().describe("Its height."),
}).describe("The block.");
/** Where a change came from; missing where it is in no block. */
const source = {
  block: block.optional(),
  transactions: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(MOST_TRANSACTIONS).optional().describe(
    `Hashes of the block's transactions that changed the account, the last ${MOST_TRANSACTIONS} of them.`,
  ),
};
/**
 * The whole account. `slot` is that of its newest change (a later rollback that changes nothing sends no event),
 * `epoch` that of the index's block. `history` has the newest certificates of the last epochs, oldest first.
 */
const whole = {
  ...account,
  history: z.array(certified).max(LAG + 2).describe("The newest certificates of the last epochs, oldest first."),
  rewards,
  block: block.optional(),
};
const rewarded = {
  slot,
  epoch,
  rewards,
  withdrawn: z.string().regex(/^\d+$/).optional().describe(
    "Lovelace that the block withdraws; missing where it withdraws none.",
  ),
  ...source,
};

export const delegationInputs = z.discriminatedUnion("type", [
  /** A block has certificates of the credential, or its DRep deregisters; these are the values after that. */
  z.object({ type: z.literal("CERTIFIED"), ...account, ...whom, ...source }).strict(),
  /** The first block of an epoch in which a certificate begins to count. */
  z.object({ type: z.literal("EPOCH"), slot, epoch }).strict(),
  /** Rewards not withdrawn, by the ledger, after an epoch boundary or a withdrawal. */
  z.object({ type: z.literal("REWARDED"), ...rewarded }).strict(),
  /** The whole account, sent when the index begins to read a wallet with all others, or the network reports another. */
  z.object({ type: z.literal("TOLD"), ...whole }).strict(),
  /** Blocks with changes were rolled back; this is the account again. */
  z.object({ type: z.literal("ROLLED_BACK"), ...whole }).strict(),
]);

/** What subscribers get of a delegation's events. */
export const delegationContent = {
  CERTIFIED: z.object({ ...account, ...whom, ...source }),
  EPOCH: z.object({ slot, epoch }),
  REWARDED: z.object(rewarded),
  TOLD: z.object(whole),
  ROLLED_BACK: z.object(whole),
} as const;

/** What a build may want of an account. */
export type DelegationIntent =
  | { readonly type: "JOIN"; readonly pool: string; readonly drep?: string }
  | { readonly type: "CAST"; readonly drep: string }
  /** `withdrawing`: the same transaction withdraws the rewards. */
  | { readonly type: "QUIT"; readonly withdrawing: boolean };

export type DelegationEvent = z.infer<typeof delegationInputs>;

/** Pool and DRep of a delegation. */
export interface Delegated {
  readonly pool: string | null;
  readonly drep: string | null;
}

/** The delegation after a certificate, and the certificate's epoch. */
export interface Certified extends Delegated {
  readonly epoch: number;
}

/** The delegation that counts in an epoch, and its changes in the next epochs. */
export interface Shown {
  readonly active: Delegated;
  readonly next: readonly (Delegated & { readonly from: number })[];
}

export interface DelegationContext extends Shown {
  /** Slot of the last event; null before the first. */
  readonly slot: number | null;
  readonly epoch: number;
  readonly registered: boolean;
  readonly deposit: string | null;
  readonly history: readonly Certified[];
  /** Rewards not withdrawn, in lovelace, by the last report of the network. */
  readonly rewards: string;
}

const NOBODY: Delegated = { pool: null, drep: null };
const same = (a: Delegated, b: Delegated) => a.pool === b.pool && a.drep === b.drep;
const only = ({ pool, drep }: Delegated): Delegated => ({ pool, drep });

/** The delegation that counts in an epoch, and its changes after it, from certificates, oldest first. */
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

/**
 * The part of a history that matters from an epoch on: the newest certificate of each epoch, and the last that counts
 * already.
 */
export function kept(history: readonly Certified[], epoch: number): readonly Certified[] {
  const newest = history.filter((one, i) => history[i + 1]?.epoch !== one.epoch);
  const begun = newest.findLastIndex((one) => one.epoch <= epoch - LAG);
  return newest.slice(Math.max(0, begun));
}

/** Why an intent is refused. */
export type DelegationRefusal =
  | "pool_already_joined"
  | "pool_already_joined_same_vote"
  | "same_vote"
  | "not_delegating_to"
  | "non_null_rewards";

/** What decides whether an account can carry out an intent: pool and DRep after its newest certificate. */
export interface AccountStatus extends Delegated {
  readonly registered: boolean;
  readonly rewards: bigint;
}

/** The guard of the intents: why an account cannot carry one out; `undefined` when it can. */
function objection(
  { registered, pool, drep, rewards }: AccountStatus,
  intent: DelegationIntent,
): DelegationRefusal | undefined {
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

/** The delegation after the newest certificate. */
function newest({ history }: Pick<DelegationContext, "history">): Delegated {
  return history.at(-1) ?? NOBODY;
}

function after(context: DelegationContext, event: DelegationEvent | DelegationIntent): Partial<DelegationContext> {
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

/** Whether an event from the chain is not older than the known ones. */
function counts(context: DelegationContext, event: DelegationEvent | DelegationIntent): boolean {
  if (!("slot" in event)) return false;
  if (event.type === "TOLD" || event.type === "ROLLED_BACK") return true;
  return context.slot === null || event.slot >= context.slot;
}

const leads =
  (to: ReturnType<typeof stateOf>) =>
  ({ context, event }: { context: DelegationContext; event: DelegationEvent | DelegationIntent }) => {
    if (!counts(context, event)) return false;
    if (event.type === "CERTIFIED") return stateOf(event) === to;
    return (event.type === "TOLD" || event.type === "ROLLED_BACK") && stateOf(newest(event)) === to;
  };

/** Whether the account can carry out an intent. */
const possible = ({ context, event }: { context: DelegationContext; event: DelegationEvent | DelegationIntent }) => {
  if ("slot" in event) return false;
  const { registered, rewards } = context;
  return objection({ ...newest(context), registered, rewards: BigInt(rewards) }, event) === undefined;
};

const asked = { guard: "possible", actions: "stay", meta: INTENT } as const;

const moves = [
  { guard: "toNeither", target: ".neither", actions: "take" },
  { guard: "toDelegating", target: ".delegating", actions: "take" },
  { guard: "toVoting", target: ".voting", actions: "take" },
  { guard: "toBoth", target: ".both", actions: "take" },
] as const;
/** An event from a wallet that is read at an earlier point than others. */
const older = { actions: "stay" } as const;

/** Before the first event. */
const START: DelegationContext = {
  slot: null,
  epoch: 0,
  registered: false,
  deposit: null,
  history: [],
  rewards: "0",
  active: NOBODY,
  next: [],
};

export const delegationMachine = setup({
  types: machineTypes<DelegationContext, DelegationEvent, DelegationIntent>(),
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
  context: START,
  on: {
    CERTIFIED: [...moves, older],
    TOLD: moves,
    ROLLED_BACK: moves,
    EPOCH: [{ guard: "counts", actions: "take" }, older],
    REWARDED: [{ guard: "counts", actions: "take" }, older],
    JOIN: asked,
    CAST: asked,
    QUIT: asked,
  },
  states: { neither: {}, delegating: {}, voting: {}, both: {} },
});

/** Asks the machine whether an account can carry out an intent: why it refuses it; `undefined` when it accepts it. */
export function refusalOf(account: AccountStatus, intent: DelegationIntent): DelegationRefusal | undefined {
  const { registered, pool, drep, rewards } = account;
  const history = [{ epoch: START.epoch, pool, drep }];
  const context = { ...START, registered, history, rewards: String(rewards) };
  const can = delegationMachine.resolveState({ value: stateOf(account), context }).can(intent);
  return can ? undefined : present(objection(account, intent), "the reason of a refusal");
}
