/**
 * The summary of a transaction; safe in a browser. Signers rely on it, so nothing in a transaction is left out: parts
 * that are not understood are under `unknown`.
 */
import { z } from "zod";

const integer = z.union([z.int(), z.bigint()]).transform(BigInt).meta({ type: "integer" });
const lovelace = integer.describe("Lovelace.");
/** For a nullable schema the document would keep the type without null. */
const lovelaceOrNull = lovelace.nullable().meta({ type: ["integer", "null"] });
const outputRef = z.string().describe("An output, `<transaction hash>-<output index>`.");
const tokenId = z.string().describe("Id of a token: the name of its asset.");
const address = z.string().describe("An address in its text form; in hexadecimal where it has none.");
const hex = z.string().describe("Hexadecimal.");

const assets = z.record(z.string(), integer).describe(
  "Quantities by policy id and asset name, both hexadecimal, joined.",
);
const amount = z.object({ lovelace, assets }).meta({ id: "SummaryAmount" });

const whose = z.enum(["requester", "requesterKey", "contract", "script", "other"]).meta({
  id: "SummaryParty",
  description:
    "`requester`: the very address that asked. `requesterKey`: another address of its payment key. `contract`: an address " +
    "of a published version of the contract, without a stake part. `script`: of any other script. `other`: anybody else.",
});

const change = z.object({
  type: z.enum(["insert", "update", "delete"]),
  key: z.string(),
  oldValue: z.string().nullable(),
  newValue: z.string().nullable(),
}).meta({
  id: "SummaryChange",
  description: "A change of one fact. Bytes that are no UTF-8 stand as U+DC80 to U+DCFF.",
});

const asked = {
  tokenId,
  policy: hex,
  change,
  owner: z.string().describe("Payment key hash that may take the request back."),
  refundAddress: address,
  offered: lovelace.describe("Lovelace that the owner of the token may keep for applying it."),
};

const holds = z.discriminatedUnion("type", [
  z.object({ type: z.literal("state"), tokenId, policy: hex, owner: z.string(), root: z.string() }),
  z.object({ type: z.literal("request"), ...asked }),
]).nullable().meta({
  id: "SummaryHolding",
  description: "What an output is to the contract; null where it is nothing of it.",
});

const script = z.object({
  hash: z.string(),
  language: z.enum(["native", "PlutusV1", "PlutusV2", "PlutusV3"]),
  version: z.string().nullable().describe("Version of our contract, where it is one."),
}).meta({ id: "SummaryScript" });

const output = {
  address,
  whose,
  amount,
  holds,
  datum: hex.nullable().describe("CBOR of the inline datum, where `holds` does not tell what it says."),
  datumHash: hex.nullable(),
  script: script.nullable().describe("The script that it carries."),
};

/** An output that is spent or referenced, with its contents where they are known. */
const input = z.object({
  outputRef,
  output: z.object({
    ...output,
    cbor: hex.nullable().describe("The output's own CBOR; null where it carries the contract itself."),
  }).nullable().describe(
    "Null where the output is not known here.",
  ),
}).meta({ id: "SummaryInput" });

const slotTime = z.object({
  slot: integer,
  time: z.string().nullable().describe("ISO 8601, UTC; null where it is not known."),
}).nullable();

const redeemer = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["end", "contribute", "retract", "burning"]) }),
  z.object({ type: z.literal("modify"), actions: z.array(z.enum(["apply", "skip"])) }),
  z.object({ type: z.literal("minting"), seed: outputRef, tokenId }),
  z.object({ type: z.literal("unknown"), cbor: hex }),
]).meta({ id: "SummaryRedeemer" });

const effect = { lovelace: lovelace.describe("Lovelace, negative where it is paid."), assets };

export const summary = z.object({
  hash: z.string(),
  size: z.int().describe("Bytes, as it is here."),
  valid: z.boolean().describe(
    "False: it says of itself that its scripts fail, and does nothing but forfeit its collateral, which the rest then tells.",
  ),
  address: address.nullable().describe("The requester's, from which it is looked at."),
  spends: z.array(input),
  pays: z.array(z.object({
    index: z.int(),
    ...output,
    purpose: z.enum(["state", "request", "refund", "change", "payment"]).describe(
      "`refund`: what a request that is applied gets back. `change`: to the requester, nothing with it.",
    ),
    for: outputRef.nullable().describe("The request that is refunded."),
  })),
  mints: z.array(z.object({
    policy: hex,
    name: hex,
    quantity: integer.describe("Negative where it is burnt."),
    tokenId: tokenId.nullable(),
    meaning: z.enum(["boot", "end", "other"]),
  })),
  tokens: z.array(z.object({
    tokenId,
    policy: hex,
    booted: z.boolean(),
    ended: z.boolean(),
    owner: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
    root: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
    locked: z.object({ before: lovelaceOrNull, after: lovelaceOrNull }),
    applies: z.array(z.object({ outputRef, change })).describe("Requests in the order in which they are applied."),
    skips: z.array(z.object({ outputRef, change })).describe(
      "Requests that go back to their owners in the same transaction.",
    ),
    proven: z.boolean().nullable().describe(
      "Whether the proofs lead from the root before by these changes to the root after; null where something is not known.",
    ),
  })).describe("Tokens that are booted, changed or ended."),
  requests: z.array(z.object({ index: z.int(), ...asked, locked: amount })).describe("Requests that it makes."),
  retracts: z.array(z.object({ outputRef, ...asked, locked: amount })).describe("Requests that it takes back."),
  locks: z.array(
    z.object({ index: z.int(), for: z.enum(["state", "request", "unknown"]), tokenId: tokenId.nullable(), amount }),
  )
    .describe("What stands at the contract afterwards."),
  refunds: z.array(z.object({ index: z.int(), request: outputRef, address, whose, lovelace })),
  fee: lovelace,
  collateral: z.object({
    inputs: z.array(input),
    total: lovelaceOrNull.describe("What the transaction states that it would forfeit."),
    return: z.object(output).nullable(),
    atRisk: lovelaceOrNull.describe(
      "What the requester would lose if a script failed; null where that is not known.",
    ),
  }).nullable(),
  signers: z.array(z.object({
    key: z.string().describe("Hash of the key."),
    requester: z.boolean(),
    why: z.array(z.enum(["input", "collateral", "required"])),
    signed: z.boolean().describe("Whether a signature of the key is attached; the ledger is who checks it."),
  })).describe("Who must sign, as far as the outputs that it spends are known."),
  validity: z.object({ from: slotTime, until: slotTime }).describe(
    "First slot in which it is valid, and first in which it no longer is.",
  ),
  references: z.array(input),
  attached: z.array(script).describe("Scripts that travel along."),
  scripts: z.array(z.object({
    purpose: z.enum(["spend", "mint", "cert", "reward", "vote", "propose"]),
    index: z.int(),
    of: z.string().nullable().describe("The output or the policy that it is for."),
    hash: z.string().nullable().describe("Of the script that runs."),
    version: z.string().nullable(),
    redeemer,
    memory: integer,
    steps: integer,
  })),
  net: z.object(effect).nullable().describe(
    "What the requester's address has more or less of; null where something is not known.",
  ),
  effects: z.array(z.object({ address, whose, ...effect })).describe(
    "The same for every address, of all that is known.",
  ),
  metadata: z.array(z.object({ label: integer, cbor: hex, text: z.string().describe("In diagnostic notation.") })),
  balanced: z.boolean().nullable().describe(
    "Whether it spends exactly what it pays; null where something is not known. The ledger accepts nothing else.",
  ),
  unknown: z.array(z.object({ code: z.string(), message: z.string() })).describe(
    "All that is not understood. A transaction with anything here may do more than the rest tells.",
  ),
}).meta({ id: "Summary", description: "What a transaction does." });

export const explainBody = z.object({
  transaction: z.string().regex(/^([0-9a-fA-F]{2})+$/, "hexadecimal CBOR").meta({
    description: "CBOR in hexadecimal, signed or not.",
  }),
  address: z.string().min(1).max(300).optional().meta({ description: "Whose view to take." }),
}).meta({ id: "ExplainRequest" });

export type Summary = z.output<typeof summary>;
export type SummaryOutput = Omit<NonNullable<SummaryInput["output"]>, "cbor">;
export type SummaryInput = z.output<typeof input>;
export type SummaryHolding = z.output<typeof holds>;
export type SummaryChange = z.output<typeof change>;
export type SummaryScript = z.output<typeof script>;
export type SummaryRedeemer = z.output<typeof redeemer>;
export type SummaryAmount = z.output<typeof amount>;
export type Party = z.output<typeof whose>;
