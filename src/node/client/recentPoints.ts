/** Where a follower has been, so that it can go on from there on a new connection. */
import { type Point, samePoint } from "#src/cardano/block.ts";
import { readHeader } from "#src/node/client/header.ts";
import type { SyncStep } from "#src/node/client/chainSync.ts";

/** Every so many blocks a point is kept beside the newest. */
const STRIDE = 20;
/** Points kept: with the stride, more blocks than a rollback goes back. */
const KEPT = 128;

/** The points that lead to where a follower stands. Headers are read when a point is wanted, not for each block. */
export class Trail {
  /** Oldest first. */
  private kept: Point[];
  private newest: Uint8Array | undefined;
  private count = 0;

  /** `points`: what the follower knew to begin with, newest first. */
  constructor(points: readonly Point[]) {
    this.kept = points.filter(({ slot }) => slot >= 0).reverse();
  }

  /** Notes a step that was given. */
  step(step: SyncStep): void {
    if (step.type === "backward") {
      this.newest = undefined;
      this.kept = this.kept.filter(({ slot }) => slot < step.point.slot);
      if (step.point.slot >= 0) this.kept.push(step.point);
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
    return [...this.kept].reverse();
  }

  private keep(block: Uint8Array): void {
    const { slot, hash } = readHeader(block);
    const last = this.kept.at(-1);
    if (!last || !samePoint(last, { slot, hash })) this.kept.push({ slot, hash });
    if (this.kept.length > KEPT) this.kept.shift();
  }
}
