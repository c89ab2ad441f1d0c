/**
 * The state of governance in the form that a node reports. What counts for actions is that of the last epoch boundary, as
 * at a node whose count is complete: votes, representatives and stake since then count at the next one.
 */
import type { Credential } from "#src/cardano/address.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import type { ProtocolParameters } from "#src/cardano/parameters.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { withPlanned } from "#src/ledger/epoch/hardFork.ts";
import { snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import { governanceOf, inOrder, proposalOf, tallies, type Tally } from "#src/ledger/governance/actions.ts";
import { enactDecided, type EnactState } from "#src/ledger/governance/enact.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { DELAYING } from "#src/ledger/governance/ratify.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import { votingOf, votingStake } from "#src/ledger/governance/voting.ts";
import {
  type CommitteeMember,
  credentialKey,
  type DRep,
  type LedgerState,
  parseCredentialKey,
} from "#src/ledger/state.ts";
import type { ActionState, CommitteeMembers, GovernanceState, RatifyState } from "#src/node/queries/governance.ts";
import type { AnswerOf } from "#src/node/queries/table.ts";
import type { Drep } from "#src/node/queries/vocabulary.ts";

/** Tables that say what is in force now, and after the next epoch boundary. */
export const IN_FORCE = ["governance", "proposals", "committee", "parameters", "epoch", "pots"] as const;
type InForce = Pick<LedgerState, typeof IN_FORCE[number]>;

/** The snapshot of the last epoch boundary. */
type Counted = Pick<LedgerState, "snapshots" | "epoch">;

/** The representative behind a key made by `drepKey`. */
export function drepOf(key: string): Drep {
  return key === "abstain" || key === "no confidence" ? { kind: key } : parseCredentialKey(key);
}

/** A registered representative, by the key of its credential. */
export function drepState(
  key: string,
  // one that an earlier release registered always counts
  { deposit, anchor, expiry = Number.MAX_SAFE_INTEGER }: DRep,
  delegators: readonly Credential[] = [],
): AnswerOf<"drepState">[number] {
  return { credential: parseCredentialKey(key), expiry, anchor, deposit, delegators };
}

const snapshotNow = (state: Counted) => snapshotOf(state, state.epoch);

/** Stake that votes through representatives. */
export function countedDrepStake(state: Counted): AnswerOf<"drepStake"> {
  return [...votingStake(snapshotNow(state)).dreps].map(([key, lovelace]) => ({ drep: drepOf(key), lovelace }));
}

/** Stake with which pools vote. Pools without any are left out, as from other distributions. */
export function countedPoolStake(state: Counted): AnswerOf<"poolStake"> {
  return [...votingStake(snapshotNow(state)).pools].flatMap(([pool, lovelace]) =>
    lovelace === 0n ? [] : [{ pool, lovelace }]
  );
}

/** The representatives that were registered at the boundary, with those who delegated to them then. */
function countedDreps(state: Counted): AnswerOf<"drepState"> {
  const { dreps, delegators } = votingOf(snapshotNow(state));
  return [...dreps].map(([key, drep]) =>
    drepState(key, drep, [...delegators.get(key)?.keys() ?? []].map(parseCredentialKey))
  );
}

/** The actions that were counted, with the votes of then. */
export function countedActions(state: Counted & Pick<LedgerState, "proposals">): ActionState[] {
  const tally = tallies(votingOf(snapshotNow(state)).votes);
  return inOrder(state.proposals).filter(([, { proposedIn }]) => proposedIn < state.epoch)
    .map(([key, proposed]) => actionState(key, proposed, tally(key)));
}

function actionState(key: string, proposed: Proposed, tally: Tally): ActionState {
  const { cbor: _, ...proposal } = proposalOf(proposed);
  const byCredential = (votes: Tally["drep"]) =>
    [...votes].map(([voter, vote]) => ({ voter: parseCredentialKey(voter), vote }));
  return {
    id: parseRefKey(key),
    committeeVotes: byCredential(tally.committee),
    drepVotes: byCredential(tally.drep),
    poolVotes: [...tally.pool].map(([voter, vote]) => ({ voter, vote })),
    proposal,
    proposedIn: proposed.proposedIn,
    expiresAfter: proposed.expiresAfter,
  };
}

/** The constitution in force. */
export function constitutionOf({ constitution: { anchor, script } }: Governance): AnswerOf<"constitution"> {
  return { anchor, script };
}

function rootsOf({ enacted }: Governance): GovernanceState["proposals"]["roots"] {
  const of = (key: string | undefined) => key === undefined ? undefined : parseRefKey(key);
  return {
    parameters: of(enacted.parameters),
    hardFork: of(enacted["hard fork"]),
    committee: of(enacted.committee),
    constitution: of(enacted.constitution),
  };
}

/** Ends of the terms of the elected members, by the cold credential's key. A test may set a member without one. */
function termsOf(committee: Iterable<readonly [string, CommitteeMember]>): ReadonlyMap<string, number> {
  return new Map(
    [...committee].flatMap(([key, { elected, until = Number.MAX_SAFE_INTEGER }]) =>
      elected ? [[key, until] as const] : []
    ),
  );
}

function committeeOf(
  { quorum }: Governance,
  committee: Iterable<readonly [string, CommitteeMember]>,
): GovernanceState["committee"] {
  const members = [...termsOf(committee)].map(([key, until]) => ({ member: parseCredentialKey(key), until }));
  return quorum && { members, threshold: quorum };
}

/** What is in force once the decided actions are carried out. The treasury only changes at boundaries. */
function afterBoundary(state: InForce): EnactState {
  return enactDecided({ ...state, treasury: state.pots.treasury });
}

function parametersBefore(state: Counted & Pick<LedgerState, "parameters">): ProtocolParameters {
  return protocolParameters(snapshotNow(state).parametersBefore ?? state.parameters);
}

/** What the next boundary does, and what is in force after it. */
export function ratifyState(state: InForce & Counted): RatifyState {
  const { enacted, expired } = governanceOf(state).decided;
  const after = afterBoundary(state);
  const actions = new Map(countedActions(state).map((action) => [refKey(action.id), action]));
  const carriedOut = enacted.flatMap((key) => actions.get(key) ?? []);
  const payments = new Map<string, bigint>();
  for (const [{ credential }, lovelace] of after.payments) {
    const key = credentialKey(credential);
    payments.set(key, (payments.get(key) ?? 0n) + lovelace);
  }
  return {
    state: {
      committee: committeeOf(after.governance, after.committee),
      constitution: constitutionOf(after.governance),
      current: protocolParameters(after.parameters),
      previous: parametersBefore(state),
      treasury: after.treasury,
      withdrawals: [...payments].map(([key, lovelace]) => ({ credential: parseCredentialKey(key), lovelace })),
      roots: rootsOf(after.governance),
    },
    enacted: carriedOut,
    expired: expired.map(parseRefKey),
    delayed: carriedOut.some(({ proposal: { action } }) => DELAYING.has(action.kind)),
  };
}

/** The parameters of the next epoch, if an action or the genesis changes them. */
export function nextParameters({ terms: { hardFork } }: Genesis, state: InForce): ProtocolParameters | undefined {
  const parameters = withPlanned(afterBoundary(state).parameters, hardFork, state.epoch + 1);
  return parameters === state.parameters ? undefined : protocolParameters(parameters);
}

/**
 * The first slot in which the parameters of the next epoch are certain: two stability windows before it begins (ledger:
 * `getTheSlotOfNoReturn`).
 */
function certainFrom({ network: { securityParameter }, terms: { epochLength, activeSlots } }: Genesis, epoch: number) {
  const window = (3n * BigInt(securityParameter) * activeSlots.denominator + activeSlots.numerator - 1n) /
    activeSlots.numerator;
  return (epoch + 1) * epochLength - 2 * Number(window);
}

/** The whole state of governance, in the slot of its block. */
export function governanceState(genesis: Genesis, slot: number, state: LedgerState): GovernanceState {
  const governance = governanceOf(state);
  const tally = tallies(state.votes);
  const parameters = nextParameters(genesis, state);
  const isCertain = slot >= certainFrom(genesis, state.epoch);
  return {
    proposals: {
      roots: rootsOf(governance),
      actions: inOrder(state.proposals).map(([key, proposed]) => actionState(key, proposed, tally(key))),
    },
    committee: committeeOf(governance, state.committee.entries()),
    constitution: constitutionOf(governance),
    current: protocolParameters(state.parameters),
    previous: parametersBefore(state),
    future: !isCertain ? { kind: "potential", parameters } : parameters ? { kind: "definite", parameters } : {
      kind: "none",
    },
    pulsing: {
      snapshot: {
        actions: countedActions(state),
        drepStake: countedDrepStake(state),
        dreps: countedDreps(state),
        poolStake: countedPoolStake(state),
      },
      ratify: ratifyState(state),
    },
  };
}

/** Members, those who will be, and those who have a hot credential or resigned without being one. */
export function committeeMembers(state: InForce): CommitteeMembers {
  const { epoch, committee } = state;
  const [now, next] = [termsOf(committee.entries()), termsOf(afterBoundary(state).committee)];
  const answered = [...committee.entries()].flatMap(([key, { hot, resigned }]) => hot || resigned ? [key] : []);
  const members = [...new Set([...now.keys(), ...answered, ...next.keys()])].map((key) => {
    const until = now.get(key);
    return {
      cold: parseCredentialKey(key),
      hot: hotOf(committee.get(key)),
      status: until === undefined ? "unrecognized" as const : epoch > until ? "expired" as const : "active" as const,
      until,
      next: changeOf(until, next.get(key), epoch),
    };
  });
  return { members, threshold: governanceOf(state).quorum, epoch };
}

function hotOf(member: CommitteeMember | undefined): CommitteeMembers["members"][number]["hot"] {
  if (member?.resigned) return { kind: "resigned", anchor: member.resignation };
  return member?.hot ? { kind: "authorized", credential: parseCredentialKey(member.hot) } : { kind: "not authorized" };
}

/** What the next boundary changes for a member with these ends of its term, now and then (ledger: `nextEpochChange`). */
function changeOf(
  now: number | undefined,
  next: number | undefined,
  epoch: number,
): CommitteeMembers["members"][number]["next"] {
  if (next === undefined) return { kind: "removed" };
  if (now === undefined) return { kind: "enacted" };
  if (now !== next && next !== epoch) return { kind: "term", until: next };
  return { kind: now === epoch || next === epoch ? "expired" : "none" };
}
