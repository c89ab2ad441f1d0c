/** Governance at the boundary between two epochs: what was decided takes force, what ended is refunded, and it is decided again. */
import { each, type Steps } from "#src/base/steps.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { GOVERNANCE, governanceOf, proposalOf, votedAction } from "#src/ledger/governance/actions.ts";
import { enactDecided, type EnactState, ended } from "#src/ledger/governance/enact.ts";
import type { Election } from "#src/ledger/governance/count.ts";
import { ratify } from "#src/ledger/governance/ratify.ts";
import type { Proposed } from "#src/ledger/governance/types.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey, eachRow, type Pots } from "#src/ledger/state.ts";

/** The boundary before an epoch, with the pots as they are by then. */
interface Boundary {
  readonly registry: Registry;
  readonly parameters: Parameters;
  readonly pots: Pots;
  readonly epoch: number;
}

/**
 * Carries out what was decided at the last boundary, pays from the treasury, and returns the deposits of actions that end
 * (ledger: rule EPOCH). Changes tables and pots; gives the parameters of the epoch that begins.
 */
export function* takeForce({ registry, parameters, pots, epoch }: Boundary): Steps<Parameters> {
  const { decided } = governanceOf(registry);
  const state = enactDecided({ ...registry, parameters, treasury: pots.treasury });
  yield;
  const gone = yield* ended(registry.proposals, decided);
  yield* each(state.payments, ([{ credential }, lovelace]) => {
    if (credit(registry, credentialKey(credential), lovelace)) pots.treasury -= lovelace;
  });
  yield* each(gone.values(), (proposed) => {
    const { account, deposit } = proposalOf(proposed);
    pots.deposits -= deposit;
    if (!credit(registry, credentialKey(account.credential), deposit)) pots.treasury += deposit;
  });
  yield* dropActions(registry, gone);
  yield* seat(registry, state.committee);
  const dormant = isDormant(registry, epoch) ? 1 : 0;
  const governance = { ...state.governance, dormant: state.governance.dormant + dormant };
  registry.governance.set(GOVERNANCE, { ...governance, decided: { enacted: [], expired: [] } });
  return state.parameters;
}

/** Decides what takes force at the next boundary, by the tables as this one leaves them. */
export function* decide(election: Election & Pick<Registry, "governance">): Steps<void> {
  const decided = yield* ratify(election);
  if (decided.enacted.length === 0 && decided.expired.length === 0) return;
  election.governance.set(GOVERNANCE, { ...governanceOf(election), decided });
}

/** Adds lovelace to a registered account; false where there is none. */
function credit({ accounts }: Registry, key: string, lovelace: bigint): boolean {
  const account = accounts.get(key);
  if (account) accounts.set(key, { ...account, balance: account.balance + lovelace });
  return account !== undefined;
}

function* dropActions({ proposals, votes }: Registry, gone: ReadonlyMap<string, Proposed>): Steps<void> {
  if (gone.size === 0) return;
  for (const key of gone.keys()) proposals.delete(key);
  const dropped: string[] = [];
  yield* eachRow(votes, ([key]) => {
    if (gone.has(votedAction(key))) dropped.push(key);
  });
  yield* each(dropped, (key) => votes.delete(key));
}

/**
 * Writes the committee. Who is not elected loses the hot credential, a resignation is forgotten, even where an action would
 * elect that member (ledger: `updateCommitteeState`); who is not proposed either is forgotten altogether.
 */
function* seat({ committee, proposals }: Registry, members: EnactState["committee"]): Steps<void> {
  const proposed = new Set<string>();
  yield* eachRow(proposals, ([, one]) => {
    const { action } = proposalOf(one);
    if (action.kind !== "committee") return;
    for (const { member } of action.added) proposed.add(credentialKey(member));
  });
  yield* each(members, ([key, member]) => {
    if (!member.elected && !proposed.has(key)) committee.delete(key);
    else if (!member.elected) committee.set(key, {});
    else if (committee.get(key) !== member) committee.set(key, member);
  });
}

/** Whether nothing is voted on in an epoch (ledger: `updateNumDormantEpochs`). */
function isDormant({ proposals }: Registry, epoch: number): boolean {
  return [...proposals.entries()].every(([, { expiresAfter }]) => expiresAfter < epoch);
}
