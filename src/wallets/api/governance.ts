/** Governance: a wallet as a representative (DRep), its votes, and what transactions propose; safe in a browser. */
import { z } from "zod";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { parseActionId } from "#src/cardano/governanceId.ts";
import { votingPower } from "#src/wallets/api/dreps.ts";
import { derivationPath } from "#src/wallets/api/addresses.ts";
import { amount, hash, passphrase } from "#src/wallets/api/text.ts";

/** The ledger's limit of an anchor's URL, in bytes. */
const MOST_URL_BYTES = 128;
/** Most votes of one request: a transaction holds them all. */
const MOST_VOTES = 50;

const anchor = z.strictObject({
  url: z.string().min(1).refine(
    (text) => new TextEncoder().encode(text).length <= MOST_URL_BYTES,
    `expected at most ${MOST_URL_BYTES} bytes`,
  ).meta({ maxLength: MOST_URL_BYTES }),
  data_hash: hash.describe("blake2b-256 of the document."),
}).describe("A document and its hash.");

const actionId = z.string().transform((text, context): ActionId => {
  const read = parseActionId(text);
  if (read !== undefined) return read;
  context.addIssue({
    code: "custom",
    message: "Invalid id of a governance action: expecting 'gov_action1…' (CIP-129) or '<transaction id>#<index>'.",
  });
  return z.NEVER;
}).meta({
  type: "string",
  description: "`gov_action1…` (CIP-129) or `<transaction id>#<index>`.",
  example: "gov_action1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsq6dmejn",
});

const votes = z.array(z.strictObject({
  action: actionId,
  vote: z.enum(["yes", "no", "abstain"]),
  anchor: anchor.optional().describe("The reasons for the vote."),
})).min(1).max(MOST_VOTES).refine(
  (list) => new Set(list.map(({ action: { txHash, index } }) => `${txHash}#${index}`)).size === list.length,
  "there are two votes on the same action",
);

/** The extension of bodies that build a transaction. */
export const governanceIntent = z.strictObject({
  drep: z.strictObject({
    action: z.enum(["register", "update", "deregister"]),
    anchor: anchor.optional().describe("Metadata of the representative (CIP-119); without it there is none."),
  }).refine(({ action, anchor }) => action !== "deregister" || anchor === undefined, {
    path: ["anchor"],
    message: "the end of a registration has no anchor",
  }).optional(),
  votes: votes.optional(),
}).refine(({ drep, votes }) => drep !== undefined || votes !== undefined, "expected `drep` or `votes`").describe(
  "Extension: what the wallet does as a representative, with its DRep key (CIP-105).",
);
export type GovernanceBody = z.output<typeof governanceIntent>;

export const drepBody = z.object({
  passphrase,
  anchor: anchor.optional().describe("Metadata of the representative (CIP-119); without it there is none."),
}).meta({ id: "OwnDRepBody" });
export const retireBody = z.object({ passphrase }).meta({ id: "OwnDRepEndBody" });
export const votesBody = z.object({ passphrase, votes }).meta({ id: "VotesBody" });

/* answers */

const shownAnchor = z.object({ url: z.string(), data_hash: z.string() });

/** What the ledger has of a representative now. */
const drepState = {
  status: z.enum(["active", "inactive", "not_registered", "unknown"]).describe(
    "`inactive`: registered, and without activity for so long that its votes do not count. `not_registered`: it never was, or is not any " +
      "more. `unknown`: the provider does not report it.",
  ),
  expiry_epoch: z.int().min(0).optional().describe("Last epoch in which its votes count, unless it is active again."),
  voting_power: votingPower.optional().describe(
    "Lovelace delegated to it: as of the last epoch boundary, as it counts for actions; now where the provider is a Blockfrost service.",
  ),
  deposit: amount.optional(),
  anchor: shownAnchor.optional(),
};

export const governanceState = z.object({
  drep: z.object({
    id: z.string().describe("`drep1…` (CIP-129)."),
    key_hash: z.string().length(56),
    derivation_path: derivationPath,
    ...drepState,
  }).describe("The wallet as a representative."),
  vote: z.object({
    id: z.string().describe("`abstain`, `no_confidence`, or `drep1…` (CIP-129)."),
    ...drepState,
    status: drepState.status.optional().describe("Missing for `abstain` and `no_confidence`."),
  }).optional().describe("To whom the wallet's stake account delegates its vote; missing if to no one."),
}).meta({ id: "GovernanceState", description: "The ledger's state at the tip." });

/** Members of shown transactions. */
export const governanceParts = {
  votes: z.array(z.object({
    voter_role: z.enum(["committee", "drep", "pool"]),
    voter: z.string().describe("`cc_hot1…`, `drep1…` (CIP-129) or `pool1…`."),
    derivation_path: derivationPath.optional().describe("Path of the wallet's DRep key, where it votes."),
    action: z.string().describe("`gov_action1…` (CIP-129)."),
    vote: z.enum(["yes", "no", "abstain"]),
    anchor: shownAnchor.optional(),
  })).optional().describe("Extension: votes on governance actions; missing where there are none."),
  proposals: z.array(z.object({
    id: z.string().describe("`gov_action1…` (CIP-129)."),
    action: z.enum([
      "parameters",
      "hard_fork",
      "treasury",
      "no_confidence",
      "committee",
      "constitution",
      "info",
    ]),
    deposit: amount,
    return_account: z.string().describe("The stake address that the deposit returns to."),
    return_account_path: derivationPath.optional().describe("Its path, where it is the wallet's."),
    anchor: shownAnchor,
  })).optional().describe("Extension: governance actions that it proposes; missing where there are none."),
};

/** Certificates of representatives and of members of the committee. */
export const governanceCertificate = z.object({
  certificate_type: z.enum(["authorize", "resign", "register_drep", "unregister_drep", "update_drep"]),
  drep: z.string().optional().describe("Extension: the representative, `drep1…` (CIP-129)."),
  drep_path: derivationPath.optional().describe("Extension: path of the DRep key, where it is the wallet's."),
  deposit: amount.optional().describe("Extension: the deposit that is paid or returned."),
  anchor: shownAnchor.optional().describe("Extension."),
  committee_cold: z.string().optional().describe("Extension: the member, `cc_cold1…` (CIP-129)."),
  committee_hot: z.string().optional().describe("Extension: the key that votes for it, `cc_hot1…` (CIP-129)."),
});
