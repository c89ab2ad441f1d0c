/** Epochs, pools and accounts of the devnet; safe in a browser. */
import { z } from "zod";

const lovelace = z.int().meta({ description: "Lovelace." });
const point = z.object({ slot: z.int(), hash: z.string() }).meta({
  id: "Point",
  description: "Where the chain stood; slot -1 and an empty hash before the first block.",
});
const time = z.int().meta({ description: "Milliseconds since 1970." });
const fraction = z.object({ numerator: z.int(), denominator: z.int() }).meta({ id: "Fraction" });
const poolId = z.string().meta({ description: "Pool id, bech32.", example: "pool1…" });
const stakeAddress = z.string().meta({ description: "Stake address.", example: "stake_test1…" });

export const epoch = z.object({
  point,
  epoch: z.int().meta({ description: "The epoch of the newest block. The first block of a new one pays its rewards." }),
  currentEpoch: z.int().meta({ description: "The epoch of the slot now." }),
  currentSlot: z.int(),
  epochLength: z.int().meta({ description: "Slots." }),
  firstSlot: z.int().meta({ description: "First slot of the epoch." }),
  nextEpochSlot: z.int().meta({ description: "First slot of the next epoch." }),
  nextEpochTime: time,
  blocks: z.int().meta({ description: "Blocks made in the epoch by pools." }),
  activeStake: lovelace.meta({ description: "Lovelace delegated when the last epoch began: leaders are drawn by it." }),
  pots: z.object({ treasury: lovelace, reserves: lovelace, fees: lovelace, deposits: lovelace, donations: lovelace }),
}).meta({ id: "Epoch" });

export const pool = z.object({
  id: poolId,
  hash: z.string().meta({ description: "Pool id, hexadecimal." }),
  name: z.string().optional(),
  ticker: z.string().optional(),
  pledge: lovelace,
  cost: lovelace,
  margin: fraction,
  rewardAccount: stakeAddress,
  owners: z.array(stakeAddress),
  metadata: z.object({ url: z.string(), hash: z.string() }).optional(),
  stake: z.object({ mark: lovelace, set: lovelace, go: lovelace }).meta({
    description:
      "Lovelace delegated when this epoch, the last and the one before began; the second draws this epoch's leaders.",
  }),
  blocks: z.object({ epoch: z.int(), previous: z.int() }).meta({ description: "Made in this epoch and the last." }),
  changes: z.boolean().meta({ description: "Whether another registration holds from the next epoch on." }),
  retiring: z.int().optional().meta({ description: "The epoch in which it retires." }),
}).meta({ id: "Pool" });

export const pools = z.object({ point, epoch: z.int(), pools: z.array(pool) }).meta({ id: "Pools" });

export const metadata = z.looseObject({
  name: z.string(),
  description: z.string(),
  ticker: z.string(),
  homepage: z.string(),
}).meta({ id: "PoolMetadata", description: "As CIP-6 has it; the registration has the hash of these bytes." });

export const account = z.object({
  point,
  address: stakeAddress,
  registered: z.boolean(),
  rewards: lovelace.meta({ description: "Lovelace earned and not withdrawn." }),
  outputs: lovelace.meta({ description: "Lovelace of unspent outputs with this stake." }),
  deposit: lovelace.optional(),
  pool: poolId.optional(),
  drep: z.string().optional().meta({
    description:
      "Whom the vote is delegated to: `key:` or `script:` and a hash, `abstain`, `no confidence`. Withdrawing needs one.",
  }),
}).meta({ id: "Account" });

const era = z.object({ hash: z.string(), path: z.string().optional() });
export const genesis = z.object({
  magic: z.int(),
  genesisTime: time,
  slotLength: z.int().meta({ description: "Milliseconds." }),
  epochLength: z.int().meta({ description: "Slots." }),
  activeSlots: fraction.meta({ description: "Share of slots that may have a block: all." }),
  securityParameter: z.int(),
  protocolVersion: z.object({ major: z.int(), minor: z.int() }),
  hardFork: z.object({ epoch: z.int(), protocolVersion: z.object({ major: z.int(), minor: z.int() }) }).optional().meta(
    {
      description: "The first epoch of another protocol version, where that was chosen.",
    },
  ),
  maxSupply: lovelace,
  reserves: lovelace,
  treasury: lovelace,
  faucet: lovelace,
  pledge: lovelace,
  pools: z.array(poolId),
  files: z.object({ byron: era, shelley: era, alonzo: era, conway: era }),
  configuration: z.string().optional().meta({ description: "Path of a node's configuration that names these files." }),
  topology: z.string().optional(),
}).meta({ id: "Genesis", description: "What the devnet began with; paths are those of its own machine." });
