/** Governance at the boundary between two epochs: what was decided takes force, what ended is refunded, and it is decided again. */
import type { Parameters } from "#src/cardano/parameters.ts";
import { GOVERNANCE, governanceOf, proposalOf } from "#src/ledger/governance/actions.ts";
import { enactDecided, type EnactState, ended } from "#src/ledger/governance/enact.ts";
import type { Election } from "#src/ledger/governance/count.ts";
import { ratify } from "#src/ledger/governance/ratify.ts";
import type { Proposed } from "#src/ledger/governance/types.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey, type Pots } from "#src/ledger/state.ts";

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
export function takeForce({ registry, parameters, pots, epoch }: Boundary): Parameters {
  const { decided } = governanceOf(registry);
  const state = enactDecided({ ...registry, parameters, treasury: pots.treasury });
  const gone = ended(registry.proposals, decided);
  for (const [{ credential }, lovelace] of state.payments) {
    if (credit(registry, credentialKey(credential), lovelace)) pots.treasury -= lovelace;
  }
  for (const proposed of gone.values()) {
    const { account, deposit } = proposalOf(proposed);
    pots.deposits -= deposit;
    if (!credit(registry, credentialKey(account.credential), deposit)) pots.treasury += deposit;
  }
  dropActions(registry, gone);
  seat(registry, state.committee);
  const dormant = isDormant(registry, epoch) ? 1 : 0;
  const governance = { ...state.governance, dormant: state.governance.dormant + dormant };
  registry.governance.set(GOVERNANCE, { ...governance, decided: { enacted: [], expired: [] } });
  return state.parameters;
}

/** Decides what takes force at the next boundary, by the tables as this one leaves them. */
export function decide(election: Election & Pick<Registry, "governance">): void {
  const decided = ratify(election);
  if (decided.enacted.length === 0 && decided.expired.length === 0) return;
  election.governance.set(GOVERNANCE, { ...governanceOf(election), decided });
}

/** Adds lovelace to a registered account; false where there is none. */
function credit({ accounts }: Registry, key: string, lovelace: bigint): boolean {
  const account = accounts.get(key);
  if (account) accounts.set(key, { ...account, balance: account.balance + lovelace });
  return account !== undefined;
}

function dropActions({ proposals, votes }: Registry, gone: ReadonlyMap<string, Proposed>): void {
  if (gone.size === 0) return;
  for (const key of gone.keys()) proposals.delete(key);
  for (const [key] of [...votes.entries()]) if (gone.has(key.slice(0, key.indexOf(" ")))) votes.delete(key);
}

/**
 * Writes the committee. Who is not elected loses the hot credential, a resignation is forgotten, even where an action would
 * elect that member (ledger: `updateCommitteeState`); who is not proposed either is forgotten altogether.
 */
function seat({ committee, proposals }: Registry, members: EnactState["committee"]): void {
  const proposed = new Set(
    [...proposals.entries()].flatMap(([, proposed]) => {
      const { action } = proposalOf(proposed);
      return action.kind === "committee" ? action.added.map(({ member }) => credentialKey(member)) : [];
    }),
  );
  for (const [key, member] of members) {
    if (!member.elected && !proposed.has(key)) committee.delete(key);
    else if (!member.elected) committee.set(key, {});
    else if (committee.get(key) !== member) committee.set(key, member);
  }
}

/** Whether nothing is voted on in an epoch (ledger: `updateNumDormantEpochs`). */
function isDormant({ proposals }: Registry, epoch: number): boolean {
  return [...proposals.entries()].every(([, { expiresAfter }]) => expiresAfter < epoch);
}
