/** The tables that certificates and withdrawals change, and their changes within one transaction. */
import type { Change, RegistryChanges } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, overlayTable, type View } from "#src/ledger/state.ts";

/** Accounts, pools, representatives and committee, to be changed. */
export type Registry = Pick<MutableLedgerState, "accounts" | "pools" | "dreps" | "committee">;

/** No change. */
export const unchanged: RegistryChanges = { accounts: [], pools: [], dreps: [], committee: [] };

/** Lets `act` change the tables of a state without changing the state, and gives what it changed. */
export function changing(state: LedgerState, act: (registry: Registry) => void): RegistryChanges {
  const registry = {
    accounts: overlayTable(state.accounts),
    pools: overlayTable(state.pools),
    dreps: overlayTable(state.dreps),
    committee: overlayTable(state.committee),
  };
  act(registry);
  return {
    accounts: changes(registry.accounts.changes(), state.accounts),
    pools: changes(registry.pools.changes(), state.pools),
    dreps: changes(registry.dreps.changes(), state.dreps),
    committee: changes(registry.committee.changes(), state.committee),
  };
}

function changes<V>(changed: Iterable<readonly [string, V | undefined]>, base: View<V>): Change<V>[] {
  return [...changed].flatMap(([key, after]) => {
    const before = base.get(key);
    return before === undefined && after === undefined ? [] : [{ key, before, after }];
  });
}
