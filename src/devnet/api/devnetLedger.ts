/** Epochs, pools and accounts of the devnet; safe in a browser. */
import { z } from "zod";

const lovelace = z.int().describe("Lovelace.");
const point = z.object({ slot: z.int(), hash: z.string() }).meta({
  id: "Point",
  description: "The chain tip that the response describes. Before the first block: slot -1 and an empty hash.",
});
const time = z.int().describe("Milliseconds since 1970.");
const fraction = z.object({ numerator: z.int(), denominator: z.int() }).meta({ id: "Fraction" });
const poolId = z.string().meta({ description: "Pool id, bech32.", example: "pool1…" });
const stakeAddress = z.string().meta({ description: "Stake address.", example: "stake_test1…" });

export const epoch = z.object({
  point,
  epoch: z.int().describe("The epoch of the newest block. Rewards are paid by the first block of an epoch."),
  currentEpoch: z.int().describe("The epoch of the current slot."),
  currentSlot: z.int(),
  epochLength: z.int().describe("Length in slots."),
  firstSlot: z.int().describe("First slot of the epoch."),
  nextEpochSlot: z.int().describe("First slot of the next epoch."),
  nextEpochTime: time,
  blocks: z.int().describe("Blocks that pools produced in the epoch."),
  activeStake: lovelace.describe(
    "Lovelace delegated at the start of the previous epoch; slot leaders are selected by it.",
  ),
  pots: z.object({ treasury: lovelace, reserves: lovelace, fees: lovelace, deposits: lovelace, donations: lovelace }),
}).meta({ id: "Epoch" });

export const pool = z.object({
  id: poolId,
  hash: z.string().describe("Pool id, hexadecimal."),
  name: z.string().optional(),
  ticker: z.string().optional(),
  pledge: lovelace,
  cost: lovelace,
  margin: fraction,
  rewardAccount: stakeAddress,
  owners: z.array(stakeAddress),
  metadata: z.object({ url: z.string(), hash: z.string() }).optional(),
  stake: z.object({ mark: lovelace, set: lovelace, go: lovelace }).describe(
    "Lovelace delegated at the start of this epoch (mark), the previous (set) and the one before; set selects the leaders.",
  ),
  blocks: z.object({ epoch: z.int(), previous: z.int() }).describe(
    "Blocks produced in this epoch and in the previous one.",
  ),
  changes: z.boolean().describe("Whether an updated registration takes effect in the next epoch."),
  retiring: z.int().optional().describe("The epoch in which the pool retires."),
}).meta({ id: "Pool" });

export const pools = z.object({ point, epoch: z.int(), pools: z.array(pool) }).meta({ id: "Pools" });

export const metadata = z.looseObject({
  name: z.string(),
  description: z.string(),
  ticker: z.string(),
  homepage: z.string(),
}).meta({
  id: "PoolMetadata",
  description: "Pool metadata as defined by CIP-6. The pool's registration contains the hash of these bytes.",
});

export const account = z.object({
  point,
  address: stakeAddress,
  registered: z.boolean(),
  rewards: lovelace.describe("Rewards not yet withdrawn, in lovelace."),
  outputs: lovelace.describe("Lovelace in unspent outputs with this stake credential."),
  deposit: lovelace.optional(),
  pool: poolId.optional(),
  drep: z.string().optional().describe(
    "The DRep: `key:` or `script:` and a hash, `abstain` or `no confidence`. A withdrawal requires a DRep.",
  ),
}).meta({ id: "Account" });

const era = z.object({ hash: z.string(), path: z.string().optional() });
export const genesis = z.object({
  magic: z.int(),
  genesisTime: time,
  slotLength: z.int().describe("Milliseconds."),
  epochLength: z.int().describe("Length in slots."),
  activeSlots: fraction.describe("Active slot coefficient: the share of slots that can have a block. Always 1."),
  securityParameter: z.int(),
  protocolVersion: z.object({ major: z.int(), minor: z.int() }),
  hardFork: z.object({ epoch: z.int(), protocolVersion: z.object({ major: z.int(), minor: z.int() }) }).optional()
    .describe("The first epoch of another protocol version, if one is configured."),
  maxSupply: lovelace,
  reserves: lovelace,
  treasury: lovelace,
  faucet: lovelace,
  pledge: lovelace,
  accounts: z.array(z.string()).describe("Addresses of the default accounts, whose mnemonic is public."),
  accountFunds: lovelace.describe("Initial lovelace of each default account."),
  pools: z.array(poolId),
  files: z.object({ byron: era, shelley: era, alonzo: era, conway: era }),
  configuration: z.string().optional().describe("Path of a node configuration that refers to these files."),
  topology: z.string().optional(),
}).meta({ id: "Genesis", description: "The devnet's genesis. Paths are local to the devnet's machine." });
