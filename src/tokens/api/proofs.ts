/** A fact with its proof; safe in a browser. */
import { z } from "zod";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);

const skip = z.int().min(0).max(63).describe(
  "Number of nibbles shared by all keys below the branch, before the branching nibble.",
);

/** A step, in the JSON form of the published libraries of Merkle Patricia Forestries. */
export const proofStep = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("branch"),
    skip,
    neighbors: hex.describe("Four sibling hashes in the binary tree over 16 slots: 128 bytes."),
  }),
  z.object({
    type: z.literal("fork"),
    skip,
    neighbor: z.object({
      nibble: z.int().min(0).max(15),
      prefix: hex.describe("One nibble per byte."),
      root: hex,
    }),
  }),
  z.object({ type: z.literal("leaf"), skip, neighbor: z.object({ key: hex, value: hex }) }),
]).meta({ id: "ProofStep" });

export const point = z.object({
  slot: z.int(),
  hash: z.string().describe("Hash of the block."),
  height: z.int(),
}).meta({ id: "Point", description: "The chain point of the response." });

/** Encoding of a fact's key in the path. */
export const keyEncoding = z.enum(["text", "hex", "digest"]).default("text").describe(
  "Encoding of the key in the path. `text`: percent-encoded (`/` as %2F; %80 to %FF for bytes that are not UTF-8). `hex`: " +
    "hexadecimal. `digest`: its blake2b-256 digest in hexadecimal, for long keys and for `.` and `..`.",
);

export const factProof = z.object({
  tokenId: z.string(),
  key: z.string().optional().describe(
    "Omitted if the request contained a digest and no fact exists. A byte that is not UTF-8 is a lone surrogate U+DC80 to U+DCFF.",
  ),
  keyHex: z.string().optional(),
  path: hex.describe("blake2b-256 of the key: its path in the trie."),
  included: z.boolean(),
  value: z.string().optional().describe("Value of the fact; omitted if it is not included."),
  valueHex: z.string().optional(),
  proof: z.object({
    steps: z.array(proofStep).describe("Steps from the root to the key."),
    cbor: hex.describe("The proof as Plutus data, for on-chain validators."),
  }).describe("Proof that the key has this value under the root or, if not included, that it has no value."),
  root: hex.describe("Root of the facts; 64 zeros if there are none."),
  owner: hex.describe("Payment key hash of the owner."),
  outputRefId: z.string().describe("The token's state output."),
  stateOutput: z.object({
    address: z.string(),
    policyId: hex,
    assetName: hex,
    datum: hex.describe("CBOR of the inline datum, which contains owner and root."),
    cbor: hex.describe("CBOR of the output as it is on the ledger."),
  }),
  point,
}).meta({ id: "FactProof", description: "A fact or its absence, with the proof and the data needed to verify it." });
