/** The schema of what wallets' events say of governance (CIP-1694). */
import { z } from "zod";

const lovelace = z.string().regex(/^\d+$/).describe("Lovelace, in digits.");
const action = z.string().regex(/^[0-9a-f]{64}#\d{1,5}$/);
const credential = z.string().regex(/^(key|script)-[0-9a-f]{56}$/);
/** What a transaction does in the network's governance; lists that would be too long are cut. */
export const governance = {
  certificates: z.array(z.object({
    kind: z.enum(["register_drep", "update_drep", "unregister_drep", "authorize", "resign"]).describe(
      "What it does: a representative's registration, its metadata or its end; a committee member's voting key or its end.",
    ),
    credential: credential.describe("The representative, or the member's cold credential."),
    hot: credential.optional().describe("The credential that votes for the member, of `authorize`."),
    deposit: lovelace.optional().describe("Deposit that it pays or gets back, in lovelace."),
  })).optional().describe("Certificates of representatives and of the committee; missing where there are none."),
  votes: z.array(z.object({
    role: z.enum(["committee", "drep", "pool"]).describe("The role in which it votes."),
    credential: credential.describe("Who votes; a pool by its id."),
    action: action.describe("The governance action: transaction and index."),
    vote: z.enum(["yes", "no", "abstain"]).describe("The vote."),
  })).optional().describe("Votes on governance actions; missing where there are none."),
  proposals: z.array(z.object({
    action: action.describe("The governance action: transaction and index."),
    kind: z.enum([
      "parameters",
      "hard_fork",
      "treasury",
      "no_confidence",
      "committee",
      "constitution",
      "info",
    ]).describe("What it proposes."),
    deposit: lovelace.describe("Its deposit, in lovelace."),
    account: credential.describe("The stake credential that the deposit returns to, when voting has ended."),
  })).optional().describe("Governance actions that it proposes; missing where there are none."),
  leftOut: z.number().int().positive().optional().describe(
    "How many of all these the event lacks, because it would be too long; missing where it lacks none.",
  ),
};
