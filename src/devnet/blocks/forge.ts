/** The block of a slot: out of what the mempool gives, and by whom. */
import type { Tip } from "#src/cardano/block.ts";
import { encodeBlock } from "#src/devnet/blocks/block.ts";
import type { NewBlock } from "#src/devnet/blocks/writes.ts";
import type { ChangeSet } from "#src/devnet/ledger/changes.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { coldKeysIn, drawIssuer } from "#src/devnet/blocks/blockProducer.ts";
import type { Pending } from "#src/devnet/blocks/mempool.ts";
import type { Change } from "#src/ledger/delta.ts";
import { blockMade } from "#src/ledger/epoch/pass.ts";
import type { LedgerState } from "#src/ledger/state.ts";

/** What a block is made of. */
export interface BlockParts {
  readonly genesis: Genesis;
  /** The ledger, in the epoch of the slot. */
  readonly state: LedgerState;
  /** Cold keys of pools, by id. */
  readonly coldKeys: ReadonlyMap<string, Uint8Array>;
  /** The block before. */
  readonly tip: Tip;
  readonly slot: number;
  readonly chosen: readonly Pending[];
  /** What changes before its transactions; theirs are added, and that its issuer made a block. */
  readonly changes: ChangeSet;
}

/** Makes a block; with it the change of its issuer's count, none where the issuer is no pool. */
export function composeBlock(
  parts: BlockParts,
): { readonly block: NewBlock; readonly made: readonly Change<number>[] } {
  const { genesis: { drawSeed: seed, pools, issuer }, state, coldKeys, tip, slot, chosen, changes } = parts;
  const pool = drawIssuer(state, { seed, slot, keys: coldKeys, turns: pools.map(({ id }) => id) });
  const made = pool === undefined ? [] : [blockMade(state, pool)];
  const fields = {
    height: tip.height + 1,
    slot,
    previous: tip.height < 0 ? undefined : tip.hash,
    issuer: pool === undefined ? issuer : coldKeys.get(pool)!,
    protocolVersion: state.parameters.protocolVersion,
  };
  const encoded = encodeBlock({ ...fields, transactions: chosen.map(({ transaction }) => transaction) });
  for (const { applied } of chosen) changes.apply(applied);
  for (const change of made) changes.add("blocks", change);
  const block = {
    ...fields,
    ...encoded,
    transactions: chosen.map(({ applied }) => applied),
    coldKeys: new Map(chosen.flatMap(({ transaction, applied }) => [...coldKeysIn(transaction, applied)])),
    changes: changes.list(),
  };
  return { block, made };
}
