/**
 * The life of a wallet whose addresses are all its own: sequential (`shelley`) or of the first era (`random`).
 *
 * ```
 * absent → beginning → restoring → live
 *    ↑         ↓           ↓         ↓
 *    └ deleted ←──────── deleting ←──┘
 * ```
 *
 * `beginning` and `deleting` last as long as the effect that enrols the wallet with the index or takes it off: a reply to CREATE and to
 * DELETE says that this is done. What a wallet holds is rows of the index, and whether it is ready on the wire is computed from where
 * its cursor stands; the machine knows that it is read from its birth on (`restoring`) or with all others (`live`).
 */
import { assign, enqueueActions, setup } from "xstate";
import { z } from "zod";
import { type InTurn, turnActions } from "#src/base/turn.ts";

const slot = z.number().int().min(-1);
const hash = z.string().regex(/^([0-9a-f]{64})?$/);
const publicKey = z.string().regex(/^[0-9a-f]{128}$/);
const name = z.string().min(1).max(255);
const method = z.enum(["scrypt", "pbkdf2-hmac-sha512", "argon2id-v2"]);
const passphrase = z.object({
  /** When it was last set, in ms since 1970. */
  at: z.number().int(),
  method,
}).strict();

/** Least and most unused addresses that a pool keeps ahead, and how many it keeps unless told. */
export const GAP = { least: 10, most: 100_000, usual: 20 } as const;
/** How inputs are chosen: an output to each its own, as documented, or round robin over the assets, as the field does today. */
export const SELECTIONS = ["per-output", "round-robin"] as const;

/** What CREATE says of a wallet of any kind. */
export const creation = {
  type: z.literal("CREATE"),
  name,
  gap: z.number().int().min(GAP.least).max(GAP.most),
  /** Account public key and chain code; of a random wallet its root public key and chain code. */
  key: publicKey,
  /** The attempt under which the vault holds the root key; null for a wallet without one. */
  attempt: z.string().min(1).max(100).nullable(),
  passphrase: passphrase.nullable(),
  /** The block after which the wallet's first transaction may stand; slot -1 with an empty hash: all blocks. */
  birth: z.object({ slot, hash }).strict(),
  oneChange: z.boolean(),
  selection: z.enum(SELECTIONS),
};

/** Another passphrase opens the root key that the attempt put into the vault. */
const passphraseChanged = z.object({
  type: z.literal("PASSPHRASE_CHANGED"),
  attempt: creation.attempt.unwrap(),
  passphrase,
}).strict();

/** What wallets of all kinds are told. */
export const commonCommands = [
  z.object({ type: z.literal("RENAME"), name }).strict(),
  z.object({
    type: z.literal("SETTINGS"),
    name: name.optional(),
    oneChange: z.boolean().optional(),
    selection: z.enum(SELECTIONS).optional(),
  }).strict(),
  passphraseChanged,
  z.object({ type: z.literal("DELETE") }).strict(),
] as const;

export const walletCommands = z.discriminatedUnion("type", [
  z.object({
    ...creation,
    kind: z.enum(["shelley", "random"]),
    /** Policy public key and chain code, where it is known from the beginning. */
    policyKey: publicKey.nullable(),
  }).strict(),
  ...commonCommands,
  z.object({ type: z.literal("POLICY_KEY_SET"), key: publicKey }).strict(),
]);

const life = z.number().int().positive();
export const walletOutcomes = z.discriminatedUnion("type", [
  /** The pools stand and the wallet is enrolled with the index. */
  z.object({ type: z.literal("BEGUN"), life }).strict(),
  /** The wallet is off the index. */
  z.object({ type: z.literal("ENDED"), life }).strict(),
]);

/** Missing in what the index says of wallets that were begun before it knew their lives. */
const ofLife = { life: life.optional() };
export const walletInputs = z.discriminatedUnion("type", [
  /** From now on the wallet is read with all others. */
  z.object({ type: z.literal("RESTORED"), slot, ...ofLife }).strict(),
  /** A block holds a transaction that concerns the wallet. */
  z.object({
    type: z.literal("TRANSACTION"),
    slot,
    hash,
    direction: z.enum(["incoming", "outgoing"]),
    /** Lovelace that the wallet gained or lost, in digits without a sign. */
    amount: z.string(),
    ...ofLife,
  }).strict(),
  /** Blocks above a slot that concerned the wallet are no more. */
  z.object({ type: z.literal("ROLLED_BACK"), slot, ...ofLife }).strict(),
  /** As the command, out of the transaction that changed the vault: whichever comes first is applied. */
  passphraseChanged,
]);

export type WalletEvent =
  | z.infer<typeof walletCommands>
  | z.infer<typeof walletOutcomes>
  | z.infer<typeof walletInputs>;
type Create = Extract<WalletEvent, { type: "CREATE" }>;

/** What the wallet's row says of it, and the attempt of the vault. */
export interface WalletRecord extends Omit<Create, "type"> {
  /** In ms since 1970. */
  readonly createdAt: number;
}

export interface WalletContext {
  readonly id: string;
  /** How often it was created: answers of effects carry it, so that a late one changes nothing. */
  readonly life: number;
  /** What holds while the wallet is there. */
  readonly record: WalletRecord | null;
  /** The command whose reply is open. */
  readonly waiting: string | null;
  /** Slot of the last thing that the chain told. */
  readonly slot: number | null;
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The row of the table `wallet`. */
export function walletRow(
  id: string,
  life: number,
  record: Omit<WalletRecord, "kind" | "attempt"> & { readonly kind: string },
) {
  return {
    id,
    life,
    kind: record.kind,
    name: record.name,
    gap: record.gap,
    key: record.key,
    policy_key: record.policyKey,
    passphrase_at: record.passphrase && iso(record.passphrase.at),
    passphrase_method: record.passphrase?.method ?? null,
    birth_slot: record.birth.slot,
    birth_hash: record.birth.hash,
    one_change: record.oneChange,
    selection: record.selection,
    created_at: iso(record.createdAt),
  };
}

/** What commands to wallets of all kinds change of the record. */
export function changedAlike<R extends Pick<WalletRecord, "name" | "oneChange" | "selection" | "passphrase">>(
  record: R,
  event: Exclude<z.infer<(typeof commonCommands)[number]>, { type: "DELETE" }>,
): R {
  switch (event.type) {
    case "RENAME":
      return { ...record, name: event.name };
    case "SETTINGS":
      return {
        ...record,
        name: event.name ?? record.name,
        oneChange: event.oneChange ?? record.oneChange,
        selection: event.selection ?? record.selection,
      };
    case "PASSPHRASE_CHANGED":
      return { ...record, passphrase: event.passphrase };
  }
}

/** Whether an event says of the record's own key what the record does not know yet. */
export function isNewPassphrase(
  record: Pick<WalletRecord, "attempt" | "passphrase"> | null,
  event: { readonly type: string },
): boolean {
  if (event.type !== "PASSPHRASE_CHANGED" || !record?.passphrase) return false;
  const { attempt, passphrase } = event as z.infer<typeof passphraseChanged>;
  return attempt === record.attempt && passphrase.at > record.passphrase.at;
}

/** Whether an event is of the wallet's present life, as far as it says: it may have waited since an earlier one. */
export function isOfLife({ life }: { readonly life: number }, event: { readonly life?: number | undefined }): boolean {
  return event.life === undefined || event.life === life;
}

/** What a command changes of the record. */
function changed(record: WalletRecord, event: WalletEvent): WalletRecord {
  switch (event.type) {
    case "RENAME":
    case "SETTINGS":
    case "PASSPHRASE_CHANGED":
      return changedAlike(record, event);
    case "POLICY_KEY_SET":
      return { ...record, policyKey: event.key };
    default:
      return record;
  }
}

export const walletMachine = setup({
  types: {
    context: {} as WalletContext,
    events: {} as InTurn<WalletEvent>,
    input: {} as { kind: string; id: string },
  },
  guards: {
    ofThisLife: ({ context, event }) => isOfLife(context, event as { life?: number }),
    newPassphrase: ({ context, event }) => isNewPassphrase(context.record, event),
  },
  actions: {
    ...turnActions,
    begin: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "CREATE") return;
      const { type: _, turn, ...given } = event;
      const record: WalletRecord = { ...given, createdAt: turn.at };
      const next = context.life + 1;
      enqueue.assign({ life: next, record, waiting: turn.command ?? null, slot: null });
      enqueue({ type: "put", params: { table: "wallet", row: walletRow(context.id, next, record) } });
      if (given.attempt !== null) {
        enqueue({ type: "put", params: { table: "adoption", row: { wallet: context.id, attempt: given.attempt } } });
      }
      enqueue({ type: "effect", params: { name: "begin", input: { wallet: context.id, life: next } } });
    }),
    change: enqueueActions(({ enqueue, context, event }) => {
      const record = changed(context.record!, event);
      enqueue.assign({ record });
      enqueue({ type: "put", params: { table: "wallet", row: walletRow(context.id, context.life, record) } });
      enqueue({ type: "reply", params: { ok: { id: context.id } } });
    }),
    end: enqueueActions(({ enqueue, context, event }) => {
      const { id, life } = context;
      const attempt = context.record?.attempt ?? null;
      if (context.waiting !== null) {
        const error = { code: "no_such_wallet", message: "The wallet was deleted while it was being created." };
        enqueue({ type: "reply", params: { to: context.waiting, error } });
      }
      enqueue.assign({ record: null, waiting: event.turn.command ?? null });
      enqueue({ type: "remove", params: { table: "wallet", key: { id } } });
      enqueue({ type: "remove", params: { table: "adoption", key: { wallet: id } } });
      enqueue({ type: "effect", params: { name: "end", input: { wallet: id, life, attempt } } });
    }),
    answer: enqueueActions(({ enqueue, context }) => {
      if (context.waiting === null) return;
      enqueue({ type: "reply", params: { to: context.waiting, ok: { id: context.id } } });
      enqueue.assign({ waiting: null });
    }),
    note: assign(({ event }) => "slot" in event ? { slot: event.slot } : {}),
  },
}).createMachine({
  id: "wallet",
  initial: "absent",
  context: ({ input }) => ({ id: input.id, life: 0, record: null, waiting: null, slot: null }),
  states: {
    absent: { on: { CREATE: { target: "beginning", actions: "begin" } } },
    beginning: {
      on: {
        BEGUN: { guard: "ofThisLife", target: "restoring", actions: "answer" },
        // the follower may be quicker than the effect's answer
        RESTORED: { guard: "ofThisLife", target: "live", actions: ["note", "answer"] },
        RENAME: { actions: "change" },
        SETTINGS: { actions: "change" },
        PASSPHRASE_CHANGED: { guard: "newPassphrase", actions: "change" },
        POLICY_KEY_SET: { actions: "change" },
        DELETE: { target: "deleting", actions: "end" },
      },
    },
    restoring: {
      on: {
        RESTORED: { guard: "ofThisLife", target: "live", actions: "note" },
        TRANSACTION: { guard: "ofThisLife", actions: "note" },
        ROLLED_BACK: { guard: "ofThisLife", actions: "note" },
        RENAME: { actions: "change" },
        SETTINGS: { actions: "change" },
        PASSPHRASE_CHANGED: { guard: "newPassphrase", actions: "change" },
        POLICY_KEY_SET: { actions: "change" },
        DELETE: { target: "deleting", actions: "end" },
      },
    },
    live: {
      on: {
        TRANSACTION: { guard: "ofThisLife", actions: "note" },
        ROLLED_BACK: { guard: "ofThisLife", actions: "note" },
        RENAME: { actions: "change" },
        SETTINGS: { actions: "change" },
        PASSPHRASE_CHANGED: { guard: "newPassphrase", actions: "change" },
        POLICY_KEY_SET: { actions: "change" },
        DELETE: { target: "deleting", actions: "end" },
      },
    },
    deleting: { on: { ENDED: { guard: "ofThisLife", target: "deleted", actions: "answer" } } },
    deleted: { on: { CREATE: { target: "beginning", actions: "begin" } } },
  },
});
