/**
 * What blocks change while a tree is built.
 *
 * Assumption: moves are added in the transactions that write them. One whose transaction does not commit is followed by
 * another from the same block, or by none.
 */
import type { TreeBlock } from "#src/chain/utxoRoot/treeRows.ts";
import type { TreeChanges } from "#src/csmt/loading.ts";

/** A block, with what it changes in the tree. */
export interface JournalBlock extends TreeBlock {
  readonly changes: TreeChanges;
}

interface Move {
  readonly from: string;
  readonly to: string;
  readonly blocks: readonly JournalBlock[];
  readonly changes: number;
}

/** Changes that are kept at most: some 100 MB. */
const MOST = 400_000;

/** Changes that are left for the time when no block is written, and that are taken at a time. */
const FEW = 2_000;

export class TreeJournal {
  #moves: Move[] = [];
  #changes = 0;
  /** Whether there were more changes than are kept. */
  #full = false;
  #start: string | undefined;

  /** Adds a move from a block over others. */
  add({ hash: from }: TreeBlock, blocks: readonly JournalBlock[]): void {
    const to = blocks.at(-1)?.hash;
    if (to === undefined || this.#full) return;
    // those after the block were not committed
    this.#remove(this.#moves.findLastIndex((move) => move.to === from) + 1, this.#moves.length);
    const changes = blocks.reduce((sum, { changes: { added, removed } }) => sum + added.length + removed.length, 0);
    this.#moves.push({ from, to, blocks, changes });
    this.#changes += changes;
    if (this.#changes <= MOST) return;
    this.#full = true;
    this.#moves = [];
  }

  /** Forgets the moves up to a block that a snapshot has. */
  begin({ hash }: TreeBlock): void {
    this.#start = hash;
    const first = this.#moves.findIndex(({ from }) => from === hash);
    this.#remove(0, first < 0 ? this.#moves.length : first);
  }

  /** Takes blocks of moves that were committed: some, as long as there are more than a few changes. */
  takeSettled(): readonly JournalBlock[] {
    if (this.#changes <= FEW) return [];
    let [count, changes] = [0, 0];
    // a move is committed where another one follows it
    for (; count < this.#moves.length - 1 && changes < FEW; count++) changes += this.#moves[count]?.changes ?? 0;
    const taken = this.#remove(0, count);
    this.#start = taken.at(-1)?.to ?? this.#start;
    return taken.flatMap(({ blocks }) => blocks);
  }

  /** The blocks up to one, the newest; undefined if they are not known. */
  until({ hash }: TreeBlock): readonly JournalBlock[] | undefined {
    if (this.#full) return undefined;
    const moves = this.#moves.slice(0, this.#moves.findLastIndex(({ to }) => to === hash) + 1);
    let at = this.#start;
    for (const { from, to } of moves) {
      if (from !== at) return undefined;
      at = to;
    }
    return at === hash ? moves.flatMap(({ blocks }) => blocks) : undefined;
  }

  #remove(from: number, to: number): readonly Move[] {
    const removed = this.#moves.splice(from, to - from);
    for (const { changes } of removed) this.#changes -= changes;
    return removed;
  }
}
