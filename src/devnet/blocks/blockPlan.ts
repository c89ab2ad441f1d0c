/** Plans of blocks: in which slots they are made. */

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
