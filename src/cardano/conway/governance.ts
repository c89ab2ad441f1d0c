/** Votes and proposals, as far as witnesses, deposits and accounts are concerned. */
import type { Credential } from "#src/cardano/address.ts";
import { as, asSet, CborError, type Item } from "#src/cardano/cbor.ts";
import {
  anchorOrNil,
  credential,
  entries,
  hash,
  ratio,
  type RewardAccount,
  rewardAccount,
  tuple,
  uint,
} from "#src/cardano/conway/strict.ts";

/** Who votes. */
export interface Voter {
  readonly role: "committee" | "drep" | "pool";
  readonly credential: Credential;
}

/** A proposal: what it costs, to whom the deposit returns, and what its action asks of the rules here. */
export interface Proposal {
  readonly deposit: bigint;
  readonly account: RewardAccount;
  /** Script that must agree to changes of parameters and payments from the treasury. */
  readonly policy?: string;
  /** Payments from the treasury, in lovelace. */
  readonly payments?: readonly (readonly [RewardAccount, bigint])[];
  /** Changes of the committee; `until` is the epoch after which a member's term is over. */
  readonly committee?: {
    readonly removed: readonly Credential[];
    readonly added: readonly { readonly member: Credential; readonly until: bigint }[];
  };
}

/** Voters of `voting_procedures`, in the ledger's order: committee, representatives, pools, each by scripts first, then by hash. */
export function readVotes(item: Item): readonly Voter[] {
  const voters = entries(item, "votes", readVoter, checkVotes).map(([voter]) => voter);
  if (voters.length === 0) throw new CborError("votes are empty");
  return voters.sort((a, b) => {
    const [x, y] = [voterRank(a), voterRank(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  });
}

const ROLES = ["committee", "drep", "pool"] as const;

function voterRank({ role, credential: { kind, hash } }: Voter): string {
  return `${ROLES.indexOf(role)}${kind === "script" ? 0 : 1}${hash}`;
}

function readVoter(item: Item): Voter {
  const [tag, of] = tuple(item, "voter", 2);
  const kind = Number(uint(tag, "kind of voter", 4n));
  return {
    role: ROLES[kind >> 1]!,
    credential: { kind: kind === 1 || kind === 3 ? "script" : "key", hash: hash(of, "voter", 28) },
  };
}

function checkVotes(item: Item): void {
  const votes = entries(item, "votes", checkActionId, (procedure) => {
    const [vote, anchor] = tuple(procedure, "vote", 2);
    uint(vote, "vote", 2n);
    anchorOrNil(anchor);
  });
  if (votes.length === 0) throw new CborError("a voter has no vote");
}

function checkActionId(item: Item): void {
  const [transaction, index] = tuple(item, "action id", 2);
  hash(transaction, "action id", 32);
  uint(index, "action index", 65_535n);
}

const idOrNil = (item: Item | undefined) => item && item.type !== "null" && checkActionId(item);

/** Reads `proposal_procedure`. */
export function readProposal(item: Item): Proposal {
  const [deposit, account, action, anchor] = tuple(item, "proposal", 4);
  if (anchor?.type === "null") throw new CborError("a proposal has no anchor");
  anchorOrNil(anchor);
  return { deposit: uint(deposit, "deposit"), account: rewardAccount(account), ...readAction(action) };
}

function readAction(item: Item | undefined): Omit<Proposal, "deposit" | "account"> {
  const [tag, ...rest] = tuple(item, "action", 1, 2, 3, 4, 5);
  const kind = Number(uint(tag, "kind of action", 6n));
  if (rest.length !== [3, 2, 2, 1, 4, 2, 0][kind]) throw new CborError("action of the wrong length");
  const policy = (of: Item | undefined) => of?.type === "null" ? {} : { policy: hash(of, "policy", 28) };
  if (kind !== 2 && kind !== 6) idOrNil(rest[0]);
  switch (kind) {
    case 0:
      as(rest[1], "map");
      return policy(rest[2]);
    case 1:
      tuple(rest[1], "protocol version", 2);
      return {};
    case 2:
      return {
        payments: entries(rest[0], "payments", rewardAccount, (amount) => uint(amount, "payment")),
        ...policy(rest[1]),
      };
    case 4:
      ratio(rest[3], "quorum", true);
      return {
        committee: {
          removed: asSet(rest[1]).map(credential),
          added: entries(rest[2], "committee", credential, (until) => uint(until, "epoch")).map(([member, until]) => ({
            member,
            until,
          })),
        },
      };
    case 5: {
      const [anchor] = tuple(rest[1], "constitution", 2);
      anchorOrNil(anchor);
      return {};
    }
    default:
      return {};
  }
}
