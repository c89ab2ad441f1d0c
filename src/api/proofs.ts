/** A fact with its proof; safe in a browser. */
import { z } from "zod";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);

const skip = z.int().min(0).max(63).meta({
  description: "Nibbles that everything below the branch shares, before the branching one.",
});

/** A step, in the JSON form of the published libraries of Merkle Patricia Forestries. */
export const proofStep = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("branch"),
    skip,
    neighbors: hex.meta({ description: "Four sibling hashes in the binary tree over 16 slots: 128 bytes." }),
  }),
  z.object({
    type: z.literal("fork"),
    skip,
    neighbor: z.object({
      nibble: z.int().min(0).max(15),
      prefix: hex.meta({ description: "A nibble in each byte." }),
      root: hex,
    }),
  }),
  z.object({ type: z.literal("leaf"), skip, neighbor: z.object({ key: hex, value: hex }) }),
]).meta({ id: "ProofStep" });

export const point = z.object({
  slot: z.int(),
  hash: z.string().meta({ description: "Hash of the block." }),
  height: z.int(),
}).meta({ id: "Point", description: "Where in the chain an answer was read." });

/** Encoding of a fact's key in the path. */
export const keyEncoding = z.enum(["text", "hex", "digest"]).default("text").meta({
  description:
    "How the key stands in the path: `text` percent-encoded (`/` as %2F, and %80 to %FF for bytes that are no UTF-8); `hex` " +
    "in hexadecimal; `digest` its blake2b-256 digest in hexadecimal, for keys that are long or that URLs give a meaning (`.` and `..`).",
});

export const factProof = z.object({
  tokenId: z.string(),
  key: z.string().optional().meta({
    description:
      "Missing where a digest was asked for and nothing is there. A byte that is no UTF-8 is a lone surrogate U+DC80 to U+DCFF.",
  }),
  keyHex: z.string().optional(),
  path: hex.meta({ description: "blake2b-256 of the key: its place in the trie." }),
  included: z.boolean(),
  value: z.string().optional().meta({ description: "Where included." }),
  valueHex: z.string().optional(),
  proof: z.object({
    steps: z.array(proofStep).meta({ description: "From the root down." }),
    cbor: hex.meta({ description: "The same as Plutus data, which validators on the ledger read." }),
  }).meta({ description: "That the key has this value under the root; or, where not included, that it has none." }),
  root: hex.meta({ description: "Root of the facts; 64 zeros when there are none." }),
  owner: hex.meta({ description: "Payment key hash of the owner." }),
  outputRefId: z.string().meta({ description: "The token's state output." }),
  stateOutput: z.object({
    address: z.string(),
    policyId: hex,
    assetName: hex,
    datum: hex.meta({ description: "CBOR of the inline datum, which holds owner and root." }),
    cbor: hex.meta({ description: "The output as it stands on the ledger." }),
  }),
  point,
}).meta({ id: "FactProof", description: "A fact or its absence, with what it takes to check it." });
