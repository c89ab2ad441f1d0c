/**
 * The state of governance of the Conway era as a node reports it (ledger: `ConwayGovState`, `CommitteeMembersState`).
 * Hashes are hexadecimal, amounts lovelace.
 */
import type { Credential } from "#src/cardano/address.ts";
import { as, CborError, type Encodable } from "#src/cardano/cbor.ts";
import type { Vote } from "#src/cardano/conway/governance.ts";
import { compareRefs } from "#src/cardano/output.ts";
import type { ProtocolParameters } from "#src/cardano/parameters.ts";
import { conwayParameters } from "#src/node/queries/parameters.ts";
import { stakeByPool } from "#src/node/queries/pools.ts";
import { proposal } from "#src/node/queries/proposal.ts";
import {
  amount,
  type CborShape,
  choice,
  count,
  flag,
  listOf,
  mapOf,
  maybe,
  nullable,
  record,
  sentSet,
  type ShapeValue,
} from "#src/node/queries/shape.ts";
import {
  amountsBy,
  anchor,
  compareCredentials,
  compareDreps,
  compareHex,
  credential,
  credentials,
  drep,
  hex,
  ratio,
  reference,
} from "#src/node/queries/vocabulary.ts";

/** The constitution; `script` is its guardrails script. */
export const constitution = record({ anchor, script: nullable(hex) });

const committee = record({
  /** `until` is the last epoch of a member's term. */
  members: mapOf(
    credential,
    count,
    compareCredentials,
    (member, until) => ({ member, until }),
    (row) => [row.member, row.until],
  ),
  threshold: ratio,
});

/** The last enacted action of each purpose. */
const roots = record({
  parameters: maybe(reference),
  hardFork: maybe(reference),
  committee: maybe(reference),
  constitution: maybe(reference),
});

const vote: CborShape<Vote["vote"]> = choice("vote", ["no", "yes", "abstain"]);

function votesBy<K>(voter: CborShape<K>, order: (a: K, b: K) => number) {
  return mapOf(voter, vote, order, (voter, vote) => ({ voter, vote }), (row) => [row.voter, row.vote]);
}

/** An action that is voted on, or was (ledger: `GovActionState`). */
export const actionState = record({
  id: reference,
  /** By hot credential. */
  committeeVotes: votesBy(credential, compareCredentials),
  drepVotes: votesBy(credential, compareCredentials),
  poolVotes: votesBy(hex, compareHex),
  proposal,
  /** The epoch in which it was proposed. */
  proposedIn: count,
  /** The last epoch in which it is voted on. */
  expiresAfter: count,
});
export type ActionState = ShapeValue<typeof actionState>;

/** Registered DReps. */
export const drepStates = mapOf(
  credential,
  record({
    /** Epoch after which it no longer counts. */
    expiry: count,
    anchor: maybe(anchor),
    deposit: amount,
    /** The accounts that delegate to it; nodes before version 10 leave them out. */
    delegators: credentials,
  }, { more: true }),
  compareCredentials,
  (credential, of) => ({ credential, ...of }),
  ({ credential, ...of }) => [credential, of],
);

/** Stake that is delegated to DReps and to the two predefined ones. */
export const drepStake = amountsBy("drep", drep, compareDreps);

/** What is in force once the enacted actions are carried out (ledger: `EnactState`). */
const enactState = record({
  committee: maybe(committee),
  constitution,
  current: conwayParameters,
  /** The parameters before the last epoch boundary. */
  previous: conwayParameters,
  treasury: amount,
  /** What the treasury pays at the boundary. */
  withdrawals: amountsBy("credential", credential, compareCredentials),
  roots,
});

/** What the next epoch boundary does. */
export const ratifyState = record({
  /** What is in force after it. */
  state: enactState,
  enacted: listOf(actionState),
  expired: sentSet(reference, compareRefs),
  /** Whether an enacted action defers the ratification of others. */
  delayed: flag,
});
export type RatifyState = ShapeValue<typeof ratifyState>;

/** What counts for the actions: votes, DReps and stake as of the last epoch boundary (ledger: `PulsingSnapshot`). */
const votingSnapshot = record({
  actions: listOf(actionState),
  drepStake,
  dreps: drepStates,
  /** Stake of pools, with the deposits of proposals. */
  poolStake: stakeByPool,
});
export type VotingSnapshot = ShapeValue<typeof votingSnapshot>;

/** The parameters of the next epoch: not known to change, certain, or what they would be if the epoch ended now. */
type FutureParameters =
  | { readonly kind: "none" }
  | { readonly kind: "definite"; readonly parameters: ProtocolParameters }
  | { readonly kind: "potential"; readonly parameters: ProtocolParameters | undefined };

const potential = maybe(conwayParameters);

const futureParameters: CborShape<FutureParameters> = {
  read(item, at): FutureParameters {
    const [tag, of] = as(item, "array").value;
    switch (count.read(tag, at)) {
      case 0:
        return { kind: "none" };
      case 1:
        return { kind: "definite", parameters: conwayParameters.read(of, at) };
      case 2:
        return { kind: "potential", parameters: potential.read(of, at) };
      default:
        throw new CborError("no such kind of future parameters");
    }
  },
  write(value, at): Encodable {
    switch (value.kind) {
      case "none":
        return [0];
      case "definite":
        return [1, conwayParameters.write(value.parameters, at)];
      case "potential":
        return [2, potential.write(value.parameters, at)];
    }
  },
};

/** The whole state of governance. */
export const governanceState = record({
  proposals: record({ roots, actions: listOf(actionState) }),
  /** Undefined after a motion of no confidence. */
  committee: maybe(committee),
  constitution,
  current: conwayParameters,
  previous: conwayParameters,
  future: futureParameters,
  pulsing: record({ snapshot: votingSnapshot, ratify: ratifyState }),
});
export type GovernanceState = ShapeValue<typeof governanceState>;

/** The parameters of the next epoch, if they are known to change. */
export const nextParameters = maybe(conwayParameters);

/** A member's hot credential. */
type HotCredential =
  | { readonly kind: "authorized"; readonly credential: Credential }
  | { readonly kind: "not authorized" }
  | { readonly kind: "resigned"; readonly anchor: ShapeValue<typeof anchor> | undefined };

const resignation = maybe(anchor);

const hotCredential: CborShape<HotCredential> = {
  read(item, at): HotCredential {
    const [tag, of] = as(item, "array").value;
    switch (count.read(tag, at)) {
      case 0:
        return { kind: "authorized", credential: credential.read(of, at) };
      case 1:
        return { kind: "not authorized" };
      case 2:
        // nodes before version 10 state no document
        return { kind: "resigned", anchor: of && resignation.read(of, at) };
      default:
        throw new CborError("no such state of a hot credential");
    }
  },
  write(value, at): Encodable {
    switch (value.kind) {
      case "authorized":
        return [0, credential.write(value.credential, at)];
      case "not authorized":
        return [1];
      case "resigned":
        return [2, resignation.write(value.anchor, at)];
    }
  },
};

/** What the next epoch boundary changes for a member. */
type MemberChange =
  | { readonly kind: "enacted" | "removed" | "none" | "expired" }
  | { readonly kind: "term"; readonly until: number };

const CHANGES = ["enacted", "removed", "none", "expired"] as const;

const memberChange: CborShape<MemberChange> = {
  read(item, at): MemberChange {
    const [tag, until] = as(item, "array").value;
    const number = count.read(tag, at);
    if (number === CHANGES.length) return { kind: "term", until: count.read(until, at) };
    const kind = CHANGES[number];
    if (kind === undefined) throw new CborError("no such change of a member");
    return { kind };
  },
  write: (value) => value.kind === "term" ? [CHANGES.length, value.until] : [CHANGES.indexOf(value.kind)],
};

const STATUSES = ["active", "expired", "unrecognized"] as const;

/** Whether a member counts: its term runs, it is over, or it is not elected (yet, or any longer). */
export const memberStatus = choice("status of a member", STATUSES);
export type MemberStatus = ShapeValue<typeof memberStatus>;

/** The ledger's order of statuses. */
export function compareStatuses(a: MemberStatus, b: MemberStatus): number {
  return STATUSES.indexOf(a) - STATUSES.indexOf(b);
}

/** The committee, with those who are neither members yet nor forgotten (ledger: `CommitteeMembersState`). */
export const committeeMembers = record({
  members: mapOf(
    credential,
    record({ hot: hotCredential, status: memberStatus, until: maybe(count), next: memberChange }),
    compareCredentials,
    (cold, of) => ({ cold, ...of }),
    ({ cold, ...of }) => [cold, of],
  ),
  /** Undefined after a motion of no confidence. */
  threshold: maybe(ratio),
  epoch: count,
});
export type CommitteeMembers = ShapeValue<typeof committeeMembers>;

/** How a pool that does not vote counts. */
export const defaultVote = choice("default vote", ["no", "abstain", "no confidence"]);

/** The accounts that delegate to DReps. */
export const drepDelegations = mapOf(
  drep,
  credentials,
  compareDreps,
  (drep, delegators) => ({ drep, delegators }),
  (row) => [row.drep, row.delegators],
);
