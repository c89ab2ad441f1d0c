/**
 * Answers with the proof that nothing was left out, against a root of all unspent outputs. Members are named as those of
 * MPFS v2. Safe in a browser.
 */
import { z } from "zod";
import { flag, signedToken, token, tokens } from "#src/tokens/api/tokens.ts";
import { anyFacts, openRequests, signedOpenRequests } from "#src/tokens/api/tokenFacts.ts";

const hex = z.string();

/** The parameter of the endpoints that prove their answer. */
export const proof = flag.optional().meta({
  type: "boolean",
  description:
    "Whether the response proves that nothing was left out, against a root of all unspent outputs. It is then of another form, " +
    "holds no pending changes, and other parameters are ignored. It counts as a build of the client. Default: false.",
});

const snapshot = z.object({
  utxo_root: hex.nullable().describe("Root of all unspent outputs; null if there is none."),
  chainpoint: z.object({ slot: z.int(), block_id: hex.describe("Hash of the block.") }),
}).meta({ id: "ProofSnapshot", description: "The block of which all parts of the response are, and its root." });

const ref = z.object({ tx_id: hex, tx_ix: z.int() });
const txOut = hex.describe("CBOR of the output in the ledger's own encoding.");

const outputSet = z.object({
  address: hex.describe("Bytes of the address of a version of the contract."),
  entries: z.array(z.object({ ref, txout_cbor: txOut })),
  completeness_proof: hex.describe("Proof that these are all outputs of the address."),
}).meta({ id: "ProvedOutputs" });

const utxo = z.object({
  tx_in: ref,
  tx_out: txOut,
  utxo_proof: hex.describe("Proof that the output is unspent."),
});

export const provedTokens = z.object({
  snapshot,
  tokens: z.array(outputSet).describe(
    "All outputs of the contract, for each of its versions: states, requests and others.",
  ),
}).meta({ id: "ProvedTokens" });

export const provedToken = z.object({
  snapshot,
  state: z.object({ utxo }).describe("The state output: owner and root are in its datum."),
}).meta({ id: "ProvedToken" });

export const provedRequests = z.object({
  snapshot,
  request_set: z.array(outputSet).describe("All outputs of the contract, for each of its versions."),
}).meta({ id: "ProvedRequests" });

export const provedFacts = z.object({
  snapshot,
  state: z.object({ utxo }),
  facts: z.array(z.object({ key: hex, value: hex })).describe("All facts, keys and values in hexadecimal."),
}).meta({ id: "ProvedFacts" });

export const anyTokens = z.union([tokens, provedTokens]);
export const anyToken = z.union([token, provedToken]);
export const anySignedToken = z.union([signedToken, provedToken]);
export const anySignedOpenRequests = z.union([signedOpenRequests, provedRequests]);
export const anyOpenRequests = z.union([openRequests, provedRequests]);
export const anyProvedFacts = z.union([...anyFacts.options, provedFacts]).describe(anyFacts.description ?? "");
