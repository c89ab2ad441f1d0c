/** Composition of a block from mempool transactions, with its producer. */
import { mustGet } from "#src/base/maps.ts";
import type { Tip } from "#src/cardano/block.ts";
import { encodeBlock } from "#src/devnet/blocks/block.ts";
import type { NewBlock } from "#src/devnet/blocks/writes.ts";
import type { ChangeSet } from "#src/devnet/ledger/changes.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { coldKeysIn, drawLeader } from "#src/devnet/blocks/blockProducer.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import type { Change } from "#src/ledger/delta.ts";
import { blockMade } from "#src/ledger/epoch/pass.ts";
import type { LedgerState } from "#src/ledger/state.ts";

/** The inputs of a block. */
interface BlockParts {
  readonly genesis: Genesis;
  /** The ledger state, already in the slot's epoch. */
  readonly state: LedgerState;
  /** Cold keys of pools, by id. */
  readonly coldKeys: ReadonlyMap<string, Uint8Array>;
  /** The previous block. */
  readonly tip: Tip;
  readonly slot: number;
  readonly fork: number;
  readonly chosen: readonly PendingTransaction[];
  /** Changes before the block's transactions; the transactions' changes and the producer's block count are added. */
  readonly changes: ChangeSet;
}

/** Composes a block. `pool` is its producer; `made` is the change of the producer's block count, empty if the issuer is not a pool. */
export function composeBlock(
  parts: BlockParts,
): {
  readonly block: NewBlock;
  readonly pool: string | undefined;
  readonly made: readonly Change<number>[];
} {
  const { genesis: { drawSeed: seed, pools, issuer }, state, coldKeys, tip, slot, fork, chosen, changes } = parts;
  const pool = drawLeader(state, { seed, slot, keys: coldKeys, rotation: pools.map(({ id }) => id) });
  const made = pool === undefined ? [] : [blockMade(state, pool)];
  const fields = {
    height: tip.height + 1,
    slot,
    fork,
    previous: tip.height < 0 ? undefined : tip.hash,
    issuer: pool === undefined ? issuer : mustGet(coldKeys, pool),
    protocolVersion: state.parameters.protocolVersion,
  };
  const encoded = encodeBlock({ ...fields, transactions: chosen.map(({ transaction }) => transaction) });
  for (const { applied } of chosen) changes.addTransaction(applied);
  for (const change of made) changes.add("blocks", change);
  const block = {
    ...fields,
    ...encoded,
    transactions: chosen.map(({ applied }) => applied),
    coldKeys: new Map(chosen.flatMap(({ transaction, applied }) => [...coldKeysIn(transaction, applied)])),
    changes: changes.list(),
  };
  return { block, pool, made };
}
