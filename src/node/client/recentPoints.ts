/** Recent points of a follower, to intersect with on a new connection. */
import { type Point, samePoint } from "#src/cardano/block.ts";
import { readHeader } from "#src/node/client/header.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";

/** One point in so many blocks is kept, besides the newest. */
const STRIDE = 20;
/** Points kept: times the stride, these are more blocks than a rollback undoes. */
const MAX_POINTS = 128;

/** Recent points of a follower. Headers are decoded when a point is needed, not for each block. */
export class RecentPoints {
  /** Oldest first. */
  private recorded: Point[];
  private newest: Uint8Array | undefined;
  private count = 0;

  /** `points`: the follower's points at the start, newest first. */
  constructor(points: readonly Point[]) {
    this.recorded = points.filter(({ slot }) => slot >= 0).reverse();
  }

  /** Records a step. */
  record(step: SyncStep): void {
    if (step.type === "backward") {
      this.newest = undefined;
      this.recorded = this.recorded.filter(({ slot }) => slot < step.point.slot);
      if (step.point.slot >= 0) this.recorded.push(step.point);
      return;
    }
    if (this.newest && ++this.count % STRIDE === 0) this.keep(this.newest);
    this.newest = step.block;
  }

  /** The points, newest first. */
  points(): Point[] {
    if (this.newest) {
      this.keep(this.newest);
      this.newest = undefined;
    }
    return [...this.recorded].reverse();
  }

  private keep(block: Uint8Array): void {
    const { slot, hash } = readHeader(block);
    const last = this.recorded.at(-1);
    if (!last || !samePoint(last, { slot, hash })) this.recorded.push({ slot, hash });
    if (this.recorded.length > MAX_POINTS) this.recorded.shift();
  }
}
