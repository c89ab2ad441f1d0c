/** Requests and answers of the routes for the root of the unspent outputs; safe in a browser. */
import { z } from "zod";

const hex = z.string();
const slot = z.int().describe("Slot; -1 before the first block.");
const root = hex.nullable().describe("Root of the unspent outputs; null if there is none.");
const proof = hex.describe("Deterministic CBOR of the proof.");
const cbor = hex.describe("CBOR of the output in the ledger's own encoding, of which the tree has the digest.");
const txHash = z.string().describe("Hash of the transaction.");
const index = z.int().describe("Index of the output.");

export const txId = z.string().regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits");
export const outputIndex = z.string().regex(/^\d{1,5}$/, "must be a number up to 65535").transform(Number)
  .refine((index) => index < 65_536, "must be a number up to 65535");
export const addressHex = z.string().max(4_000).regex(/^([0-9a-fA-F]{2})+$/, "must be an address in hexadecimal");
export const seconds = z.string().regex(/^\d{1,3}$/, "must be a number of seconds up to 300").transform(Number)
  .refine((seconds) => seconds <= 300, "must be a number of seconds up to 300").default(30);

const point = z.object({ slot, hash: z.string().describe("Hash of the block; empty before the first one.") });

export const rootAnswer = z.object({ point, root }).meta({ id: "UtxoRoot" });
export const provedOutput = z.object({
  point,
  root,
  output: cbor.nullable(),
  proof,
}).meta({
  id: "ProvedOutput",
  description: "An output and the proof that it is unspent; or null, and the proof that the address does not have it.",
});
export const provedAddress = z.object({
  point,
  root,
  address: hex.describe("Bytes of the address."),
  entries: z.array(z.object({ txHash, index, cbor })),
  proof,
}).meta({
  id: "ProvedAddress",
  description: "All unspent outputs of an address, and the proof that there are no others.",
});

export const merkleRoots = z.array(z.object({ slotNo: slot, blockHash: hex, merkleRoot: root }));
export const inclusion = z.object({ slotNo: slot, blockHash: hex, proof, txOut: cbor });
export const addressOutputs = z.array(z.object({ txIn: hex.describe("CBOR of the reference."), txOut: cbor }));
export const awaited = z.object({ txId: hex, txIx: z.int(), txOut: cbor });
export const progress = z.object({
  ready: z.boolean(),
  tipSlot: slot.nullable(),
  processedSlot: slot.nullable(),
  slotsBehind: z.int().nullable(),
});
export const hexText = z.string().describe("Hexadecimal.");
