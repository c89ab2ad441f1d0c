/**
 * The life cycle of a wallet with a single owner: of today (`shelley`), or of the Byron era (`random`, `icarus`).
 *
 * ```
 * absent → beginning → restoring → live
 *             ↑ ↓          ↓         ↓
 *         deleted ←───── deleting ←──┘
 * ```
 *
 * Without blocks to read, `beginning` goes to `live` at once. A deleted wallet that is created again is `beginning`.
 *
 * `beginning` and `deleting` last until the effect that adds the wallet to the index, or removes it, has ended; then
 * CREATE or DELETE gets its reply. The coins of a wallet are rows of the index, and whether it is ready in the API
 * follows from its cursor. The machine knows only whether the index reads the wallet from its creation point on
 * (`restoring`) or together with all others (`live`).
 */
import { assign, enqueueActions, setup } from "xstate";
import { z } from "zod";
import { machineTypes, type TurnAction, turnActions } from "#src/base/turn.ts";
import { governance } from "#machines/governance.ts";
import { seenContent, seenInputs } from "#machines/seen.ts";

const slot = z.number().int().min(-1);
const hash = z.string().regex(/^([0-9a-f]{64})?$/);
const publicKey = z.string().regex(/^[0-9a-f]{128}$/);
const name = z.string().min(1).max(255);
const kind = z.enum(["shelley", "random", "icarus"]);
const method = z.enum(["scrypt", "pbkdf2-hmac-sha512", "argon2id-v2"]);
const passphrase = z.object({
  /** When it was last set, in ms since 1970. */
  at: z.number().int(),
  method,
}).strict();

/** Least, greatest and default number of unused addresses that an address pool keeps ahead. */
export const GAP = { least: 10, most: 100_000, usual: 20 } as const;
/**
 * Coin selection: for each output separately, as cardano-wallet documents it, or round robin over the assets, as it
 * does now.
 */
export const SELECTIONS = ["per-output", "round-robin"] as const;

/** Members of CREATE for wallets of all kinds. */
export const creation = {
  type: z.literal("CREATE"),
  name,
  gap: z.number().int().min(GAP.least).max(GAP.most),
  /** Account public key and chain code; for a random wallet the root public key and chain code. */
  key: publicKey,
  /** Id under which the vault holds the root key, one for each attempt to create the wallet; null where there is none. */
  attempt: z.string().min(1).max(100).nullable(),
  /** Null where there is no root key, or its passphrase is empty, as in old wallets. */
  passphrase: passphrase.nullable(),
  /** The block after which the wallet's first transaction can be; slot -1 with an empty hash means all blocks. */
  birth: z.object({ slot, hash }).strict(),
  oneChange: z.boolean(),
  selection: z.enum(SELECTIONS),
};

/** The passphrase of the root key in the vault has changed. */
const passphraseChanged = z.object({
  type: z.literal("PASSPHRASE_CHANGED"),
  attempt: creation.attempt.unwrap(),
  passphrase,
}).strict();

/** Commands to wallets of all kinds. */
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
    kind,
    /** Index of its account (hardened), where that is not 0. */
    account: z.number().int().min(0).max(2 ** 31 - 1).optional(),
    /** Policy public key and chain code, if known at creation. */
    policyKey: publicKey.nullable(),
  }).strict(),
  ...commonCommands,
  z.object({ type: z.literal("POLICY_KEY_SET"), key: publicKey }).strict(),
]);

const life = z.number().int().positive();
export const walletOutcomes = z.discriminatedUnion("type", [
  /** The address pools exist and the wallet is in the index. */
  z.object({ type: z.literal("BEGUN"), life }).strict(),
  /** The wallet has been removed from the index. */
  z.object({ type: z.literal("ENDED"), life }).strict(),
]);

/** Missing in events for wallets that were added before the index knew `life`. */
const ofIncarnation = { life: life.optional() };
const digits = z.string().regex(/^\d+$/);
const signed = z.string().regex(/^-?\d+$/);
const assetId = z.string().regex(/^([0-9a-f]{2}){28,60}$/);
const lovelace = digits.describe("Lovelace, in digits.");
/** The block of an event; missing in events of releases that did not write it. */
const block = z.object({
  slot: slot.describe("Its slot; -1 for the origin of the chain."),
  hash: hash.describe("Its hash; empty for the origin of the chain."),
  height: z.number().int().optional().describe("Its height."),
}).describe("The block.");
const following = z.number().int().positive().describe(
  "How many events `assets` with the rest of the assets follow this one at once; missing where there is none.",
);
/** A whole balance; parts of it that do not fit one event follow in ASSETS. */
const balance = {
  lovelace: lovelace.optional().describe("Lovelace of the wallet's unspent outputs at the block, in digits."),
  assets: z.record(assetId, digits).optional().describe(
    "Quantities of the assets of these outputs, by policy id and asset name in hexadecimal.",
  ),
  following: following.optional(),
  stake: z.string().optional().describe("The wallet's stake credential, which is the id of its actor `delegation`."),
};
/** What a transaction changed. */
const effect = {
  lovelace: signed.optional().describe(
    "What the lovelace of the wallet's unspent outputs changes by; negative where it falls. Rewards are no part of it.",
  ),
  assets: z.record(assetId, signed).optional().describe(
    "What the quantities of its assets change by, by policy id and asset name in hexadecimal.",
  ),
  following: following.optional(),
  fee: lovelace.optional().describe("The fee in lovelace; missing where it depends on foreign inputs."),
  depositTaken: lovelace.optional().describe("Deposits that the transaction pays, in lovelace."),
  depositReturned: lovelace.optional().describe("Deposits that it gets back, in lovelace."),
  withdrawal: lovelace.optional().describe(
    "Rewards withdrawn from the wallet's own account, in lovelace; missing where there are none.",
  ),
  received: z.array(z.object({
    address: z.string().describe("The address."),
    lovelace: lovelace.describe("Lovelace that it receives, in digits."),
    assets: z.record(assetId, digits).optional().describe("Assets that it receives; missing where there are none."),
  })).optional().describe("The wallet's own addresses with outputs of the transaction, those for change among them."),
  receivedLeftOut: z.number().int().positive().optional().describe(
    "How many such addresses the list lacks, because it would be too long; missing where it lacks none.",
  ),
};
export const walletInputs = z.discriminatedUnion("type", [
  /** From now on the index reads the wallet together with all others; its whole balance then. */
  z.object({ type: z.literal("RESTORED"), slot, block: block.optional(), ...balance, ...ofIncarnation }).strict(),
  /** A block holds a transaction that concerns the wallet. */
  z.object({
    type: z.literal("TRANSACTION"),
    slot,
    hash,
    direction: z.enum(["incoming", "outgoing"]),
    /** Lovelace that the wallet gained or lost, in digits without a sign. */
    amount: z.string(),
    block: block.optional(),
    ...effect,
    ...ofIncarnation,
  }).strict(),
  /** More assets of the RESTORED, TRANSACTION or ROLLED_BACK before it: to be added to the balance. */
  z.object({
    type: z.literal("ASSETS"),
    slot,
    assets: z.record(assetId, signed),
    following: following.optional(),
    ...ofIncarnation,
  }).strict(),
  /** A transaction that the wallet pays for takes part in governance; follows its TRANSACTION, and what follows that. */
  z.object({
    type: z.literal("GOVERNED"),
    slot,
    hash,
    block: block.optional(),
    ...governance,
    ...ofIncarnation,
  }).strict(),
  /** Blocks after a slot that concerned the wallet were rolled back; its whole balance then. */
  z.object({ type: z.literal("ROLLED_BACK"), slot, block: block.optional(), ...balance, ...ofIncarnation }).strict(),
  ...seenInputs,
  /** Like the command, but written in the transaction that changed the vault: the first of the two is applied. */
  passphraseChanged,
]);

const slotOfContent = slot.describe("Slot of the block.");
const nameOfContent = name.describe("The wallet's name.");
/** What its cosigners and its owner may choose later. */
const settings = {
  name: nameOfContent.optional(),
  oneChange: z.boolean().optional().describe("Whether a transaction has at most one output for change."),
  selection: z.enum(SELECTIONS).optional().describe("How coins are selected."),
};
/** Content of the events that wallets of all kinds have, for subscribers. Keys and passphrases are no part of it. */
export const commonContent = {
  RENAME: z.object({ name: nameOfContent }),
  SETTINGS: z.object(settings),
  RESTORED: z.object({ slot: slotOfContent, block: block.optional(), ...balance }),
  TRANSACTION: z.object({
    slot: slotOfContent,
    hash: hash.describe("Hash of the transaction."),
    direction: z.enum(["incoming", "outgoing"]).describe("`outgoing` where the wallet loses lovelace."),
    amount: z.string().describe("Lovelace that the wallet gains or loses; its own withdrawals count as spent."),
    block: block.optional(),
    ...effect,
  }),
  ASSETS: z.object({
    slot: slotOfContent,
    assets: z.record(assetId, signed).describe(
      "More assets of the event `restored`, `transaction` or `rolled-back` before it: to be added to the balance.",
    ),
    following: following.optional(),
  }),
  GOVERNED: z.object({
    slot: slotOfContent,
    hash: hash.describe("Hash of the transaction."),
    block: block.optional(),
    ...governance,
  }),
  ROLLED_BACK: z.object({
    slot: slotOfContent.describe("The wallet's transactions after this slot are no longer in the chain."),
    block: block.optional(),
    ...balance,
  }),
  ...seenContent,
} as const;
/** The members of CREATE that subscribers get. */
export const creationContent = {
  name: nameOfContent,
  gap: creation.gap.describe("Unused addresses that an address pool keeps ahead."),
  birth: z.object({
    slot: slot.describe("Its slot; -1 means all blocks."),
    hash: hash.describe("Its hash."),
  }).describe("The block after which the wallet's first transaction can be."),
};

/** What subscribers get of a wallet's events. */
export const walletContent = {
  CREATE: z.object({
    ...creationContent,
    kind: kind.describe(
      "`shelley`, or a wallet of the Byron era: `random`, or `icarus` for the styles icarus, trezor and ledger.",
    ),
  }),
  ...commonContent,
} as const;

export type WalletEvent =
  | z.infer<typeof walletCommands>
  | z.infer<typeof walletOutcomes>
  | z.infer<typeof walletInputs>;
type Create = Extract<WalletEvent, { type: "CREATE" }>;

/** The wallet's row, and its id in the vault. */
export interface WalletRecord extends Omit<Create, "type"> {
  /** In ms since 1970. */
  readonly createdAt: number;
}

export interface WalletContext {
  readonly id: string;
  /** How often it was created. Outcomes of effects carry it, so that a late one changes nothing. */
  readonly life: number;
  /** Null while the wallet does not exist. */
  readonly record: WalletRecord | null;
  /** The pending command: CREATE or DELETE, which is answered when its effect has ended. */
  readonly waiting: string | null;
  /** Slot of the last event from the chain. */
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
    account: record.account ?? 0,
    passphrase_at: record.passphrase && iso(record.passphrase.at),
    passphrase_method: record.passphrase?.method ?? null,
    birth_slot: record.birth.slot,
    birth_hash: record.birth.hash,
    one_change: record.oneChange,
    selection: record.selection,
    created_at: iso(record.createdAt),
  };
}

/** Applies the commands common to wallets of all kinds to a record. */
export function applyCommonCommand<R extends Pick<WalletRecord, "name" | "oneChange" | "selection" | "passphrase">>(
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

/** Whether a passphrase change is a later one of the record's own key. */
export function isNewPassphrase(
  record: Pick<WalletRecord, "attempt" | "passphrase"> | null,
  { attempt, passphrase }: z.infer<typeof passphraseChanged>,
): boolean {
  if (record === null || attempt !== record.attempt) return false;
  return record.passphrase === null || passphrase.at > record.passphrase.at;
}

/** The record of a wallet that exists. @throws TypeError where there is none, which is an error of the program. */
export function recordOf<Record>({ record }: { readonly record: Record | null }): Record {
  if (record === null) throw new TypeError("the wallet has no record");
  return record;
}

/**
 * Whether an event belongs to the current incarnation of the wallet. An event can arrive late, from an incarnation before
 * the wallet was deleted; one without `life` (of older releases) counts as current.
 */
export function isOfIncarnation(
  { life }: { readonly life: number },
  event: { readonly type: string; readonly life?: number | undefined },
): boolean {
  return event.life === undefined || event.life === life;
}

/** A wallet that exists, as every kind has it. */
type ExistingWallet = Pick<WalletContext, "id" | "life" | "waiting"> & {
  readonly record: Pick<WalletRecord, "attempt"> | null;
};

/** The actions that end a wallet: the reply to an open CREATE, the rows of `tables` removed, and the effect `end`. */
export function endActions({ id, life, record, waiting }: ExistingWallet, tables: readonly string[]): TurnAction[] {
  const error = { code: "no_such_wallet", message: "The wallet was deleted while it was being created." };
  const input = { wallet: id, life, attempt: record?.attempt ?? null };
  return [
    ...(waiting === null ? [] : [{ type: "reply" as const, params: { to: waiting, error } }]),
    ...tables.map((table) => ({ type: "remove" as const, params: { table, key: { id } } })),
    { type: "remove", params: { table: "adoption", key: { wallet: id } } },
    { type: "effect", params: { name: "end", input } },
  ];
}

/** Answers the pending command. */
export function answerActions({ id, waiting }: ExistingWallet): TurnAction[] {
  return waiting === null ? [] : [{ type: "reply", params: { to: waiting, ok: { id } } }];
}

/** The action that writes the row by which the vault keeps the wallet's key: without one it erases the key after an hour. */
export function adoptActions(id: string, { attempt }: Pick<WalletRecord, "attempt">): TurnAction[] {
  return attempt === null ? [] : [{ type: "put", params: { table: "adoption", row: { wallet: id, attempt } } }];
}

/** The record after a command. */
function applyCommand(record: WalletRecord, event: WalletEvent): WalletRecord {
  switch (event.type) {
    case "RENAME":
    case "SETTINGS":
    case "PASSPHRASE_CHANGED":
      return applyCommonCommand(record, event);
    case "POLICY_KEY_SET":
      return { ...record, policyKey: event.key };
    default:
      return record;
  }
}

/**
 * Handlers shared by several states. SEEN and WITHDRAWN change nothing: their transitions tell subscribers. They are not on a parent state: the names of states are persisted, and operators
 * list the events of each state.
 */
const whileIndexed = {
  TRANSACTION: { guard: "ofThisLife", actions: "note" },
  ASSETS: { guard: "ofThisLife", actions: "note" },
  GOVERNED: { guard: "ofThisLife", actions: "note" },
  ROLLED_BACK: { guard: "ofThisLife", actions: "note" },
  SEEN: { guard: "ofThisLife", actions: "note" },
  WITHDRAWN: { guard: "ofThisLife", actions: "note" },
} as const;
const whileItExists = {
  RENAME: { actions: "change" },
  SETTINGS: { actions: "change" },
  PASSPHRASE_CHANGED: { guard: "newPassphrase", actions: "change" },
  POLICY_KEY_SET: { actions: "change" },
  DELETE: { target: "deleting", actions: "end" },
} as const;

export const walletMachine = setup({
  types: machineTypes<WalletContext, WalletEvent>(),
  guards: {
    ofThisLife: ({ context, event }) => isOfIncarnation(context, event),
    newPassphrase: ({ context, event }) =>
      event.type === "PASSPHRASE_CHANGED" && isNewPassphrase(context.record, event),
  },
  actions: {
    ...turnActions,
    begin: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "CREATE") return;
      const { type: _, turn, ...members } = event;
      const record: WalletRecord = { ...members, createdAt: turn.at };
      const next = context.life + 1;
      enqueue.assign({ life: next, record, waiting: turn.command ?? null, slot: null });
      enqueue({ type: "put", params: { table: "wallet", row: walletRow(context.id, next, record) } });
      for (const action of adoptActions(context.id, record)) enqueue(action);
      enqueue({ type: "effect", params: { name: "begin", input: { wallet: context.id, life: next } } });
    }),
    change: enqueueActions(({ enqueue, context, event }) => {
      const record = applyCommand(recordOf(context), event);
      enqueue.assign({ record });
      enqueue({ type: "put", params: { table: "wallet", row: walletRow(context.id, context.life, record) } });
      enqueue({ type: "reply", params: { ok: { id: context.id } } });
    }),
    end: enqueueActions(({ enqueue, context, event }) => {
      for (const action of endActions(context, ["wallet"])) enqueue(action);
      enqueue.assign({ record: null, waiting: event.turn.command ?? null });
    }),
    answer: enqueueActions(({ enqueue, context }) => {
      for (const action of answerActions(context)) enqueue(action);
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
        // the index may restore the wallet before the effect's outcome arrives
        RESTORED: { guard: "ofThisLife", target: "live", actions: ["note", "answer"] },
        ...whileIndexed,
        ...whileItExists,
      },
    },
    restoring: {
      on: {
        RESTORED: { guard: "ofThisLife", target: "live", actions: "note" },
        ...whileIndexed,
        ...whileItExists,
      },
    },
    live: {
      on: {
        ...whileIndexed,
        ...whileItExists,
      },
    },
    deleting: { on: { ENDED: { guard: "ofThisLife", target: "deleted", actions: "answer" } } },
    deleted: { on: { CREATE: { target: "beginning", actions: "begin" } } },
  },
});
