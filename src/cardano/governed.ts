/** Votes and proposals of scanned transactions. Both functions throw `CborError` if they are malformed. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { asSet, decodeAll, entry } from "#src/cardano/cbor.ts";
import { type Proposal, readProposal, readVotes, type Voter } from "#src/cardano/conway/governance.ts";

/** Fields of a body (CDDL `transaction_body`). */
const VOTES = 19;
const PROPOSALS = 20;

type Governing = Pick<ScannedTransaction, "governs" | "body">;

/** Who votes in a transaction, in the ledger's order. */
export function votersIn({ governs, body }: Governing): readonly Voter[] {
  const votes = governs ? entry(decodeAll(body), VOTES) : undefined;
  return votes ? readVotes(votes) : [];
}

/** What a transaction proposes, in its order: the index of an action is its place. */
export function proposalsIn({ governs, body }: Governing): readonly Proposal[] {
  const proposals = governs ? entry(decodeAll(body), PROPOSALS) : undefined;
  return proposals ? asSet(proposals).map(readProposal) : [];
}
