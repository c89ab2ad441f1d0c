/** Plans of blocks: in which slots they are made, and how many. */
import type { Tip } from "#src/cardano/block.ts";

/** Chooses the slot of the next block; undefined: none is made. */
export type BlockPlan = (at: {
  /** Slot of the newest block. */
  readonly tip: number;
  /** Its epoch. */
  readonly epoch: number;
  /** The present slot, or the one after the newest block's. */
  readonly now: number;
  /** The slot that was set for the next block. */
  readonly set: number | undefined;
}) => number | undefined;

/** A plan that ends after so many blocks. */
export function times(count: number, choose: BlockPlan): BlockPlan {
  let left = count;
  return (at) => left-- > 0 ? choose(at) : undefined;
}

/** Which blocks to make. */
export interface BlocksRequest {
  readonly count: number;
  /** Slots from one block to the next, and from the newest one to the first; 1 by default. */
  readonly gap?: number | undefined;
  /** Whether the mempool stays as it is. */
  readonly empty?: boolean | undefined;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/** The newest block, and the number of blocks made. */
export interface BlocksMade {
  readonly tip: Tip;
  readonly blocks: number;
}
