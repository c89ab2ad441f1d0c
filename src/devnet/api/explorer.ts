/** What the devnet's explorer page reads beside the paths of Blockfrost; safe in a browser. */
import { z } from "zod";
import { tip } from "#src/devnet/api/devnet.ts";

const lovelace = z.int().describe("Lovelace.");
const hash = z.string().describe("Hexadecimal.");
const time = z.int().describe("Milliseconds since 1970.");
const txHash = z.string().describe("Hash of the transaction.");
const assets = z.record(z.string(), z.int()).describe("Quantities by the concatenation of policy id and asset name.");
const units = z.object({ memory: z.int(), steps: z.int() }).meta({ id: "ExecutionUnits" });

export const meaning = z.object({
  contract: z.string().describe("The contract that the data is for, with its version."),
  name: z.string().describe("What the data is in that contract."),
  fields: z.array(z.object({
    name: z.string(),
    value: z.string(),
    kind: z.enum(["text", "hex", "lovelace", "token", "address", "output"]),
  })),
}).meta({ id: "DataMeaning", description: "Plutus data in the terms of Arbor's contract." });

export const plutusData = z.object({
  hash,
  cbor: z.string(),
  json: z.unknown().describe(
    "The detailed JSON of cardano-cli: int, bytes, list, map, or constructor with fields; null where it is nested deeply.",
  ),
  meaning: meaning.optional(),
}).meta({ id: "PlutusData" });

export const explorerOutput = z.object({
  address: z.string(),
  lovelace,
  assets,
  datumHash: hash.optional(),
  datum: plutusData.optional().describe("The inline datum, or the one of that hash if the transaction has it."),
  inline: z.boolean().describe("Whether the datum is in the output."),
  script: z.object({ hash, language: z.string() }).optional().describe("The reference script."),
  contract: z.string().optional().describe("The contract of Arbor whose address this is."),
  spentBy: txHash.optional().describe("The transaction that spent it, in a block or in the mempool."),
}).meta({ id: "ExplorerOutput" });

const outputRef = { txHash, index: z.int() };
const explorerInput = z.object({
  ...outputRef,
  output: explorerOutput.optional().describe("Absent: the devnet does not know this output."),
}).meta({ id: "ExplorerInput" });

const members = z.record(z.string(), z.union([z.string(), z.int()]));

export const departure = z.object({
  kind: z.enum(["refused", "dropped", "withdrawn"]).describe(
    "refused: by the ledger, when it was submitted; dropped: it left the mempool because it was no longer valid; " +
      "withdrawn: by a rollback, a reset or the restore of a snapshot.",
  ),
  why: z.string(),
  at: time,
  slot: z.int(),
  reasons: z.array(z.object({ name: z.string().describe("The ledger's name of the failure."), text: z.string() })),
}).meta({ id: "Departure" });

export const departed = departure.extend({ hash: txHash, bytes: z.int() }).meta({ id: "DepartedTransaction" });
export const departures = z.object({
  total: z.int().describe("Transactions that are remembered."),
  transactions: z.array(departed).describe("Newest first."),
}).meta({ id: "DepartedTransactions" });

export const transaction = z.object({
  hash: txHash,
  status: z.enum(["in_block", "in_mempool", "refused", "dropped", "withdrawn", "genesis"]),
  block: z.object({
    hash,
    height: z.int(),
    slot: z.int(),
    time,
    index: z.int().describe("Position in the block, from 0."),
    confirmations: z.int().describe("Blocks after it."),
  }).optional(),
  departure: departure.optional(),
  problem: z.string().optional().describe("Why the transaction cannot be decoded; its parts are then empty."),
  valid: z.boolean().describe("False: a script fails, and only the collateral moves."),
  size: z.int().describe("Bytes as the ledger counts them."),
  fee: lovelace,
  deposit: z.int().optional().describe("Lovelace by which deposits grow; negative for refunds."),
  validity: z.object({
    from: z.int().optional().describe("First slot in which it is valid."),
    before: z.int().optional().describe("First slot in which it is no longer valid."),
    fromTime: time.optional(),
    beforeTime: time.optional(),
  }),
  inputs: z.array(explorerInput),
  references: z.array(explorerInput),
  collateral: z.array(explorerInput),
  outputs: z.array(explorerOutput),
  collateralReturn: explorerOutput.optional(),
  totalCollateral: lovelace.optional(),
  mint: z.array(z.object({ unit: z.string(), fingerprint: z.string(), quantity: z.int() })).describe(
    "Negative quantities are burned.",
  ),
  certificates: z.array(z.object({ kind: z.string(), members })),
  withdrawals: z.array(z.object({ address: z.string(), lovelace })),
  votes: z.array(
    z.object({ role: z.string(), voter: z.string(), action: z.object(outputRef), vote: z.string() }),
  ),
  proposals: z.array(z.object({ kind: z.string(), deposit: lovelace, account: z.string(), members })),
  requiredSigners: z.array(hash).describe("Key hashes that scripts can rely on."),
  signatures: z.array(hash).describe("Hashes of the keys that signed."),
  scripts: z.array(z.object({
    hash,
    language: z.string(),
    bytes: z.int(),
    source: z.enum(["transaction", "reference"]),
    contract: z.string().optional(),
  })),
  redeemers: z.array(z.object({
    purpose: z.string(),
    index: z.int(),
    target: z.string().optional().describe("What the script decides about."),
    script: hash.optional(),
    contract: z.string().optional(),
    limit: units.describe("Units that the transaction pays for."),
    data: plutusData,
  })),
  metadata: z.array(z.object({ label: z.string(), json: z.unknown().describe("JSON of the value.") })),
  donation: lovelace.optional(),
  cbor: z.string(),
}).meta({ id: "ExplorerTransaction" });

export const scriptRuns = z.object({
  problem: z.string().optional().describe("Why no script can be run."),
  runs: z.array(z.object({
    purpose: z.string(),
    index: z.int(),
    spent: units.optional().describe("Units that the run takes."),
    problem: z.string().optional(),
    logs: z.array(z.string()).describe("Messages that the script traced, where it fails."),
  })),
}).meta({ id: "ScriptRuns" });

export const live = z.object({
  tip,
  currentSlot: z.int(),
  epoch: z.int(),
  mempool: z.object({ size: z.int(), bytes: z.int() }),
  departed: z.int().describe("Number that changes with each transaction that departs."),
  changes: z.int().describe("Number that changes with every change of the chain or the mempool, even an undone one."),
}).meta({ id: "Live", description: "The data of an event `state`." });
export const liveEvents = z.string().meta({
  description: "Events `state`, at the start and at every block, rollback and change of the mempool.",
});

const tally = z.object({ yes: z.int(), no: z.int(), abstain: z.int() });
const share = z.object({ numerator: z.int(), denominator: z.int() });
const roleStanding = z.object({
  yes: z.int().describe("What agrees: lovelace, or members of the committee."),
  all: z.int().describe("What counts: neither abstaining nor inactive."),
  threshold: z.union([share, z.enum(["none", "never"])]).describe(
    "The share that has to agree; `none`: these voters have no say, `never`: it cannot pass.",
  ),
  reached: z.boolean(),
});
const nextStep = z.enum(["enacted", "dropped", "ratified", "expired", "open"]).describe(
  "What the next boundary does: `enacted` and `dropped` carry out what the last one decided; `ratified` and `expired` are " +
    "decided there if nothing changes before; `open` waits.",
);
export const standing = z.object({
  committee: roleStanding,
  drep: roleStanding,
  pool: roleStanding,
  next: nextStep,
}).meta({ id: "GovernanceStanding", description: "How an open action stands, as if the epoch ended now." });
export const governanceAction = z.object({
  id: z.string().describe("`gov_action1…`"),
  ...outputRef,
  height: z.int().describe("Height of its block."),
  time,
  epoch: z.int().describe("Epoch in which it was proposed."),
  lastEpoch: z.int().describe("Last epoch for votes by the parameters."),
  ratified: z.int().optional().describe("Epoch in which it was ratified; it takes force in the next one."),
  enacted: z.int().optional().describe("Epoch in which it took force."),
  expired: z.int().optional().describe("Epoch in which it expired; it is dropped in the next one."),
  dropped: z.int().optional().describe(
    "Epoch in which it ended without force: expired, or another one took its place.",
  ),
  kind: z.enum(["parameters", "hard fork", "treasury", "no confidence", "committee", "constitution", "info"]),
  deposit: lovelace,
  account: z.string().describe("Stake address that the deposit belongs to."),
  members,
  anchor: z.object({ url: z.string(), hash }).describe("The document about it. The devnet does not read it."),
  votes: z.object({ committee: tally, drep: tally, pool: tally }).describe(
    "Number of voters by their last votes, by role.",
  ),
  standing: standing.optional().describe("Absent where the action has ended."),
}).meta({ id: "GovernanceAction" });
export const governanceActions = z.object({
  actions: z.array(governanceAction).describe("Newest first."),
  next: z.int().optional().describe("The value of `page` for the next page; absent on the last one."),
}).meta({ id: "GovernanceActions" });

export const governanceState = z.object({
  epoch: z.int(),
  protocolVersion: z.string(),
  constitution: z.object({ url: z.string(), hash, script: hash.optional() }),
  committee: z.object({
    quorum: share.optional().describe("Absent after a motion of no confidence."),
    members: z.array(z.object({
      cold: z.string().describe("`cc_cold1…`"),
      hot: z.string().optional().describe("`cc_hot1…`, where one is authorized"),
      until: z.int().describe("Last epoch of the term."),
      state: z.enum(["in office", "without a hot key", "resigned", "expired"]),
    })),
  }),
  treasury: lovelace,
  dormant: z.int().describe("Epochs without an action, by which representatives count longer."),
  next: z.array(z.object({ id: z.string().describe("`gov_action1…`"), kind: z.string(), step: nextStep })).describe(
    "Open actions, and what the next boundary does to them.",
  ),
}).meta({ id: "GovernanceState" });

export const load = z.object({
  rows: z.array(z.object({
    of: z.int().describe("Height of the block, or number of the epoch."),
    time,
    blocks: z.int(),
    transactions: z.int(),
    bytes: z.int().describe("Bytes of the blocks' bodies."),
    fees: lovelace,
    memory: z.int().describe("Memory that its scripts pay for."),
    steps: z.int().describe("Steps that its scripts pay for."),
  })).describe("Oldest first."),
}).meta({ id: "Load", description: "What blocks carry: bytes, units of scripts, fees." });

export const searchHit = z.object({
  kind: z.enum([
    "block",
    "transaction",
    "address",
    "account",
    "asset",
    "policy",
    "pool",
    "epoch",
    "script",
    "datum",
    "drep",
    "action",
  ]),
  id: z.string().describe("The id by which the explorer and the API know it."),
  note: z.string().describe("A short description of the result."),
}).meta({ id: "SearchHit" });
export const searchAnswer = z.object({
  hits: z.array(searchHit),
  understood: z.string().describe("What the text looks like."),
}).meta({ id: "SearchAnswer" });

export const transactionSummary = z.object({
  hash: txHash,
  height: z.int().describe("Height of its block."),
  index: z.int().describe("Position in the block, from 0."),
  slot: z.int(),
  time,
  fee: lovelace,
  size: z.int().describe("Bytes."),
  valid: z.boolean(),
  outputs: z.int().describe("Number of outputs that it created."),
  lovelace: lovelace.describe("Sum of its outputs."),
  scripts: z.int().describe("Number of script runs."),
}).meta({ id: "TransactionSummary" });
export const transactionList = z.object({
  transactions: z.array(transactionSummary).describe("Newest first."),
  next: z.string().optional().describe("The value of `before` for the page behind this one; absent on the last one."),
}).meta({ id: "TransactionList" });

export const addressTransaction = z.object({
  hash: txHash,
  height: z.int().optional().describe("Height of its block; absent where the output is of the genesis."),
  time,
  lovelace: z.int().describe("Lovelace that came, negative where some left."),
  assets: z.record(z.string(), z.int()).describe(
    "Quantities that came or left, by the concatenation of policy id and asset name.",
  ),
}).meta({ id: "AddressTransaction" });
export const addressTransactions = z.object({
  transactions: z.array(addressTransaction).describe("Newest first."),
  next: z.string().optional().describe("The value of `before` for the page behind this one; absent on the last one."),
}).meta({ id: "AddressTransactions" });
