/** The history of a key with the proof that nothing was left out; safe in a browser. */
import { z } from "zod";
import { proofStep } from "#src/tokens/api/proofs.ts";
import { flag } from "#src/tokens/api/tokens.ts";
import { factHistory, factHistoryQuery } from "#src/tokens/api/tokenFacts.ts";

const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const count = z.int().min(0);
const seq = z.string().regex(/^(0|[1-9]\d{0,14})$/, "expected the number of an entry of the token")
  .transform(Number).optional();

export const provedHistoryQuery = {
  ...factHistoryQuery,
  proof: flag.optional().meta({
    type: "boolean",
    description:
      "Whether the response proves the value of the key in each state of a span, from the log of the instance. It is then of another " +
      "form: oldest first, `limit` counts states, and states that are not in the log yet are not in it. Default: false.",
  }),
  from: seq.describe("With `proof`: number (`seq`) of the token's first entry in the log. Default: 0."),
  to: seq.describe(
    "With `proof`: number of the last entry. Default: the newest in the checkpoint that most witnesses have signed.",
  ),
};

/** Cursor of a proven history: the next entry, the last one, the size of the checkpoint of all pages. */
export const historyPlace = z.object({ next: count, to: count, size: count });

const index = count.describe("Index of the entry in the log.");

const entry = z.union([
  z.object({
    index,
    slot: count,
    ref: z.string().describe(
      "The state output, `<transaction hash>#<output index>`; of the end the one that was spent.",
    ),
    root: hex.describe("Root of the facts."),
    value: count.nullable().optional().describe("Index into `values`; null if the key has no value."),
    steps: z.array(count).optional().describe(
      "Proof of that under the root: indices into `steps`, from the root to the key. Absent where root and value are those of the state before, and at the end of the token.",
    ),
    end: z.literal(true).optional().describe("Whether this entry is the end of the token."),
    boot: z.literal(true).optional().describe(
      "Whether this is the first state of the token although its number is above 0: a rollback withdrew those before it.",
    ),
    withdrawn: z.literal(true).optional().describe(
      "Whether a later entry of the token says that a rollback withdrew this one. Its value is not proven then.",
    ),
  }),
  z.object({
    index,
    slot: z.int().min(-1).describe("Slot to which the chain was rolled back."),
    first: count.describe(
      "Number of the first entry that was withdrawn: all from it to this one are not on the chain.",
    ),
  }).describe("A rollback."),
]);
export type HistoryEntry = z.output<typeof entry>;

export const keyHistory = z.object({
  format: z.literal("arbor.key-history/1"),
  tokenId: hex,
  path: hex.describe("blake2b-256 of the key: its path in the trie."),
  net: count.describe("Magic of the network."),
  policyId: hex,
  from: count.describe("Number of the first of `states` among the entries of the token."),
  states: z.array(entry).describe(
    "Entries of the token without a gap. The text of an entry in the log follows from these members.",
  ),
  values: z.array(hex).describe("The different values of the key, in hexadecimal."),
  steps: z.array(proofStep).describe("The different steps of all proofs."),
  hashes: z.array(hex).describe(
    "Hashes of the largest subtrees of the log that have none of the entries, from the left.",
  ),
  checkpoint: z.string().describe("The signed checkpoint that the hashes lead to, the same for all pages."),
}).meta({
  id: "KeyHistory",
  description: "The value of a key in each state of a span, with proofs. `verifyKeyHistory` of the client verifies it.",
});

/** Both forms of the answer. */
export const anyFactHistory = z.union([factHistory, keyHistory]);
