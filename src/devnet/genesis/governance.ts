/**
 * Governance at the beginning of a devnet: constitution, committee, representatives and delegations, as a Conway genesis
 * has them. The hot keys of the committee are beside it: a node's genesis cannot state them.
 */
import type { Credential } from "#src/cardano/address.ts";
import type { Anchor, DRep } from "#src/cardano/certificates.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import type { Governance } from "#src/ledger/governance/types.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey, drepKey } from "#src/ledger/state.ts";

/** A representative that is registered from the start. */
interface GenesisDRep {
  readonly credential: Credential;
  /** Lovelace. */
  readonly deposit: bigint;
  /** The last epoch in which it counts, but for dormant epochs. */
  readonly expiry: number;
  readonly anchor?: Anchor | undefined;
}

/** A stake credential that is registered from the start, and delegates. */
interface GenesisDelegation {
  readonly credential: Credential;
  readonly pool?: string | undefined;
  readonly drep?: DRep | undefined;
}

/** What a genesis says of governance. */
export interface GenesisGovernance {
  readonly constitution?: Governance["constitution"] | undefined;
  readonly committee?: {
    readonly members: readonly {
      readonly credential: Credential;
      /** The last epoch of its term. */
      readonly until: number;
      readonly hot?: Credential | undefined;
    }[];
    readonly quorum: Ratio;
  } | undefined;
  readonly dreps: readonly GenesisDRep[];
  readonly delegations: readonly GenesisDelegation[];
}

/** The term of default members ends after so many epochs: a devnet's epochs may be seconds. */
const TERM = 1_000_000;
const QUORUM: Ratio = { numerator: 2n, denominator: 3n };

/** Who governs beside what a genesis file names, by number of default accounts. */
export interface DefaultVoters {
  /** Accounts that are representatives, with their own stake. */
  readonly dreps?: number | undefined;
  /** Accounts that are members of the committee, two thirds of which must agree. */
  readonly committee?: number | undefined;
}

/** What a genesis says, with default voters added. Those win over the same credentials of the file. */
export function withDefaultVoters(
  stated: GenesisGovernance | undefined,
  { dreps = 0, committee = 0 }: DefaultVoters,
  parameters: Parameters,
): GenesisGovernance | undefined {
  if (dreps === 0 && committee === 0) return stated;
  const key = (hash: string): Credential => ({ kind: "key", hash });
  const representatives = devnetAccounts(dreps).map(({ index, stake }) => ({
    stake: key(stake),
    drep: key(governanceKeys(index).drep.hash),
  }));
  const members = devnetAccounts(committee).map(({ index }) => {
    const { cold, hot } = governanceKeys(index);
    return { credential: key(cold.hash), until: TERM, hot: key(hot.hash) };
  });
  const others = <T extends { readonly credential: Credential }>(
    all: readonly T[] = [],
    own: readonly Credential[],
  ) => {
    const keys = new Set(own.map(credentialKey));
    return all.filter(({ credential }) => !keys.has(credentialKey(credential)));
  };
  const { drepDeposit, drepActivity } = protocolParameters(parameters);
  return {
    constitution: stated?.constitution,
    committee: committee === 0 ? stated?.committee : {
      quorum: stated?.committee?.quorum ?? QUORUM,
      members: [...others(stated?.committee?.members, members.map(({ credential }) => credential)), ...members],
    },
    dreps: [
      ...others(stated?.dreps, representatives.map(({ drep }) => drep)),
      ...representatives.map(({ drep }) => ({ credential: drep, deposit: drepDeposit, expiry: drepActivity })),
    ],
    delegations: [
      ...others(stated?.delegations, representatives.map(({ stake }) => stake)),
      ...representatives.map(({ stake, drep }) => ({ credential: stake, drep })),
    ],
  };
}

/** Lovelace of the deposits that a genesis's governance holds. */
export function governanceDeposits(
  { dreps, delegations }: Pick<GenesisGovernance, "dreps" | "delegations">,
  { keyDeposit }: Pick<Parameters, "keyDeposit">,
): bigint {
  return dreps.reduce((sum, { deposit }) => sum + deposit, 0n) + BigInt(delegations.length) * keyDeposit;
}

/** Writes governance into the tables of the first ledger state; what it deposits goes to the pot. */
export function registerGovernance(
  { constitution, committee, dreps, delegations }: GenesisGovernance,
  { keyDeposit }: Parameters,
  state: Pick<Registry, "accounts" | "dreps" | "committee" | "governance"> & { readonly pots: { deposits: bigint } },
): void {
  const governance = governanceOf(state);
  state.governance.set(GOVERNANCE, {
    ...governance,
    ...(constitution ? { constitution } : {}),
    ...(committee ? { quorum: committee.quorum } : {}),
  });
  for (const { credential, until, hot } of committee?.members ?? []) {
    const seat = { elected: true, until, ...(hot ? { hot: credentialKey(hot) } : {}) };
    state.committee.set(credentialKey(credential), seat);
  }
  for (const { credential, deposit, expiry, anchor } of dreps) {
    state.dreps.set(credentialKey(credential), { deposit, expiry, ...(anchor ? { anchor } : {}) });
    state.pots.deposits += deposit;
  }
  for (const { credential, pool, drep } of delegations) {
    const key = credentialKey(credential);
    const before = state.accounts.get(key);
    const to = { ...(pool === undefined ? {} : { pool }), ...(drep ? { drep: drepKey(drep) } : {}) };
    state.accounts.set(key, { deposit: keyDeposit, balance: 0n, ...before, ...to });
    if (!before) state.pots.deposits += keyDeposit;
  }
}
