/** What an indexer depends on, and how others see it. */
import type { Log } from "#src/base/log.ts";
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { ProgressMeter } from "#src/chain/index/progress.ts";
import type { Projection, Rows, Touched } from "#src/chain/index/projection.ts";
import type { RecentBlocks } from "#src/chain/index/recentBlocks.ts";
import type { Supplies } from "#src/chain/index/supply.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Blocks in one transaction at most. */
export const MAX_BLOCKS = 1_000;

export interface IndexerOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly cursor: string;
  readonly projections: readonly Projection[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Produces what folds request. */
  readonly supplies?: Supplies | undefined;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Wakes actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  readonly log: Log;
  /** Blocks that a rollback may go back. */
  readonly keepBlocks: number;
  /** Whether the blocks read are kept as points (`chain_block`). The main cursor's points serve all cursors. */
  readonly keepsPoints: boolean;
  /** Distance from the tip, in blocks, within which each block has its own transaction. */
  readonly near: number;
  readonly meter?: ProgressMeter;
  readonly onStep?: OnStep | undefined;
  /** Points to go on from, newest first. */
  readonly points: () => Promise<readonly Point[]>;
  /** Whether a batch must end after the block of this slot. */
  readonly stopsAt?: (slot: number) => boolean;
  /** Last slot that may be read now. `changed` resolves when that may have changed. */
  readonly limit?: () => number;
  readonly changed?: () => Promise<void>;
  /** Milliseconds until the network is queried again after a block of an unknown era; a minute unless given. */
  readonly eraWaitMs?: number | undefined;
  /** Called between steps; true ends the indexer. */
  readonly ended?: (way: IndexerPosition) => Promise<boolean>;
  /**
   * Within the transaction of blocks, once their rows are written; `settled`: no rollback reaches them any more. `from` is
   * the block before them.
   */
  readonly onBlocks?: (sql: Queries, from: Tip, blocks: readonly ScannedBlock[], settled: boolean) => Promise<void>;
  /** Within a rollback's transaction; `affected` are the rows that began or ended above the slot, as they were. */
  readonly onUndo?: (sql: Queries, slot: number, affected: Rows) => Promise<void>;
  /** Recent blocks, for the projections that keep them. */
  readonly recentBlocks?: readonly RecentBlocks[];
  /** After each commit, before the next step; `blocks` is empty for a rollback. */
  readonly onMoved?: (at: Tip, blocks: readonly ScannedBlock[]) => Promise<void>;
}

/** An indexer between two steps, as `ended` sees it. */
export interface IndexerPosition {
  readonly at: Tip;
  /** Whether the indexer is at a block, or has all blocks up to it at hand and they fit one transaction. */
  canReach(point: Point): boolean;
  /** Applies the blocks up to such a block at once; gives whether the indexer is there afterwards. */
  advanceTo(point: Point): Promise<boolean>;
}

/** Fault injection: called at the fault points of a step, with the step's cursor. */
type OnStep = (step: FollowerStep, cursor: string) => void | Promise<void>;

/** The points of a step's work at which tests inject faults. */
export type FollowerStep =
  | "scanned"
  | "folded"
  | "supplying"
  | "before-commit"
  | "after-commit"
  | "before-undo"
  | "after-undo"
  | "before-join"
  | "after-join"
  | "answering";
