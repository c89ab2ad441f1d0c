/** Votes and proposals. Sets and maps stand in the ledger's order. */
import type { Credential } from "#src/cardano/address.ts";
import type { Anchor } from "#src/cardano/certificates.ts";
import { asSet, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef } from "#src/cardano/output.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { type ParameterChanges, readParameterChanges } from "#src/cardano/conway/parameterChanges.ts";
import {
  anchorOrNil,
  choice,
  compareAccounts,
  compareCredentials,
  credential,
  entries,
  given,
  hash,
  ratio,
  type RewardAccount,
  rewardAccount,
  tuple,
  uint,
} from "#src/cardano/conway/strict.ts";

/** A governance action: the transaction that proposes it, and its index there. */
export type ActionId = OutRef;

/** A vote; the anchor is the document that gives its reasons. */
export interface Vote {
  readonly action: ActionId;
  readonly vote: "no" | "yes" | "abstain";
  readonly anchor?: Anchor;
}

/** Who votes, and how. */
export interface Voter {
  readonly role: "committee" | "drep" | "pool";
  readonly credential: Credential;
  readonly votes: readonly Vote[];
}

/**
 * What is proposed. `previous` is the last enacted action of its kind; `policy` is the script that must agree to changes of parameters and payments
 * from the treasury (the guardrails script).
 */
export type Action =
  | {
    readonly kind: "parameters";
    readonly previous?: ActionId;
    readonly changes: ParameterChanges;
    readonly policy?: string;
  }
  | {
    readonly kind: "hard fork";
    readonly previous?: ActionId;
    readonly version: { readonly major: bigint; readonly minor: bigint };
  }
  /** Payments are lovelace. */
  | {
    readonly kind: "treasury";
    readonly payments: readonly (readonly [RewardAccount, bigint])[];
    readonly policy?: string;
  }
  | { readonly kind: "no confidence"; readonly previous?: ActionId }
  /** `until` is the epoch after which a member's term is over. */
  | {
    readonly kind: "committee";
    readonly previous?: ActionId;
    readonly removed: readonly Credential[];
    readonly added: readonly { readonly member: Credential; readonly until: bigint }[];
    readonly quorum: Ratio;
  }
  /** `script` is the guardrails script of the new constitution. */
  | {
    readonly kind: "constitution";
    readonly previous?: ActionId;
    readonly script?: string;
    readonly anchor: Anchor;
  }
  | { readonly kind: "info" };

/**
 * A proposal: its deposit in lovelace, the account that the deposit returns to, the action, the document about it, and its CBOR.
 */
export interface Proposal {
  readonly cbor: Uint8Array;
  readonly deposit: bigint;
  readonly account: RewardAccount;
  readonly action: Action;
  readonly anchor: Anchor;
}

/** The script that must agree to an action, if there is one. */
export function policyOfAction(action: Action): string | undefined {
  return "policy" in action ? action.policy : undefined;
}

/** Voters of `voting_procedures`, in the ledger's order: committee, representatives, pools, each by scripts first, then by hash. */
export function readVotes(item: Item): readonly Voter[] {
  const voters = entries(item, "votes", readVoter, readVotesOf).map(([voter, votes]) => ({ ...voter, votes }));
  if (voters.length === 0) throw new CborError("votes are empty");
  return voters.sort((a, b) =>
    ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || compareCredentials(a.credential, b.credential)
  );
}

const ROLES = ["committee", "drep", "pool"] as const;
/** Role and kind of credential, by the tag of a voter. */
const VOTERS = [
  ["committee", "key"],
  ["committee", "script"],
  ["drep", "key"],
  ["drep", "script"],
  ["pool", "key"],
] as const;
const VOTES = ["no", "yes", "abstain"] as const;

function readVoter(item: Item): Omit<Voter, "votes"> {
  const [tag, of] = tuple(item, "voter", 2);
  const [role, kind] = choice(tag, "kind of voter", VOTERS);
  return { role, credential: { kind, hash: hash(of, "voter", 28) } };
}

function readVotesOf(item: Item): Voter["votes"] {
  const votes = entries(item, "votes", readActionId, (procedure) => {
    const [vote, anchor] = tuple(procedure, "vote", 2);
    return { ...given("anchor", anchorOrNil(anchor)), vote: choice(vote, "vote", VOTES) };
  });
  if (votes.length === 0) throw new CborError("a voter has no vote");
  return votes.map(([action, vote]) => ({ action, ...vote })).sort((a, b) => compareRefs(a.action, b.action));
}

function readActionId(item: Item): ActionId {
  const [transaction, index] = tuple(item, "action id", 2);
  return { txHash: hash(transaction, "action id", 32), index: Number(uint(index, "action index", 65_535n)) };
}

/** Reads `proposal_procedure`. */
export function readProposal(item: Item): Proposal {
  const [deposit, account, action, document] = tuple(item, "proposal", 4);
  const anchor = anchorOrNil(document);
  if (!anchor) throw new CborError("a proposal has no anchor");
  return {
    cbor: raw(item),
    deposit: uint(deposit, "deposit"),
    account: rewardAccount(account),
    action: readAction(action),
    anchor,
  };
}

function readAction(item: Item | undefined): Action {
  const [tag, ...rest] = tuple(item, "action", 1, 2, 3, 4, 5);
  const kind = Number(uint(tag, "kind of action", 6n));
  if (rest.length !== [3, 2, 2, 1, 4, 2, 0][kind]) throw new CborError("action of the wrong length");
  const [first, second, third, fourth] = rest;
  switch (kind) {
    case 0:
      return { kind: "parameters", ...previous(first), changes: readParameterChanges(second), ...policy(third) };
    case 1: {
      const [major, minor] = tuple(second, "protocol version", 2);
      const version = { major: uint(major, "protocol version"), minor: uint(minor, "protocol version") };
      return { kind: "hard fork", ...previous(first), version };
    }
    case 2: {
      const payments = entries(first, "payments", rewardAccount, (amount) => uint(amount, "payment"));
      return { kind: "treasury", payments: payments.sort(([a], [b]) => compareAccounts(a, b)), ...policy(second) };
    }
    case 3:
      return { kind: "no confidence", ...previous(first) };
    case 4:
      return {
        kind: "committee",
        ...previous(first),
        removed: asSet(second).map(credential).sort(compareCredentials),
        added: entries(third, "committee", credential, (until) => uint(until, "epoch"))
          .map(([member, until]) => ({ member, until }))
          .sort((a, b) => compareCredentials(a.member, b.member)),
        quorum: ratio(fourth, "quorum", true),
      };
    case 5: {
      const [document, script] = tuple(second, "constitution", 2);
      const anchor = anchorOrNil(document);
      if (!anchor) throw new CborError("a constitution has no anchor");
      return { kind: "constitution", ...previous(first), ...named(script), anchor };
    }
    default:
      return { kind: "info" };
  }
}

/** A member with what an item holds; none where the item is `null`. */
function unlessNil<K extends string, V>(
  name: K,
  item: Item | undefined,
  read: (item: Item) => V,
): { readonly [_ in K]?: V } {
  return given(name, !item || item.type === "null" ? undefined : read(item));
}

const previous = (item: Item | undefined) => unlessNil("previous", item, readActionId);
const policy = (item: Item | undefined) => unlessNil("policy", item, (of) => hash(of, "policy", 28));
const named = (item: Item | undefined) => unlessNil("script", item, (of) => hash(of, "guardrails script", 28));
