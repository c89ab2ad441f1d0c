/** Requests and answers about governance by the devnet's own keys; safe in a browser. */
import { z } from "zod";

const anchor = z.object({
  url: z.string().max(128),
  hash: z.string().regex(/^[0-9a-f]{64}$/, "expected 32 bytes in hexadecimal"),
}).meta({ id: "GovernanceAnchor", description: "A document; the devnet does not read it." });
const lovelace = z.union([z.int(), z.bigint()]).transform(BigInt).refine((value) => value >= 0 && value < 2n ** 64n)
  .meta({ description: "Lovelace.", type: "integer" });
const count = z.int().min(0).max(2 ** 31 - 1);
const action = z.string().max(100).meta({
  description: "`gov_action1…`, or the transaction's hash, `#` and the index.",
  example: "gov_action1…",
});
const account = z.string().max(120).meta({ description: "Stake address.", example: "stake_test1…" });
const share = z.object({
  numerator: z.int().min(0),
  denominator: z.int().min(1),
}).refine(({ numerator, denominator }) => numerator <= denominator, "expected at most 1");
const member = z.string().max(120).meta({
  description: "A member of the committee by its cold credential.",
  example: "cc_cold1…",
});

export const proposedAction = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("parameters"),
    changes: z.record(z.string(), z.unknown()).describe("New values, with names and forms as in `GET /parameters`."),
  }),
  z.object({ kind: z.literal("hard fork"), version: z.object({ major: count, minor: count }) }),
  z.object({
    kind: z.literal("treasury"),
    payments: z.array(z.object({ account, lovelace })).min(1).max(100),
  }),
  z.object({ kind: z.literal("no confidence") }),
  z.object({
    kind: z.literal("committee"),
    removed: z.array(member).max(100).default([]),
    added: z.array(z.object({ member, until: count.describe("The last epoch of the term.") })).max(100).default([]),
    quorum: share.describe("The share of the members that has to agree."),
  }),
  z.object({
    kind: z.literal("constitution"),
    anchor,
    script: z.string().regex(/^[0-9a-f]{56}$/, "expected 28 bytes in hexadecimal").optional().describe(
      "Hash of the guardrails script.",
    ),
  }),
  z.object({ kind: z.literal("info") }),
]).meta({ id: "ProposedAction" });

export const proposalBody = z.object({
  action: proposedAction,
  anchor: anchor.optional().describe("The document about it; by default one that nothing stands behind."),
  previous: action.nullable().optional().describe(
    "The action that it follows; null: none. By default the last enacted one of its purpose.",
  ),
  account: account.optional().describe(
    "Where the deposit returns to; by default the first account that the genesis registered.",
  ),
}).meta({ id: "ProposalRequest" });
export const proposalAnswer = z.object({
  id: z.string().describe("`gov_action1…`"),
  txHash: z.string(),
  index: z.int(),
}).meta({ id: "ProposalAnswer", description: "The action; its transaction is in the mempool." });

const role = z.enum(["drep", "committee", "pool"]);
export const voter = z.object({ role, id: z.string().describe("`drep1…`, `cc_hot1…` or `pool1…`") });
export const voters = z.object({ voters: z.array(voter) }).meta({
  id: "OwnVoters",
  description: "Voters whose keys the devnet has and that may vote now.",
});
export const voteBody = z.object({
  action,
  vote: z.enum(["yes", "no", "abstain"]),
  as: z.array(z.string().max(120)).min(1).max(1_000).optional().describe(
    "Roles (`drep`, `committee`, `pool`) or ids of voters whose keys the devnet has; by default all that have a say.",
  ),
  anchor: anchor.optional().describe("The document about the reasons."),
}).meta({ id: "VoteRequest" });
export const voteAnswer = z.object({
  txHashes: z.array(z.string()).describe("Transactions with the votes; they are in the mempool."),
  voters: z.array(voter),
}).meta({ id: "VoteAnswer" });
