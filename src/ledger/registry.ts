/** The tables that certificates, withdrawals and governance change, and their changes within one transaction. */
import type { Change, RegistryChanges } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, overlayTable, type View } from "#src/ledger/state.ts";

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

/** Lets `act` change the tables of a state without changing the state, and gives what it changed. */
export function changing(state: LedgerState, act: (registry: Registry) => void): RegistryChanges {
  const registry = {
    accounts: overlayTable(state.accounts),
    pools: overlayTable(state.pools),
    dreps: overlayTable(state.dreps),
    committee: overlayTable(state.committee),
    proposals: overlayTable(state.proposals),
    votes: overlayTable(state.votes),
    governance: overlayTable(state.governance),
  };
  act(registry);
  return {
    accounts: changes(registry.accounts.changes(), state.accounts),
    pools: changes(registry.pools.changes(), state.pools),
    dreps: changes(registry.dreps.changes(), state.dreps),
    committee: changes(registry.committee.changes(), state.committee),
    proposals: changes(registry.proposals.changes(), state.proposals),
    votes: changes(registry.votes.changes(), state.votes),
    governance: changes(registry.governance.changes(), state.governance),
  };
}

function changes<V>(changed: Iterable<readonly [string, V | undefined]>, base: View<V>): Change<V>[] {
  return [...changed].flatMap(([key, after]) => {
    const before = base.get(key);
    return before === undefined && after === undefined ? [] : [{ key, before, after }];
  });
}
