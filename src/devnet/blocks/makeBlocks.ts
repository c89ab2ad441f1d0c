/** Makes the blocks of a plan in memory, on top of the chain's newest block. */
import type { Tip } from "#src/cardano/block.ts";
import type { BlockPlan } from "#src/devnet/blocks/blockPlan.ts";
import type { ChainMemory, MemorySettings } from "#src/devnet/blocks/chainMemory.ts";
import { composeBlock } from "#src/devnet/blocks/forge.ts";
import type { DroppedTransaction } from "#src/devnet/blocks/mempool.ts";
import type { NewBlock } from "#src/devnet/blocks/writes.ts";
import type { IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { ChangeSet } from "#src/devnet/ledger/changes.ts";
import { write } from "#src/ledger/delta.ts";

/** Blocks that one database transaction writes at most. */
const BATCH_BLOCKS = 50;

/** Milliseconds of work after which the blocks made so far are written. */
const BATCH_MS = 10;

interface MakeOptions extends Pick<MemorySettings, "genesis" | "slot"> {
  /** Whether the mempool stays as it is, but for transactions that expire. */
  readonly empty: boolean;
  /** Called with transactions that a block's slot makes invalid. */
  readonly drop: (dropped: readonly DroppedTransaction[]) => void;
}

/** Blocks that are not written yet, in order. */
interface MadeBlocks {
  readonly blocks: readonly NewBlock[];
  readonly indexed: readonly IndexedBlock[];
  readonly tips: readonly Tip[];
  /** Hashes of the transactions that leave the mempool. */
  readonly leaving: readonly string[];
  readonly slotsAhead: number;
  /** Whether the last block took the first transactions of the mempool, and passed over none. */
  readonly inOrder: boolean;
}

/**
 * Makes blocks until the plan gives no later slot, for some milliseconds. A block with transactions is the last one.
 * Memory is then ahead of the rows: of the ledger it has what the slots change, of the blocks only their producers.
 */
export async function makeBlocks(
  memory: ChainMemory,
  plan: BlockPlan,
  { genesis, slot: clock, empty, drop }: MakeOptions,
): Promise<MadeBlocks> {
  const blocks: NewBlock[] = [];
  const indexed: IndexedBlock[] = [];
  const leaving: string[] = [];
  const tips: Tip[] = [];
  const { state, coldKeys, fork, mempool } = memory;
  let { tip, slotsAhead } = memory;
  let inOrder = true;
  const started = performance.now();
  while (blocks.length < BATCH_BLOCKS && performance.now() - started < BATCH_MS) {
    const now = Math.max(clock() + slotsAhead, tip.slot + 1);
    const set = blocks.length === 0 ? memory.nextSlot : undefined;
    const slot = plan({ tip: tip.slot, epoch: state.epoch, now, set });
    if (slot === undefined || slot <= tip.slot) break;
    const changes = new ChangeSet(state);
    const { dropped, boundaries } = await memory.advanceTo(slot, changes);
    drop(dropped);
    const selected = empty ? undefined : await mempool.select(slot);
    const chosen = selected?.chosen ?? [];
    const { block, pool, made } = composeBlock({ genesis, state, coldKeys, tip, slot, fork, chosen, changes });
    const { epoch, parameters } = state;
    blocks.push(block);
    indexed.push({ ...block, pool, epoch, parameters, boundaries, transactions: chosen });
    leaving.push(...block.transactions.map(({ hash }) => hash), ...dropped.map(({ hash }) => hash));
    write(state.blocks, made, "after");
    tip = { height: block.height, slot, hash: block.hash };
    tips.push(tip);
    slotsAhead = Math.max(slotsAhead, slot - clock());
    if (chosen.length === 0) continue;
    inOrder = selected?.inOrder ?? true;
    break;
  }
  return { blocks, indexed, tips, leaving, slotsAhead, inOrder };
}
