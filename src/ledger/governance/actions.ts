/**
 * Actions of governance in the state: how they were voted, and the chains that those of one purpose form (CIP-1694; ledger:
 * `Proposals`). Actions go by `transaction#index`, voters by `voterKey`.
 */
import { addTo } from "#src/base/maps.ts";
import { finish, type Steps } from "#src/base/steps.ts";
import { refKey } from "#src/cardano/output.ts";
import { decode } from "#src/cardano/cbor.ts";
import {
  type Action,
  type ActionId,
  type Proposal,
  readProposal,
  type Vote,
  type Voter,
} from "#src/cardano/conway/governance.ts";
import { type Governance, type Proposed, type Purpose, PURPOSES } from "#src/ledger/governance/types.ts";
import { credentialKey, eachRow, type LedgerState, type View } from "#src/ledger/state.ts";

/** The key of the only row of `governance`. */
export const GOVERNANCE = "";

/** Before the first change: an empty constitution, and a committee without members whose quorum is met. */
const AT_GENESIS: Governance = {
  constitution: { anchor: { url: "", hash: "00".repeat(32) } },
  quorum: { numerator: 0n, denominator: 1n },
  enacted: {},
  dormant: 0,
  next: 0,
  decided: { enacted: [], expired: [] },
};

/** What is in force. */
export function governanceOf({ governance }: Pick<LedgerState, "governance">): Governance {
  return governance.get(GOVERNANCE) ?? AT_GENESIS;
}

const read = new WeakMap<Uint8Array, Proposal>();

/** Reads a proposal, once for the same bytes in memory. @throws {CborError} */
export function proposalOf({ cbor }: Pick<Proposed, "cbor">): Proposal {
  const known = read.get(cbor);
  if (known) return known;
  const proposal = readProposal(decode(cbor));
  read.set(cbor, proposal);
  return proposal;
}

/** The key of an action. */
export const actionKey = (id: ActionId): string => refKey(id);

/** The key of a vote: of an action, by a voter. */
export const voteKey = (action: string, voter: string): string => `${action} ${voter}`;

/** A voter in the key of a vote: the role and the credential. */
export function voterKey({ role, credential }: Pick<Voter, "role" | "credential">): string {
  return `${role} ${role === "pool" ? credential.hash : credentialKey(credential)}`;
}

/** The votes on an action, by role and by the voter's key in the state. */
export type Tally = Readonly<Record<Voter["role"], ReadonlyMap<string, Vote["vote"]>>>;

/** The action in the key of a vote. */
export const votedAction = (vote: string): string => vote.slice(0, vote.indexOf(" "));

/** The votes on every action, read by action when they are needed. */
export function tallies(votes: View<Vote["vote"]>): (action: string) => Tally {
  return finish(talliesInSteps(votes));
}

/** `tallies` in steps. */
export function* talliesInSteps(votes: View<Vote["vote"]>): Steps<(action: string) => Tally> {
  const byAction = new Map<string, (readonly [string, Vote["vote"]])[]>();
  yield* eachRow(votes, (vote) => addTo(byAction, votedAction(vote[0]), vote));
  return (action) => tallyOf(action, byAction.get(action) ?? []);
}

function tallyOf(action: string, votes: readonly (readonly [string, Vote["vote"]])[]): Tally {
  const tally = { committee: new Map(), drep: new Map(), pool: new Map() };
  for (const [key, vote] of votes) {
    const role = action.length + 1;
    const voter = key.indexOf(" ", role) + 1;
    const of = key.slice(role, voter - 1);
    if (of === "committee" || of === "drep" || of === "pool") tally[of].set(key.slice(voter), vote);
  }
  return tally;
}

/** The purpose of an action; undefined for those that follow no other. */
export function purposeOf({ kind }: Action): Purpose | undefined {
  return kind === "no confidence" ? "committee" : PURPOSES.find((purpose) => purpose === kind);
}

/** The action that another one follows. */
export function previousOf(action: Action): string | undefined {
  return "previous" in action && action.previous ? actionKey(action.previous) : undefined;
}

/** Actions in the order in which they were proposed. */
export function inOrder(proposals: View<Proposed>): (readonly [string, Proposed])[] {
  return [...proposals.entries()].sort(([, a], [, b]) => a.order - b.order);
}

/** All actions that follow some others, directly or not; `all` are in order. Those of another purpose follow none of them. */
export function descendants(all: readonly (readonly [string, Proposed])[], of: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const roots = new Set(of);
  for (const [key, proposed] of all) {
    const previous = previousOf(proposalOf(proposed).action);
    if (previous !== undefined && (roots.has(previous) || found.has(previous))) found.add(key);
  }
  return found;
}
