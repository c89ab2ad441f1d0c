/** Requests and answers of the devnet in the JSON of Yaci DevKit's admin API; safe in a browser. */
import { z } from "zod";

const port = z.int().describe("0 where the devnet has no such service.");

export const devnetInfo = z.object({
  nodePort: port,
  submitApiPort: port,
  socketPath: z.string().nullable(),
  protocolMagic: z.int(),
  slotLength: z.number().describe("Seconds."),
  blockTime: z.number().describe("Seconds between blocks; 0: on request."),
  epochLength: z.int().describe("Slots."),
  slotsPerKESPeriod: z.int(),
  securityParam: z.int(),
  activeSlotsCoeff: z.number(),
  p2pEnabled: z.boolean(),
  startTime: z.int().describe("Start of slot 0, in seconds since 1970."),
  masterNode: z.boolean(),
  adminNodeUrl: z.null(),
  era: z.string(),
  genesisProfile: z.null(),
  ogmiosPort: port,
  kupoPort: port,
  yaciStorePort: port,
  socatPort: port,
  prometheusPort: port,
  localMultiNodeEnabled: z.boolean(),
  blockProducer: z.boolean(),
}).meta({ id: "DevnetInfo", description: "Information about the devnet, as in Yaci DevKit." });

export const tips = z.object({
  multiNodeEnabled: z.boolean(),
  tips: z.array(z.object({
    nodeName: z.string(),
    blockNumber: z.int(),
    slot: z.int(),
    blockHash: z.string(),
  })).describe("Empty before the first block."),
}).meta({ id: "DevnetTips" });

export const text = z.string().meta({ id: "DevnetText", description: "A word, a hash or a sentence." });
export const kesPeriod = z.int().meta({ id: "KesPeriod" });
export const genesisFile = z.looseObject({}).meta({ id: "GenesisFile", description: "The file of an era." });

export const createBody = z.object({
  genesisProperties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()).nullish().describe(
    "Properties of the genesis, as texts. Only those of the running devnet are accepted.",
  ),
  enableMultiNode: z.boolean().nullish(),
  multiNodeStakeRatioFactor: z.number().nullish(),
  enableYaciStore: z.boolean().nullish(),
  enableOgmios: z.boolean().nullish(),
  enableKupomios: z.boolean().nullish(),
}).default({}).meta({ id: "DevnetCreateRequest" });
export const created = z.boolean().meta({ id: "DevnetCreated" });

export const testDataBody = z.object({
  type: z.enum(["REFERENCE_INPUT_GEN_TRANSACTION", "DATUM_OUTPUT_GEN_TRANSACTION"]),
}).meta({ id: "TestDataRequest" });

export const forksBody = z.looseObject({}).default({}).meta({
  id: "CreateForksRequest",
  description: "Members that Yaci DevKit needs for its nodes; none has an effect here.",
});

export const pageQuery = { page: z.coerce.number().int().min(0).default(1).describe("Only page 1 has outputs.") };

export const utxos = z.array(z.object({
  tx_hash: z.string(),
  output_index: z.int(),
  address: z.string(),
  amount: z.array(z.object({ unit: z.string(), quantity: z.int() })),
  data_hash: z.string().nullable(),
  inline_datum: z.string().nullable().describe("CBOR."),
  reference_script_hash: z.string().nullable(),
})).meta({ id: "DevnetUtxos" });

const seconds = z.int().nullable().describe("Seconds since 1970.");
export const epoch = z.object({
  epoch: z.int(),
  start_time: seconds,
  end_time: seconds,
  first_block_time: seconds,
  last_block_time: seconds,
  block_count: z.int().nullable(),
  tx_count: z.int().nullable(),
  output: z.string().nullable(),
  fees: z.string().nullable(),
  active_stake: z.string().nullable(),
}).meta({ id: "DevnetEpoch" });

export const epochParameters = z.looseObject({ epoch: z.int() }).meta({
  id: "DevnetEpochParameters",
  description: "Protocol parameters in Blockfrost's form.",
});

export const transaction = z.custom<Uint8Array>((value) => value instanceof Uint8Array).meta({
  type: "string",
  format: "binary",
  description: "CBOR of a signed transaction.",
});
export const transactionHash = z.string().meta({ id: "SubmittedHash" });
