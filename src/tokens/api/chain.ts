/** The chain as programs see it that build their own transactions: parameters, outputs, units of scripts. */
import { z } from "zod";
import { PLUTUS_LANGUAGES } from "#src/cardano/parameters.ts";
import { point as tip } from "#src/tokens/api/proofs.ts";
import { addressText, flag, outputRef } from "#src/tokens/api/tokens.ts";

/** Most outputs that a request may name. */
export const MOST_REFS = 200;
/** Most outputs of one answer. */
export const MOST_OUTPUTS = 10_000;
/** Most bytes of the body of an evaluation: a transaction and the outputs that it refers to. */
export const EVALUATE_BYTES = 524_288;

const cborHex = z.string().regex(/^([0-9a-fA-F]{2})+$/, "expected hexadecimal CBOR");
const integer = z.bigint().meta({ type: "integer" });
const ratio = z.object({ numerator: integer, denominator: integer });
const units = z.object({ memory: integer, steps: integer });
const point = tip.pick({ slot: true, hash: true }).meta({
  id: "ChainPoint",
  description: "The block after which the answer holds.",
});

export const chainParameters = z.object({
  network: z.object({ id: z.int().describe("Network id in addresses."), magic: z.int() }),
  slots: z.object({
    zeroSlot: z.int(),
    zeroTime: z.int().describe("When the slot `zeroSlot` begins, in milliseconds since 1970."),
    slotLength: z.int().describe("Milliseconds."),
    slotsAhead: z.int().describe("Slots by which the network runs ahead of that time: a devnet may."),
  }).describe("How slots map to time: a slot begins at `zeroTime + (slot - zeroSlot) * slotLength`."),
  at: point,
  parameters: z.object({
    protocolVersion: z.object({ major: z.int(), minor: z.int() }),
    feePerByte: integer.describe("Lovelace for each byte of a transaction."),
    feeFixed: integer.describe("Lovelace for each transaction."),
    maxTxSize: z.int(),
    maxBlockBodySize: z.int(),
    maxBlockHeaderSize: z.int(),
    maxValueSize: z.int(),
    utxoCostPerByte: integer.describe("Lovelace for each byte of an output."),
    keyDeposit: integer,
    poolDeposit: integer,
    drepDeposit: integer,
    govActionDeposit: integer,
    minPoolCost: integer,
    poolRetirementBound: z.int().describe("Epochs."),
    desiredPools: z.int(),
    pledgeInfluence: ratio,
    monetaryExpansion: ratio,
    treasuryGrowth: ratio,
    collateralPercentage: z.int(),
    maxCollateralInputs: z.int(),
    prices: z.object({ memory: ratio, steps: ratio }),
    maxTxUnits: units,
    maxBlockUnits: units,
    refScriptCostPerByte: ratio.describe(
      "Lovelace for each byte of reference scripts, 1.2 times as much for each further 25,600 bytes.",
    ),
    costModels: z.array(z.object({
      language: z.enum(PLUTUS_LANGUAGES),
      costs: z.array(integer),
    })),
  }),
}).meta({ id: "ChainParameters", description: "The network, and its protocol parameters at a point. Exact numbers." });

export const chainOutput = z.object({
  outputRef: z.string().describe("`<transaction hash>-<output index>`."),
  cbor: z.string().describe("The output: CBOR in hexadecimal."),
  pending: z.boolean().describe("Whether a transaction creates it that was submitted here and is in no block."),
}).meta({ id: "ChainOutput" });

export const chainOutputs = z.object({ at: point, outputs: z.array(chainOutput) }).meta({
  id: "ChainOutputs",
  description: "Outputs that can be spent, at one point: none that a pending transaction spends.",
});

const assetId = z.string().regex(/^[0-9a-fA-F]{56}([0-9a-fA-F]{2}){0,32}$/, "expected policy id and asset name")
  .transform((text) => text.toLowerCase());

export const anyAddress = addressText.meta({
  description: "Address on this network that outputs can have, of a key or of a script.",
  example: "addr_test1vz…",
});
export const assetParam = assetId.meta({ description: "Policy id and asset name, in hexadecimal." });
export const outputsQuery = {
  pending: flag.optional().meta({
    type: "boolean",
    description: "Whether outputs of pending transactions are among them; by default they are.",
  }),
  asset: assetId.optional().meta({ description: "Only outputs with this asset: policy id and name, in hexadecimal." }),
};

export const outputsBody = z.object({ outputRefs: z.array(outputRef).min(1).max(MOST_REFS) }).meta({
  id: "ChainOutputsRequest",
});

export const evaluateBody = z.object({
  transaction: cborHex.describe(
    "CBOR in hexadecimal. Fee, units, signatures and script data hash may be missing or wrong.",
  ),
  additionalOutputs: z.array(z.object({ outputRef, cbor: cborHex })).max(MOST_REFS).default([]).describe(
    "Outputs that this service cannot know. Of those that it knows, its own count.",
  ),
}).meta({ id: "EvaluateRequest" });

const pointer = z.object({
  purpose: z.enum(["spend", "mint", "cert", "reward", "vote", "propose"]),
  index: z.int(),
});

export const evaluated = z.object({ redeemers: z.array(pointer.extend(units.shape)) }).meta({
  id: "Evaluated",
  description: "Execution units of each redeemer.",
});
