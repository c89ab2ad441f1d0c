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
const tokenId = z.string().describe("Id of a token: its asset name.");
const address = z.string().describe("An address in its text form, or in hexadecimal if it has no text form.");
const hex = z.string().describe("Hexadecimal.");
/** A member that may be missing; the OpenAPI document would require one of `exactOptional`. */
const omittable = <T extends z.ZodType>(schema: T) => schema.optional() as unknown as z.ZodExactOptional<T>;

const assets = z.record(z.string(), integer).describe(
  "Quantities by the concatenation of policy id and asset name, in hexadecimal.",
);
const amount = z.object({ lovelace, assets }).meta({ id: "SummaryAmount" });

const whose = z.enum(["requester", "requesterKey", "contract", "script", "other"]).meta({
  id: "SummaryParty",
  description:
    "`requester`: the address in the request. `requesterKey`: another address of its payment key. `contract`: an address " +
    "of a published version of the contract, without a stake part. `script`: an address of another script. `other`: any other.",
});

const change = z.object({
  type: z.enum(["insert", "update", "delete"]),
  key: z.string(),
  oldValue: z.string().nullable(),
  newValue: z.string().nullable(),
}).meta({
  id: "SummaryChange",
  description: "A change of one fact. Bytes that are not UTF-8 are written as U+DC80 to U+DCFF.",
});

const asked = {
  tokenId,
  policy: hex,
  change,
  owner: z.string().describe("Hash of the payment key that can retract the request."),
  refundAddress: address,
  offered: lovelace.describe("Lovelace that the token owner receives for applying the request."),
};

const holds = z.discriminatedUnion("type", [
  z.object({ type: z.literal("state"), tokenId, policy: hex, owner: z.string(), root: z.string() }),
  z.object({ type: z.literal("request"), ...asked }),
]).nullable().meta({
  id: "SummaryHolding",
  description: "Role of the output in the contract; null if it has none.",
});

const script = z.object({
  hash: z.string(),
  language: z.enum(["native", "PlutusV1", "PlutusV2", "PlutusV3"]),
  version: z.string().nullable().describe("Version of the contract if the script is one, else null."),
}).meta({ id: "SummaryScript" });

const output = {
  address,
  whose,
  amount,
  holds,
  datum: hex.nullable().describe("CBOR of the inline datum, if `holds` does not describe it."),
  datumHash: hex.nullable(),
  script: script.nullable().describe("The reference script of the output."),
};

/** An output that is spent or referenced, with its contents where they are known. */
const input = z.object({
  outputRef,
  output: z.object({
    ...output,
    cbor: hex.nullable().describe("CBOR of the output; null if its reference script is the contract."),
  }).nullable().describe(
    "Null if this service does not know the output.",
  ),
}).meta({ id: "SummaryInput" });

const slotTime = z.object({
  slot: integer,
  time: z.string().nullable().describe("ISO 8601, UTC; null if unknown."),
}).nullable();

const redeemer = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["end", "contribute", "refuse", "retract", "burning"]) }),
  z.object({ type: z.literal("modify"), actions: z.array(z.enum(["apply", "skip", "refuse"])) }),
  z.object({ type: z.literal("minting"), seed: outputRef, tokenId }),
  z.object({ type: z.literal("unknown"), cbor: hex }),
]).meta({ id: "SummaryRedeemer" });

const effect = { lovelace: lovelace.describe("Lovelace; negative for a loss."), assets };

export const summary = z.object({
  hash: z.string(),
  size: z.int().describe("Size in bytes of the given transaction."),
  valid: z.boolean().describe(
    "False: the transaction is marked as failing its scripts; it only spends its collateral, which the other fields show.",
  ),
  address: address.nullable().describe("Address of the requester, from whose view the summary is made."),
  spends: z.array(input),
  pays: z.array(z.object({
    index: z.int(),
    ...output,
    purpose: z.enum(["state", "request", "refund", "change", "payment"]).describe(
      "`refund`: the refund of an applied or refused request. `change`: change to the requester, without datum and script.",
    ),
    for: outputRef.nullable().describe("The refunded request."),
  })),
  mints: z.array(z.object({
    policy: hex,
    name: hex,
    quantity: integer.describe("Negative for burning."),
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
    applies: z.array(z.object({ outputRef, change })).describe("Applied requests, in order of application."),
    skips: z.array(z.object({ outputRef, change })).describe(
      "Requests that the transaction returns to their owners.",
    ),
    refuses: omittable(
      z.array(z.object({ outputRef, change })).describe(
        "Refused requests, in the ledger's order: their whole deposits return. Omitted if there are none.",
      ),
    ),
    proven: z.boolean().nullable().describe(
      "Whether the proofs and changes transform the root before into the root after; null if data is missing.",
    ),
  })).describe("Tokens that the transaction boots, changes or ends."),
  requests: z.array(z.object({ index: z.int(), ...asked, locked: amount })).describe(
    "Requests that the transaction creates.",
  ),
  retracts: z.array(z.object({ outputRef, ...asked, locked: amount })).describe(
    "Requests that the transaction retracts.",
  ),
  locks: z.array(
    z.object({ index: z.int(), for: z.enum(["state", "request", "unknown"]), tokenId: tokenId.nullable(), amount }),
  )
    .describe("Outputs at the contract's address that the transaction creates."),
  refunds: z.array(z.object({ index: z.int(), request: outputRef, address, whose, lovelace })),
  fee: lovelace,
  collateral: z.object({
    inputs: z.array(input),
    total: lovelaceOrNull.describe("Total collateral stated in the transaction."),
    return: z.object(output).nullable(),
    atRisk: lovelaceOrNull.describe(
      "Lovelace that the requester loses if a script fails; null if unknown.",
    ),
  }).nullable(),
  signers: z.array(z.object({
    key: z.string().describe("Hash of the key that must sign."),
    requester: z.boolean(),
    why: z.array(z.enum(["input", "collateral", "required"])),
    signed: z.boolean().describe("Whether a signature of the key is attached. The signature is not verified here."),
  })).describe("Required signers, as far as the spent outputs are known."),
  validity: z.object({ from: slotTime, until: slotTime }).describe(
    "First slot in which the transaction is valid, and first slot in which it is no longer valid.",
  ),
  references: z.array(input),
  attached: z.array(script).describe("Scripts in the witness set."),
  scripts: z.array(z.object({
    purpose: z.enum(["spend", "mint", "cert", "reward", "vote", "propose"]),
    index: z.int(),
    of: z.string().nullable().describe("The output or the policy that the script validates."),
    hash: z.string().nullable().describe("Hash of the executed script."),
    version: z.string().nullable(),
    redeemer,
    memory: integer,
    steps: integer,
  })),
  net: z.object(effect).nullable().describe(
    "Balance change of the requester's address; null if data is missing.",
  ),
  effects: z.array(z.object({ address, whose, ...effect })).describe(
    "Balance change of each address, computed from the known outputs.",
  ),
  metadata: z.array(
    z.object({ label: integer, cbor: hex, text: z.string().describe("The value in CBOR diagnostic notation.") }),
  ),
  balanced: z.boolean().nullable().describe(
    "Whether inputs and outputs balance, as the ledger requires; null if data is missing.",
  ),
  unknown: z.array(z.object({ code: z.string(), message: z.string() })).describe(
    "Parts that this release cannot interpret. If not empty, the transaction may do more than the summary shows.",
  ),
}).meta({ id: "Summary", description: "Summary of what a transaction does." });

export const explainBody = z.object({
  transaction: z.string().regex(/^([0-9a-fA-F]{2})+$/, "expected hexadecimal CBOR").describe(
    "CBOR of the transaction in hexadecimal, signed or unsigned.",
  ),
  address: z.string().min(1).max(300).optional().describe("Address from whose view the summary is made."),
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
