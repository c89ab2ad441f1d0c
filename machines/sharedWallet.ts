/**
 * The life cycle of a shared wallet: its addresses are scripts of the keys of several cosigners.
 *
 * ```
 * absent → incomplete → beginning → restoring → live
 *              ↑ ↓          ↓           ↓         ↓
 *           deleted ←───── deleting ←─────────────┘
 * ```
 *
 * While the account key of a cosigner is missing, the wallet is `incomplete` and has no address. Keys of other
 * cosigners can then be added or replaced. The command that adds the last key (CREATE or ADD_KEYS) gets its reply when
 * the wallet is in the index. From then on the states are those of any wallet (`machines/wallet.ts`).
 */
import { assign, enqueueActions, setup } from "xstate";
import { z } from "zod";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { machineTypes, turnActions } from "#src/base/turn.ts";
import {
  adoptActions,
  answerActions,
  applyCommonCommand,
  commonCommands,
  commonContent,
  creation,
  creationContent,
  endActions,
  isNewPassphrase,
  isOfIncarnation,
  recordOf,
  type WalletContext,
  walletInputs,
  walletOutcomes,
  walletRow,
} from "#machines/wallet.ts";

const accountKey = z.string().regex(/^[0-9a-f]{128}$/);
const cosigner = z.string().regex(/^cosigner#(0|[1-9]\d{0,2})$/);
const keys = z.record(cosigner, accountKey);

const template = z.object({
  /** The script of names, in JSON. */
  script: z.string(),
  /** The names in it. */
  names: z.array(cosigner).min(1),
  /** Known account public keys and chain codes, by cosigner. */
  keys,
}).strict();
type Template = z.infer<typeof template>;

export const CREDENTIALS = ["payment", "delegation"] as const;

export const sharedWalletCommands = z.discriminatedUnion("type", [
  z.object({
    ...creation,
    /** Index of its account (hardened). */
    account: z.number().int().min(0).max(2 ** 31 - 1),
    payment: template,
    delegation: template.nullable(),
  }).strict(),
  z.object({ type: z.literal("ADD_KEYS"), credential: z.enum(CREDENTIALS), keys }).strict(),
  ...commonCommands,
]);

/** What subscribers get of a shared wallet's events. The cosigners' keys are no part of it. */
export const sharedWalletContent = {
  CREATE: z.object({
    ...creationContent,
    account: z.number().int().describe("Index of its account (hardened)."),
  }),
  ADD_KEYS: z.object({ credential: z.enum(CREDENTIALS).describe("The script template that keys were added to.") }),
  ...commonContent,
} as const;

export type SharedWalletEvent =
  | z.infer<typeof sharedWalletCommands>
  | z.infer<typeof walletOutcomes>
  | z.infer<typeof walletInputs>;
type Create = Extract<SharedWalletEvent, { type: "CREATE" }>;
type AddKeys = Extract<SharedWalletEvent, { type: "ADD_KEYS" }>;

/** The wallet's rows, and its id in the vault. */
export interface SharedWalletRecord extends Omit<Create, "type"> {
  /** In ms since 1970. */
  readonly createdAt: number;
}

export interface SharedWalletContext extends Omit<WalletContext, "record"> {
  readonly record: SharedWalletRecord | null;
}

/** Why keys are refused. */
export type KeysFailure = Failure<
  | "shared_wallet_active"
  | "shared_wallet_no_delegation_template"
  | "shared_wallet_cannot_update_key"
  | "shared_wallet_no_such_cosigner"
  | "shared_wallet_key_already_exists"
>;

const active = fail(
  "shared_wallet_active",
  "It looks like you've tried to add a cosigner key for a shared wallet that is active. This can be done only for an incomplete shared wallet.",
);

/** A wallet's record with keys added to one of its templates; all keys or none. */
function withKeys(record: SharedWalletRecord, { credential, keys }: AddKeys): Result<SharedWalletRecord, KeysFailure> {
  const template = record[credential];
  if (!template) {
    return fail(
      "shared_wallet_no_delegation_template",
      "It looks like you've tried to add a cosigner key to a shared wallet's delegation template. This cannot be done for a wallet that does " +
        "not define any delegation template.",
    );
  }
  const known = { ...template.keys };
  for (const [name, key] of Object.entries(keys)) {
    if (known[name] === record.key) {
      return fail(
        "shared_wallet_cannot_update_key",
        "It looks like you've tried to update the key of a cosigner having a shared wallet's account key. Only other cosigner key(s) can be " +
          "updated.",
      );
    }
    if (!template.names.includes(name)) {
      const index = Number(name.slice("cosigner#".length));
      return fail(
        "shared_wallet_no_such_cosigner",
        `It looks like you've tried to add a cosigner key to a shared wallet's ${credential} template for a non-existing cosigner index: ${index}`,
        { cosigner_index: index, credential_type: credential },
      );
    }
    if (Object.values(known).includes(key)) {
      return fail(
        "shared_wallet_key_already_exists",
        `It looks like you've tried to add a cosigner key to a shared wallet's ${credential} template that is already ascribed to another ` +
          "cosigner. Please make sure to assign a different key to each cosigner.",
      );
    }
    known[name] = key;
  }
  return ok({ ...record, [credential]: { ...template, keys: known } });
}

const complete = ({ names, keys }: Template) => names.every((name) => keys[name] !== undefined);

/** Whether all keys are known. */
function isComplete({ payment, delegation }: Pick<SharedWalletRecord, "payment" | "delegation">): boolean {
  return complete(payment) && (delegation === null || complete(delegation));
}

const templateText = ({ script, keys }: Template) => `{"script":${script},"keys":${JSON.stringify(keys)}}`;

/** The row of the table `shared_wallet`. */
function sharedRow(id: string, record: SharedWalletRecord) {
  return {
    id,
    account: record.account,
    payment: templateText(record.payment),
    delegation: record.delegation && templateText(record.delegation),
    complete: isComplete(record),
  };
}

/** The record after a command. */
function applyCommand(record: SharedWalletRecord, event: SharedWalletEvent): SharedWalletRecord {
  switch (event.type) {
    case "RENAME":
    case "SETTINGS":
    case "PASSPHRASE_CHANGED":
      return applyCommonCommand(record, event);
    case "ADD_KEYS": {
      const added = withKeys(record, event);
      return added.ok ? added.value : record;
    }
    default:
      return record;
  }
}

/** Handlers shared by several states; see `machines/wallet.ts` for why they are not on a parent state. */
const creatable = {
  CREATE: [
    { guard: "createsComplete", target: "beginning", actions: ["create", "begin"] },
    { target: "incomplete", actions: ["create", "agree"] },
  ],
} as const;
const whileIndexed = {
  TRANSACTION: { guard: "ofThisLife", actions: "note" },
  ASSETS: { guard: "ofThisLife", actions: "note" },
  GOVERNED: { guard: "ofThisLife", actions: "note" },
  ROLLED_BACK: { guard: "ofThisLife", actions: "note" },
  SEEN: { guard: "ofThisLife", actions: "note" },
  WITHDRAWN: { guard: "ofThisLife", actions: "note" },
} as const;
const whileItExists = {
  RENAME: { actions: ["change", "agree"] },
  SETTINGS: { actions: ["change", "agree"] },
  PASSPHRASE_CHANGED: { guard: "newPassphrase", actions: ["change", "agree"] },
  DELETE: { target: "deleting", actions: "end" },
} as const;

export const sharedWalletMachine = setup({
  types: machineTypes<SharedWalletContext, SharedWalletEvent>(),
  guards: {
    ofThisLife: ({ context, event }) => isOfIncarnation(context, event),
    newPassphrase: ({ context, event }) =>
      event.type === "PASSPHRASE_CHANGED" && isNewPassphrase(context.record, event),
    createsComplete: ({ event }) => event.type === "CREATE" && isComplete(event),
    completes: ({ context, event }) => {
      if (event.type !== "ADD_KEYS") return false;
      const added = withKeys(recordOf(context), event);
      return added.ok && isComplete(added.value);
    },
    refused: ({ context, event }) => event.type === "ADD_KEYS" && !withKeys(recordOf(context), event).ok,
  },
  actions: {
    ...turnActions,
    create: enqueueActions(({ enqueue, context, event }) => {
      if (event.type !== "CREATE") return;
      const { type: _, turn, ...members } = event;
      const record: SharedWalletRecord = { ...members, createdAt: turn.at };
      const life = context.life + 1;
      enqueue.assign({ life, record, waiting: null, slot: null });
      const common = walletRow(context.id, life, { ...record, kind: "shared", policyKey: null });
      enqueue({ type: "put", params: { table: "wallet", row: common } });
      enqueue({ type: "put", params: { table: "shared", row: sharedRow(context.id, record) } });
      for (const action of adoptActions(context.id, record)) enqueue(action);
    }),
    change: enqueueActions(({ enqueue, context, event }) => {
      const record = applyCommand(recordOf(context), event);
      enqueue.assign({ record });
      if (event.type === "ADD_KEYS") {
        enqueue({ type: "put", params: { table: "shared", row: sharedRow(context.id, record) } });
      } else {
        const common = walletRow(context.id, context.life, { ...record, kind: "shared", policyKey: null });
        enqueue({ type: "put", params: { table: "wallet", row: common } });
      }
    }),
    begin: enqueueActions(({ enqueue, context, event }) => {
      enqueue.assign({ waiting: event.turn.command ?? null });
      enqueue({ type: "effect", params: { name: "begin", input: { wallet: context.id, life: context.life } } });
    }),
    agree: enqueueActions(({ enqueue, context }) => {
      enqueue({ type: "reply", params: { ok: { id: context.id } } });
    }),
    refuse: enqueueActions(({ enqueue, context, event }) => {
      const added = event.type === "ADD_KEYS" ? withKeys(recordOf(context), event) : active;
      if (!added.ok) enqueue({ type: "reply", params: { error: added.error } });
    }),
    tooLate: enqueueActions(({ enqueue }) => enqueue({ type: "reply", params: { error: active.error } })),
    end: enqueueActions(({ enqueue, context, event }) => {
      for (const action of endActions(context, ["wallet", "shared"])) enqueue(action);
      enqueue.assign({ record: null, waiting: event.turn.command ?? null });
    }),
    answer: enqueueActions(({ enqueue, context }) => {
      for (const action of answerActions(context)) enqueue(action);
      enqueue.assign({ waiting: null });
    }),
    note: assign(({ event }) => "slot" in event ? { slot: event.slot } : {}),
  },
}).createMachine({
  id: "shared-wallet",
  initial: "absent",
  context: ({ input }) => ({ id: input.id, life: 0, record: null, waiting: null, slot: null }),
  states: {
    absent: { on: creatable },
    incomplete: {
      on: {
        ADD_KEYS: [
          { guard: "refused", actions: "refuse" },
          { guard: "completes", target: "beginning", actions: ["change", "begin"] },
          { actions: ["change", "agree"] },
        ],
        ...whileItExists,
      },
    },
    beginning: {
      on: {
        BEGUN: { guard: "ofThisLife", target: "restoring", actions: "answer" },
        // the index may restore the wallet before the effect's outcome arrives
        RESTORED: { guard: "ofThisLife", target: "live", actions: ["note", "answer"] },
        ...whileIndexed,
        ADD_KEYS: { actions: "tooLate" },
        ...whileItExists,
      },
    },
    restoring: {
      on: {
        RESTORED: { guard: "ofThisLife", target: "live", actions: "note" },
        ...whileIndexed,
        ADD_KEYS: { actions: "tooLate" },
        ...whileItExists,
      },
    },
    live: {
      on: {
        ...whileIndexed,
        ADD_KEYS: { actions: "tooLate" },
        ...whileItExists,
      },
    },
    deleting: { on: { ENDED: { guard: "ofThisLife", target: "deleted", actions: "answer" } } },
    deleted: { on: creatable },
  },
});
