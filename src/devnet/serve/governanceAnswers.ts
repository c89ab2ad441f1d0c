/** The devnet's answers about governance, each from the rows that it needs. */
import { addTo } from "#src/base/maps.ts";
import type { Credential } from "#src/cardano/address.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import {
  committeeMembers,
  constitutionOf,
  countedActions,
  countedDrepStake,
  countedPoolStake,
  drepOf,
  drepState,
  governanceState,
  IN_FORCE,
  nextParameters,
  ratifyState,
} from "#src/devnet/serve/governanceState.ts";
import type { StateView } from "#src/devnet/serve/stateRows.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { DREP_ACTIVITY } from "#src/ledger/governance/parameters.ts";
import { standingVote } from "#src/ledger/governance/count.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, drepKey, type LedgerState, parseCredentialKey } from "#src/ledger/state.ts";
import type { QueryHandlers } from "#src/node/queries/answering.ts";
import type { CommitteeMembers } from "#src/node/queries/governance.ts";

/** Tables that say how actions were counted. */
const COUNTED = ["proposals", "snapshots", "epoch"] as const;

/** The answers about governance of a state. */
export function governanceAnswers(genesis: Genesis, view: StateView) {
  return {
    constitution: async () => constitutionOf(governanceOf(await view.registry(["governance"]))),
    governanceState: async () =>
      governanceState(genesis, view.tip.slot, await view.registry([...IN_FORCE, "votes", "snapshots"])),
    drepStake: async ({ dreps }) => {
      const wanted = new Set(dreps.map(drepKey));
      return countedDrepStake(await view.registry(["snapshots", "epoch"]))
        .filter(({ drep }) => wanted.size === 0 || wanted.has(drepKey(drep)));
    },
    committeeMembers: async ({ cold, hot, statuses }) => {
      const { members, ...terms } = committeeMembers(await view.registry(IN_FORCE));
      const [ofCold, ofHot] = [new Set(cold.map(credentialKey)), new Set(hot.map(credentialKey))];
      const isWanted = ({ cold, hot, status }: CommitteeMembers["members"][number]) =>
        (ofCold.size === 0 || ofCold.has(credentialKey(cold))) &&
        (ofHot.size === 0 || (hot.kind === "authorized" && ofHot.has(credentialKey(hot.credential)))) &&
        (statuses.length === 0 || statuses.includes(status));
      return { members: members.filter(isWanted), ...terms };
    },
    poolStake: async ({ pools }) => {
      const wanted = new Set(pools);
      return countedPoolStake(await view.registry(["snapshots", "epoch"]))
        .filter(({ pool }) => wanted.size === 0 || wanted.has(pool));
    },
    proposals: async ({ actions }) => {
      const wanted = new Set(actions.map(refKey));
      return countedActions(await view.registry(COUNTED))
        .filter(({ id }) => wanted.size === 0 || wanted.has(refKey(id)));
    },
    ratifyState: async () => ratifyState(await view.registry([...IN_FORCE, "snapshots"])),
    futureParameters: async () => nextParameters(genesis, await view.registry(IN_FORCE)),
    poolDefaultVote: async ({ pool: id }) => {
      const pool = (await view.registry(["pools"], [id])).pools.get(id);
      if (!pool) return "no";
      const { account } = poolTerms(pool.certificate);
      return standingVote(pool, (await view.registry(["accounts"], [credentialKey(account.credential)])).accounts);
    },
    ...delegationAnswers(view),
  } satisfies Partial<QueryHandlers>;
}

/** Representatives and those who delegate to them, as they are now. */
function delegationAnswers(view: StateView) {
  return {
    drepState: async ({ credentials }) => {
      const state = await view.registry(["dreps", "accounts", "epoch", "governance"]);
      const { dreps, accounts, epoch } = state;
      const { dormant } = governanceOf(state);
      const wanted = new Set(credentials.map(credentialKey));
      const delegators = delegatorsOf(accounts);
      return [...dreps.entries()].flatMap(([key, drep]) => {
        if (wanted.size > 0 && !wanted.has(key)) return [];
        // epochs without an action to vote on do not count, unless the time was over anyway (`updateDormantDRepExpiry`)
        const { expiry = epoch + DREP_ACTIVITY - dormant } = drep;
        const extended = expiry + dormant < epoch ? expiry : expiry + dormant;
        return [drepState(key, { ...drep, expiry: extended }, delegators.get(key))];
      });
    },
    drepDelegations: async ({ dreps }) => {
      const state = await view.registry(["dreps", "accounts"]);
      const delegators = delegatorsOf(state.accounts);
      const answer = (key: string) => ({ drep: drepOf(key), delegators: delegators.get(key) ?? [] });
      const wanted = dreps.map(drepKey);
      // like a node, list those without delegators only where registered ones alone are asked for
      return dreps.length > 0 && dreps.every((drep) => "hash" in drep)
        ? wanted.filter((key) => state.dreps.get(key)).map(answer)
        : [...delegators.keys()].filter((key) => wanted.length === 0 || wanted.includes(key)).map(answer);
    },
  } satisfies Partial<QueryHandlers>;
}

function delegatorsOf(accounts: LedgerState["accounts"]): ReadonlyMap<string, readonly Credential[]> {
  const delegators = new Map<string, Credential[]>();
  for (const [key, { drep }] of accounts.entries()) {
    if (drep !== undefined) addTo(delegators, drep, parseCredentialKey(key));
  }
  return delegators;
}
