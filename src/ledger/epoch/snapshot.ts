/** Who delegates what to which pool (Shelley ledger specification, `stakeDistr`; rule SNAP). */
import { mustGet } from "#src/base/maps.ts";
import type { Output } from "#src/cardano/output.ts";
import type { PoolTerms } from "#src/ledger/poolTerms.ts";
import type { LedgerState, PoolSnapshot, StakeSnapshot } from "#src/ledger/state.ts";

/** Hexadecimal digits of a base address: header, payment credential, stake credential. */
const BASE_ADDRESS = 2 + 56 + 56;

/** The key of the account that an output's stake belongs to; undefined unless it is at a base address. */
export function stakeKey({ address }: Pick<Output, "address">): string | undefined {
  // Types 0 to 3 are base addresses, bit 1 says that the stake is a script's (CIP-19). Pointers count for nobody in Conway.
  const type = address.charCodeAt(0) - 48;
  if (type < 0 || type > 3 || address.length !== BASE_ADDRESS) return undefined;
  return (type & 2 ? "s" : "k") + address.slice(58);
}

/**
 * Lovelace of the given accounts, by key: rewards not withdrawn, and all outputs at base addresses with that stake
 * credential. Reads all outputs once: 12 ms of CPU time for 100,000 outputs at 1,000 addresses, 77 ms at 100,000 addresses.
 */
export function stakeOf(
  { utxo, accounts }: Pick<LedgerState, "utxo" | "accounts">,
  keys: Iterable<string>,
): Map<string, bigint> {
  const stake = new Map<string, bigint>();
  for (const key of keys) stake.set(key, accounts.get(key)?.balance ?? 0n);
  // First by address, whose text exists and keeps its hash: a third of the time that it takes to cut the key out of each.
  const held = new Map<string, { lovelace: bigint }>();
  for (const { address, value } of utxo.outputs()) {
    const at = held.get(address);
    if (at) at.lovelace += value.lovelace;
    else held.set(address, { lovelace: value.lovelace });
  }
  for (const [address, { lovelace }] of held) {
    const key = stakeKey({ address });
    if (key === undefined) continue;
    const sum = stake.get(key);
    if (sum !== undefined) stake.set(key, sum + lovelace);
  }
  return stake;
}

/** The snapshot of a state as it is now. */
export function takeSnapshot(
  { utxo, accounts, pools, pots }: Pick<LedgerState, "utxo" | "accounts" | "pools" | "pots">,
): StakeSnapshot {
  const members = new Map<string, Map<string, bigint>>();
  const snapshot = new Map<string, PoolSnapshot>();
  for (const [pool, { certificate }] of pools.entries()) {
    const of = new Map<string, bigint>();
    members.set(pool, of);
    snapshot.set(pool, { certificate, members: of });
  }
  const delegations = new Map<string, string>();
  for (const [key, { pool }] of accounts.entries()) if (pool !== undefined) delegations.set(key, pool);
  for (const [key, lovelace] of stakeOf({ utxo, accounts }, delegations.keys())) {
    members.get(mustGet(delegations, key))?.set(key, lovelace);
  }
  return { pools: snapshot, fees: pots.fees };
}

/** Lovelace delegated to a pool. */
export function poolStake({ members }: PoolSnapshot): bigint {
  let sum = 0n;
  for (const lovelace of members.values()) sum += lovelace;
  return sum;
}

/** Lovelace delegated to all pools: the active stake. */
export function activeStake({ pools }: Pick<StakeSnapshot, "pools">): bigint {
  let sum = 0n;
  for (const pool of pools.values()) sum += poolStake(pool);
  return sum;
}

/** Lovelace that a pool's owners delegated to it themselves. */
export function ownStake({ members }: PoolSnapshot, { owners }: Pick<PoolTerms, "owners">): bigint {
  return owners.reduce((sum, owner) => sum + (members.get("k" + owner) ?? 0n), 0n);
}

/** The snapshot of an epoch without data. */
const noSnapshot: StakeSnapshot = { pools: new Map(), fees: 0n };

/** The snapshot taken at the beginning of an epoch; an empty one where there is none. */
export function snapshotOf({ snapshots }: Pick<LedgerState, "snapshots">, epoch: number): StakeSnapshot {
  return snapshots.get(String(epoch)) ?? noSnapshot;
}
