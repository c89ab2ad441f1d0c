/** The tables that certificates, withdrawals and governance change, and their changes within one transaction. */
import { each, finish, type Steps } from "#src/base/steps.ts";
import type { Change, RegistryChanges } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, overlayTable, type Table, type View } from "#src/ledger/state.ts";

/** Accounts, pools, representatives, committee, and what is proposed and in force, to be changed. */
export type Registry = Pick<MutableLedgerState, keyof RegistryChanges>;

/** No change. */
export const unchanged: RegistryChanges = {
  accounts: [],
  pools: [],
  dreps: [],
  committee: [],
  proposals: [],
  votes: [],
  governance: [],
};

/** Tables on top of those of a state. */
type ChangedRegistry = { readonly [Name in keyof Registry]: Registry[Name] & Changed<Registry[Name]> };
type Changed<T> = T extends Table<infer V> ? { changes(): Iterable<readonly [string, V | undefined]> } : never;

/** Tables to be changed on top of those of a state, which stays as it is. */
export function registryOver(state: LedgerState): ChangedRegistry {
  return {
    accounts: overlayTable(state.accounts),
    pools: overlayTable(state.pools),
    dreps: overlayTable(state.dreps),
    committee: overlayTable(state.committee),
    proposals: overlayTable(state.proposals),
    votes: overlayTable(state.votes),
    governance: overlayTable(state.governance),
  };
}

/** What was changed in tables that `registryOver` made. */
export function* registryChanges(registry: ChangedRegistry, state: LedgerState): Steps<RegistryChanges> {
  return {
    accounts: yield* changes(registry.accounts.changes(), state.accounts),
    pools: yield* changes(registry.pools.changes(), state.pools),
    dreps: yield* changes(registry.dreps.changes(), state.dreps),
    committee: yield* changes(registry.committee.changes(), state.committee),
    proposals: yield* changes(registry.proposals.changes(), state.proposals),
    votes: yield* changes(registry.votes.changes(), state.votes),
    governance: yield* changes(registry.governance.changes(), state.governance),
  };
}

/** Lets `act` change the tables of a state without changing the state, and gives what it changed. */
export function changing(state: LedgerState, act: (registry: Registry) => void): RegistryChanges {
  const registry = registryOver(state);
  act(registry);
  return finish(registryChanges(registry, state));
}

function* changes<V>(changed: Iterable<readonly [string, V | undefined]>, base: View<V>): Steps<Change<V>[]> {
  const found: Change<V>[] = [];
  yield* each(changed, ([key, after]) => {
    const before = base.get(key);
    if (before !== undefined || after !== undefined) found.push({ key, before, after });
  });
  return found;
}
