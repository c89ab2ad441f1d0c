/**
 * Who makes a block: a pool drawn by its part of the stake.
 *
 * Hypotheses: a slot has one leader (the active slot coefficient is 1), so pools need not tell by themselves, in secret, whether they
 * lead; the draw is a function of the devnet's seed, the slot and the stake, and the same after a rollback to the same slot.
 */
import { concat, toHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asSet, decode, entry } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { keyHash } from "#src/cardano/keys.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { poolStake, snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import type { LedgerState, StakeSnapshot } from "#src/ledger/state.ts";

/** Stake by pool, in the order of ids. */
type Stakes = readonly (readonly [pool: string, lovelace: bigint])[];

const known = new WeakMap<StakeSnapshot, Stakes>();

/** The stake that leaders of a state's epoch are drawn by: set, the snapshot of the epoch before. */
function leaderStakes(state: Pick<LedgerState, "snapshots" | "epoch">): Stakes {
  const snapshot = snapshotOf(state, state.epoch - 1);
  const before = known.get(snapshot);
  if (before) return before;
  const stakes = [...snapshot.pools].map(([id, pool]) => [id, poolStake(pool)] as const)
    .filter(([, lovelace]) => lovelace > 0n)
    .sort(([a], [b]) => a < b ? -1 : 1);
  known.set(snapshot, stakes);
  return stakes;
}

/** What a draw is made from. */
export interface Draw {
  readonly seed: Uint8Array;
  readonly slot: number;
  /** Cold keys by pool; a pool whose key is not known is not drawn. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Pools that take turns while there is no stake. */
  readonly turns: readonly string[];
}

/** The pool that makes the block of a slot; undefined when there is none that could. */
export function drawIssuer(state: LedgerState, { seed, slot, keys, turns }: Draw): string | undefined {
  const stakes = leaderStakes(state).filter(([pool]) => keys.has(pool));
  const total = stakes.reduce((sum, [, lovelace]) => sum + lovelace, 0n);
  if (total === 0n) {
    const able = turns.filter((pool) => state.pools.get(pool) && keys.has(pool));
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

/** Cold keys of pools that a transaction registers: it is signed with each of them. */
export function coldKeysIn(
  { witnesses }: ScannedTransaction,
  { pools }: Pick<Applied, "pools">,
): Map<string, Uint8Array> {
  const wanted = new Set(pools.map(({ key }) => key));
  const signed = wanted.size === 0 ? undefined : entry(decode(witnesses), 0);
  if (!signed) return new Map();
  return new Map(
    asSet(signed).flatMap((witness) => {
      const key = as(as(witness, "array").value[0], "bytes").value;
      const id = keyHash(key);
      return wanted.has(id) ? [[id, key] as const] : [];
    }),
  );
}
