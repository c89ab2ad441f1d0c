/** Rule ENACT: what an action that was ratified changes, and what that ends. */
import type { Steps } from "#src/base/steps.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import {
  descendants,
  governanceOf,
  inOrder,
  previousOf,
  proposalOf,
  purposeOf,
} from "#src/ledger/governance/actions.ts";
import { changeParameters } from "#src/ledger/governance/parameters.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import { type CommitteeMember, credentialKey, type LedgerState, type View } from "#src/ledger/state.ts";

/** What is in force while actions are carried out one after the other. */
export interface EnactState {
  readonly governance: Governance;
  readonly parameters: Parameters;
  readonly committee: ReadonlyMap<string, CommitteeMember>;
  /** Lovelace that payments may still take. */
  readonly treasury: bigint;
  /** Payments from the treasury. */
  readonly payments: readonly (readonly [RewardAccount, bigint])[];
}

/** Carries out an action. */
export function enact(state: EnactState, key: string, action: Action): EnactState {
  const purpose = purposeOf(action);
  const governance = purpose === undefined
    ? state.governance
    : { ...state.governance, enacted: { ...state.governance.enacted, [purpose]: key } };
  switch (action.kind) {
    case "no confidence":
      return { ...state, governance: { ...governance, quorum: undefined }, committee: dismissed(state.committee) };
    case "committee":
      return {
        ...state,
        governance: { ...governance, quorum: action.quorum },
        committee: renewed(state.committee, action),
      };
    case "constitution": {
      const { anchor, script } = action;
      return { ...state, governance: { ...governance, constitution: { anchor, ...(script ? { script } : {}) } } };
    }
    case "hard fork": {
      const protocolVersion = { major: Number(action.version.major), minor: Number(action.version.minor) };
      return { ...state, governance, parameters: { ...state.parameters, protocolVersion } };
    }
    case "parameters":
      return { ...state, governance, parameters: changeParameters(state.parameters, action.changes) };
    case "treasury": {
      const paid = action.payments.reduce((sum, [, lovelace]) => sum + lovelace, 0n);
      return { ...state, treasury: state.treasury - paid, payments: [...state.payments, ...action.payments] };
    }
    case "info":
      return state;
  }
}

/** Carries out what was decided at the last boundary (`Governance.decided`), on top of what is in force. */
export function enactDecided(
  { governance, proposals, committee, parameters, treasury }:
    & Pick<
      LedgerState,
      "governance" | "proposals" | "committee" | "parameters"
    >
    & { readonly treasury: bigint },
): EnactState {
  const inForce = governanceOf({ governance });
  const state: EnactState = {
    governance: inForce,
    parameters,
    committee: new Map(committee.entries()),
    treasury,
    payments: [],
  };
  return inForce.decided.enacted.reduce((state, key) => {
    const proposed = proposals.get(key);
    return proposed ? enact(state, key, proposalOf(proposed).action) : state;
  }, state);
}

/** A committee without elected members; hot credentials stay. */
function dismissed(committee: EnactState["committee"]): Map<string, CommitteeMember> {
  return new Map([...committee].map(([key, { elected: _, until: __, ...member }]) => [key, member]));
}

/** A committee after members were removed and added. */
function renewed(
  committee: EnactState["committee"],
  { removed, added }: Extract<Action, { kind: "committee" }>,
): Map<string, CommitteeMember> {
  const members = new Map(committee);
  for (const credential of removed) {
    const key = credentialKey(credential);
    const { elected: _, until: __, ...member } = members.get(key) ?? {};
    if (members.has(key)) members.set(key, member);
  }
  for (const { member, until } of added) {
    const key = credentialKey(member);
    members.set(key, { ...members.get(key), elected: true, until: Number(until) });
  }
  return members;
}

/**
 * The actions that end at a boundary: those that expired and what follows them, those that took force, and those that
 * competed with them, with what follows these (ledger: `proposalsApplyEnactment`).
 */
export function* ended(
  proposals: View<Proposed>,
  { enacted, expired }: Governance["decided"],
): Steps<ReadonlyMap<string, Proposed>> {
  const all = inOrder(proposals);
  const gone = new Set([...expired, ...descendants(all, expired)]);
  for (const key of enacted) {
    yield;
    const proposed = proposals.get(key);
    const action = proposed && proposalOf(proposed).action;
    gone.add(key);
    const purpose = action && purposeOf(action);
    if (!action || purpose === undefined) continue;
    const previous = previousOf(action);
    const rivals = all.filter(([other, one]) => {
      const { action } = proposalOf(one);
      return other !== key && !gone.has(other) && purposeOf(action) === purpose && previousOf(action) === previous;
    }).map(([other]) => other);
    for (const rival of [...rivals, ...descendants(all, rivals)]) gone.add(rival);
  }
  return new Map(all.filter(([key]) => gone.has(key)));
}
