/**
 * The block producer of a slot: a pool drawn with probability proportional to its stake.
 *
 * Assumptions: a slot has one leader (the active slot coefficient is 1), so pools need no private lottery. The draw is
 * a function of the devnet's seed, the slot and the stake, and is the same after a rollback to the same slot.
 */
import { concat, toHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asSet, decodeAll, entry } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { poolStake, snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import type { LedgerState, StakeSnapshot } from "#src/ledger/state.ts";

/** Stake by pool, ordered by id. */
type Stakes = readonly (readonly [pool: string, lovelace: bigint])[];

const stakesBySnapshot = new WeakMap<StakeSnapshot, Stakes>();

/** The stake that counts for the leaders of a state's epoch: the "set" snapshot, that of the epoch before. */
function leaderStakes(state: Pick<LedgerState, "snapshots" | "epoch">): Stakes {
  const snapshot = snapshotOf(state, state.epoch - 1);
  const before = stakesBySnapshot.get(snapshot);
  if (before) return before;
  const stakes = [...snapshot.pools].map(([id, pool]) => [id, poolStake(pool)] as const)
    .filter(([, lovelace]) => lovelace > 0n)
    .sort(([a], [b]) => a < b ? -1 : 1);
  stakesBySnapshot.set(snapshot, stakes);
  return stakes;
}

/** The inputs of a draw. */
interface LeaderDraw {
  readonly seed: Uint8Array;
  readonly slot: number;
  /** Cold keys by pool; a pool whose key is unknown is not drawn. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Pools that take turns while no pool has stake. */
  readonly rotation: readonly string[];
}

/** The pool that produces the block of a slot; undefined if there is none. */
export function drawLeader(state: LedgerState, { seed, slot, keys, rotation }: LeaderDraw): string | undefined {
  const stakes = leaderStakes(state).filter(([pool]) => keys.has(pool));
  const total = stakes.reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  if (total === 0n) {
    const able = rotation.filter((pool) => state.pools.get(pool) && keys.has(pool));
    return able[slot % Math.max(1, able.length)];
  }
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(slot));
  let ticket = BigInt("0x" + toHex(blake2b256(concat(seed, number)))) % total;
  for (const [pool, lovelace] of stakes) {
    if (ticket < lovelace) return pool;
    ticket -= lovelace;
  }
  throw new Error("a ticket was not below the sum of the stakes");
}

/** Cold keys of the pools that a transaction registers: each signs the transaction. */
export function coldKeysIn(
  { witnesses }: ScannedTransaction,
  { pools }: Pick<Applied, "pools">,
): Map<string, Uint8Array> {
  const wanted = new Set(pools.map(({ key }) => key));
  const signed = wanted.size === 0 ? undefined : entry(decodeAll(witnesses), 0);
  if (!signed) return new Map();
  return new Map(
    asSet(signed).flatMap((witness) => {
      const key = as(as(witness, "array").value[0], "bytes").value;
      const id = keyHash(key);
      return wanted.has(id) ? [[id, key] as const] : [];
    }),
  );
}
