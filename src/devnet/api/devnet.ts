/** Requests and answers of the devnet; safe in a browser. */
import { z } from "zod";

const lovelace = z.union([z.int(), z.bigint()]).transform(BigInt).meta({ description: "Lovelace.", type: "integer" });
const address = z.string().min(1).max(300).meta({
  description: "Address on this network (not a reward address).",
  example: "addr_test1vz…",
});
const transactionHash = z.string().describe("Hash of the transaction.");
const slot = z.int().describe("Slot; -1 before the first block.");

export const faucetBody = z.object({ address, lovelace }).meta({ id: "FaucetRequest" });
export const faucetAnswer = z.object({
  txHash: transactionHash,
  address: z.string(),
  lovelace: z.int(),
}).meta({ id: "FaucetAnswer" });

export const topupBody = z.object({
  address,
  adaAmount: z.union([
    z.number(),
    z.string().regex(/^\d+(\.\d+)?$/).max(30).transform(Number),
  ]).describe("Ada, with up to 6 decimals; a number or its text."),
}).meta({ id: "TopupRequest" });
export const topupAnswer = z.object({
  address: z.string(),
  adaAmount: z.number(),
  status: z.boolean(),
  message: z.string(),
  txHash: transactionHash.optional(),
}).meta({ id: "TopupAnswer", description: "The response of Yaci DevKit, with the transaction hash added." });

export const tip = z.object({ height: z.int(), slot, hash: z.string() }).meta({
  id: "Tip",
  description: "The newest block. Before the first block, height and slot are -1 and the hash is empty.",
});
export const network = tip.extend({
  currentSlot: slot,
  magic: z.int(),
  slotLength: z.int().describe("Milliseconds."),
  genesisTime: z.int().describe("Start of slot 0, in milliseconds since 1970."),
  securityParameter: z.int(),
}).meta({ id: "Network" });

const time = z.int().describe("Milliseconds since 1970.");
export const madeBlocks = tip.extend({
  epoch: z.int().describe("The epoch of the newest block."),
  time: time.describe("When the newest block's slot begins, in milliseconds since 1970."),
  blocks: z.int().describe("Number of blocks made."),
}).meta({ id: "MadeBlocks", description: "The newest block after the call." });

export const blocksBody = z.object({
  count: z.int().min(1).max(1_000).default(1),
  gap: z.int().min(1).max(1_000_000).default(1).describe("Slots from each block to the next."),
  empty: z.boolean().default(false).describe("Leave the mempool as it is."),
}).meta({ id: "BlocksRequest" });
export const blocksAnswer = madeBlocks.extend({ tip, made: z.int().describe("Number of blocks made.") }).meta({
  id: "BlocksAnswer",
});

const jumpBlocks = z.enum(["one", "sparse", "every"]).default("one").describe(
  "Blocks beside those of the target and of the first slot of each epoch: none, one each less than 3k/f slots, or one in each slot.",
);
const TARGETS = ["slots", "seconds", "epochs", "toSlot", "toTime", "toEpoch"] as const;
const distance = z.int().min(1).optional();
const place = z.int().min(0).optional();
export const advanceBody = z.object({
  slots: distance.describe("So many slots from the current one."),
  seconds: z.number().positive().optional().describe("So many seconds, rounded up to slots."),
  epochs: distance.describe("Into the first slot of the epoch so many epochs after the current one."),
  toSlot: place.describe("To this slot."),
  toTime: place.describe("To the slot that begins at this time, in milliseconds since 1970, or the first after it."),
  toEpoch: place.describe("To the first slot of this epoch."),
  blocks: jumpBlocks,
}).refine(
  (body) => TARGETS.filter((name) => body[name] !== undefined).length === 1,
  `expected exactly one of ${TARGETS.join(", ")}`,
).meta({ id: "AdvanceRequest" });

export const syncBody = z.object({ blocks: jumpBlocks }).meta({ id: "SyncRequest" });

export const nextBody = z.object({
  slot: place.describe("Slot of the next block."),
  time: place.describe("Its time in milliseconds since 1970; one between slots is rounded up."),
}).refine((body) => (body.slot === undefined) !== (body.time === undefined), "expected exactly one of slot and time")
  .meta({ id: "NextBlockRequest" });

const mode = z.enum(["interval", "submit", "manual"]).describe(
  "`interval`: blocks at a pace; `submit`: a block for each accepted transaction, before the submission is answered; " +
    "`manual`: on request only.",
);
export const miningBody = z.object({
  mode,
  blockMs: z.int().min(1).max(3_600_000).optional().describe(
    "Milliseconds between blocks of `interval`; by default as before.",
  ),
}).meta({ id: "MiningRequest" });

export const clock = z.object({
  slot: z.int().describe("The current slot; it need not have a block."),
  time: time.describe("When it begins, in milliseconds since 1970."),
  wallSlot: z.int().describe("The slot of the machine's clock."),
  offsetSlots: z.int().describe("Slots by which the devnet runs ahead of the machine's clock."),
  nextSlot: z.int().describe("Slot of the next block, if it is made now; transactions are judged by it."),
  mode,
}).meta({ id: "DevnetTime" });

export const epochsBody = z.object({
  count: z.int().min(1).max(1_000).default(1).describe("Number of epochs to enter."),
  blocks: z.int().min(0).max(1_000).optional().describe(
    "Blocks to make in the rest of each epoch that ends, as far as it has slots; rewards are in proportion to an epoch's " +
      "blocks. By default a tenth of the blocks that can be rolled back, at most half of them in one request.",
  ),
}).meta({ id: "EpochsRequest" });
export const epochsAnswer = z.object({
  tip,
  epoch: z.int().describe("The epoch of the newest block."),
  entered: z.int().describe("Number of epochs entered."),
  made: z.int().describe("Number of blocks made."),
}).meta({ id: "EpochsAnswer" });

export const rollbackBody = z.object({
  blocks: z.int().min(0).optional().describe("Number of blocks to roll back."),
  slot: z.int().min(-1).optional().describe("Roll back every block after this slot."),
  drop: z.boolean().default(false).describe(
    "Discard the transactions of the rolled-back blocks instead of returning them to the mempool.",
  ),
}).refine(
  (body) => (body.blocks === undefined) !== (body.slot === undefined),
  "expected exactly one of blocks and slot",
)
  .meta({ id: "RollbackRequest" });
export const rollbackAnswer = z.object({ tip }).meta({ id: "RollbackAnswer" });

/** Not "." and "..", which are steps between folders in the path of a request. */
export const snapshotName = z.string().regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/).meta({
  description:
    'Name of a snapshot: 1 to 64 letters, digits, dots, underscores or hyphens; "." and ".." are not allowed.',
  example: "before-mint",
});
export const snapshotBody = z.object({
  name: snapshotName,
  replace: z.boolean().default(false).describe("Replace an earlier snapshot of this name."),
}).meta({ id: "SnapshotRequest" });
export const snapshot = tip.extend({
  name: z.string(),
  transactions: z.int().describe("Transactions in its mempool."),
  saved: z.int().describe("When it was saved, in milliseconds since 1970."),
}).meta({ id: "Snapshot", description: "A name for the newest block and the mempool at one moment." });
export const snapshots = z.object({ snapshots: z.array(snapshot) }).meta({ id: "Snapshots" });
export const restoreAnswer = z.object({ tip }).meta({ id: "RestoreAnswer" });

export const message = z.string().meta({ id: "Message", description: "A sentence." });

export const mempool = z.object({
  size: z.int(),
  bytes: z.int(),
  transactions: z.array(z.object({
    hash: transactionHash,
    bytes: z.int(),
    fee: z.int(),
    validTo: z.int().optional().describe("First slot in which the transaction is no longer valid."),
  })),
}).meta({ id: "Mempool" });

export const utxos = z.object({
  point: z.object({ slot, hash: z.string() }),
  utxos: z.array(z.object({
    txHash: transactionHash,
    index: z.int(),
    address: z.string(),
    lovelace: z.int(),
    assets: z.record(z.string(), z.int()).describe("Quantities by the concatenation of policy id and asset name."),
    datumHash: z.string().optional(),
    datum: z.string().optional().describe("CBOR of the inline datum."),
    script: z.string().optional().describe("CBOR of [language, reference script]."),
    cbor: z.string().describe("CBOR of the output."),
  })),
}).meta({ id: "Utxos" });

export const parameters = z.looseObject({
  source: z.string().describe("Source of the parameters in the devnet's genesis."),
  protocolVersion: z.object({ major: z.int(), minor: z.int() }),
}).meta({ id: "Parameters" });
