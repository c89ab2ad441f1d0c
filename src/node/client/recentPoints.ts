/** Recent points of a follower, to intersect with on a new connection. */
import { type Point, samePoint } from "#src/cardano/block.ts";

/** One point in so many blocks is kept, besides the newest. */
const STRIDE = 20;
/** Points kept: times the stride, these are more blocks than a rollback undoes. */
const MAX_POINTS = 128;

/** Recent points of a follower. A block's point is read when it is needed, not for each block. */
export class RecentPoints<Block> {
  /** Oldest first. */
  private recorded: Point[];
  private newest: Block | undefined;
  private count = 0;

  /** `points`: the follower's points at the start, newest first. */
  constructor(points: readonly Point[], private readonly pointOf: (block: Block) => Point) {
    this.recorded = points.filter(({ slot }) => slot >= 0).reverse();
  }

  /** Records a block. */
  add(block: Block): void {
    if (this.newest !== undefined && ++this.count % STRIDE === 0) this.keep(this.newest);
    this.newest = block;
  }

  /** Records a rollback. */
  rollBack(point: Point): void {
    this.newest = undefined;
    this.recorded = this.recorded.filter(({ slot }) => slot < point.slot);
    if (point.slot >= 0) this.recorded.push(point);
  }

  /** The points, newest first. */
  points(): Point[] {
    if (this.newest !== undefined) {
      this.keep(this.newest);
      this.newest = undefined;
    }
    return [...this.recorded].reverse();
  }

  private keep(block: Block): void {
    const { slot, hash } = this.pointOf(block);
    const last = this.recorded.at(-1);
    if (!last || !samePoint(last, { slot, hash })) this.recorded.push({ slot, hash });
    if (this.recorded.length > MAX_POINTS) this.recorded.shift();
  }
}
