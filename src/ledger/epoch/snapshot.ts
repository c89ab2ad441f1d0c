/** Who delegates what to which pool (Shelley ledger specification, `stakeDistr`; rule SNAP). */
import { mustGet } from "#src/base/maps.ts";
import { each, finish, type Steps } from "#src/base/steps.ts";
import type { Output } from "#src/cardano/output.ts";
import type { PoolTerms } from "#src/ledger/poolTerms.ts";
import { eachRow, type LedgerState, type PoolSnapshot, type StakeSnapshot } from "#src/ledger/state.ts";

/** Hexadecimal digits of a base address: header, payment credential, stake credential. */
const BASE_ADDRESS = 2 + 56 + 56;

/** Account key of an output's stake: `k` or `s`, then the credential's hash; undefined without a base address. */
export function stakeKey({ address }: Pick<Output, "address">): string | undefined {
  // Types 0 to 3 are base addresses; bit 1: the stake credential is a script (CIP-19). Conway ignores pointer addresses.
  const type = address.charCodeAt(0) - 48;
  if (type < 0 || type > 3 || address.length !== BASE_ADDRESS) return undefined;
  return (type & 2 ? "s" : "k") + address.slice(58);
}

/** Lovelace in outputs at base addresses, by account key. Reads all outputs once. */
export function* heldStake(utxo: LedgerState["utxo"]): Steps<ReadonlyMap<string, bigint>> {
  // Sum by address first: its string caches its hash. This takes a third of the time of slicing a key from each output.
  const held = new Map<string, { lovelace: bigint }>();
  yield* each(utxo.outputs(), ({ address, value }) => {
    const at = held.get(address);
    if (at) at.lovelace += value.lovelace;
    else held.set(address, { lovelace: value.lovelace });
  });
  const stake = new Map<string, bigint>();
  yield* each(held, ([address, { lovelace }]) => {
    const key = stakeKey({ address });
    if (key !== undefined) stake.set(key, (stake.get(key) ?? 0n) + lovelace);
  });
  return stake;
}

/** Outputs, or what `heldStake` gives for them where several counts are made of the same ones. */
type StakeSource = Pick<LedgerState, "utxo"> & { readonly held?: ReadonlyMap<string, bigint> | undefined };

/**
 * Lovelace of the given accounts, by key: rewards not withdrawn, and all outputs at base addresses with that stake
 * credential. Reads all outputs once: 12 ms of CPU time for 100,000 outputs at 1,000 addresses, 77 ms at 100,000 addresses.
 */
export function stakeOf(
  state: StakeSource & Pick<LedgerState, "accounts">,
  keys: Iterable<string>,
): Map<string, bigint> {
  return finish(stakeOfInSteps(state, keys));
}

function* stakeOfInSteps(
  { utxo, accounts, held }: StakeSource & Pick<LedgerState, "accounts">,
  keys: Iterable<string>,
): Steps<Map<string, bigint>> {
  const known = held ?? (yield* heldStake(utxo));
  const stake = new Map<string, bigint>();
  yield* each(keys, (key) => stake.set(key, (accounts.get(key)?.balance ?? 0n) + (known.get(key) ?? 0n)));
  return stake;
}

/** What a snapshot is taken of. */
type SnapshotSource = StakeSource & Pick<LedgerState, "accounts" | "pools" | "pots">;

/** Takes the stake snapshot of a state. Delegations to pools that are not registered are left out. */
export function takeSnapshot(state: SnapshotSource): StakeSnapshot {
  return finish(takeSnapshotInSteps(state));
}

/** `takeSnapshot` in steps. */
export function* takeSnapshotInSteps({ utxo, held, accounts, pools, pots }: SnapshotSource): Steps<StakeSnapshot> {
  const members = new Map<string, Map<string, bigint>>();
  const snapshot = new Map<string, PoolSnapshot>();
  for (const [pool, { certificate }] of pools.entries()) {
    const of = new Map<string, bigint>();
    members.set(pool, of);
    snapshot.set(pool, { certificate, members: of });
  }
  const delegations = new Map<string, string>();
  yield* eachRow(accounts, ([key, { pool }]) => {
    if (pool !== undefined) delegations.set(key, pool);
  });
  const stake = yield* stakeOfInSteps({ utxo, held, accounts }, delegations.keys());
  yield* each(stake, ([key, lovelace]) => void members.get(mustGet(delegations, key))?.set(key, lovelace));
  return { pools: snapshot, fees: pots.fees };
}

const stakes = new WeakMap<PoolSnapshot, bigint>();

/** Lovelace delegated to a pool, summed once for the same snapshot in memory. */
export function poolStake(snapshot: PoolSnapshot): bigint {
  const known = stakes.get(snapshot);
  if (known !== undefined) return known;
  let sum = 0n;
  for (const lovelace of snapshot.members.values()) sum += lovelace;
  stakes.set(snapshot, sum);
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

/** The snapshot taken at the beginning of an epoch; an empty one unless the epoch is among the last three. */
export function snapshotOf({ snapshots }: Pick<LedgerState, "snapshots">, epoch: number): StakeSnapshot {
  return snapshots.get(String(epoch)) ?? noSnapshot;
}
