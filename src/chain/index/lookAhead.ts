/**
 * Reads the steps of a chain ahead of whoever applies them, and scans their blocks meanwhile, up to a bound in bytes.
 *
 * Hypothesis: a rollback takes back steps that nobody has begun to apply by leaving them out; the reader hears of the rest.
 */
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { RowQuery } from "#src/cardano/projection.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";

/** A block to apply. */
export interface Forward {
  readonly type: "forward";
  readonly block: ScannedBlock;
  readonly tip: Tip;
  /** What the projections want to see for it, in their order. */
  readonly keys: readonly (readonly RowQuery[])[];
  readonly bytes: number;
}
/** A rollback to apply. */
export type Backward = Extract<ChainStep, { type: "backward" }>;

/** Bytes of blocks that wait at the most, and steps. */
const MOST_BYTES = 8_000_000;
const MOST_STEPS = 2_000;

export class Ahead {
  private readonly steps: (Forward | Backward)[] = [];
  private bytes = 0;
  /** Steps at the front that somebody applies now. */
  private begun = 0;
  private ended: { readonly error: unknown } | undefined;
  private arrived: () => void = () => {};
  private room: () => void = () => {};

  /** Begins to read. `keys` is what to find out of a block meanwhile; the signal that ends the source ends this. */
  constructor(
    source: AsyncIterable<ChainStep>,
    private readonly keys: (block: ScannedBlock) => Forward["keys"],
    private readonly signal: AbortSignal,
  ) {
    void this.pump(source);
  }

  /** The next step, where it is there already. Throws what ended the source once all of its steps are taken. */
  get first(): Forward | Backward | undefined {
    if (this.steps.length === 0 && this.ended) throw this.ended.error;
    return this.steps[0];
  }

  /** The blocks that are there before the next rollback, up to some. */
  forwards(most: number): readonly Forward[] {
    const found: Forward[] = [];
    for (const step of this.steps) {
      if (step.type !== "forward" || found.length >= most) break;
      found.push(step);
    }
    return found;
  }

  /** Says that the first `count` steps are being applied: no rollback leaves them out any more. */
  begin(count: number): void {
    this.begun = count;
  }

  /** Takes away the first `count` steps: they were applied. */
  done(count: number): void {
    this.begun = 0;
    for (const step of this.steps.splice(0, count)) if (step.type === "forward") this.bytes -= step.bytes;
    this.room();
  }

  /** Resolves when another step has come, or the end. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.arrived = resolve;
    });
  }

  private async pump(source: AsyncIterable<ChainStep>): Promise<void> {
    const pace = new EventLoopPacer();
    try {
      for await (const step of source) {
        if (this.signal.aborted) break;
        if (step.type === "backward") this.takeBack(step.point);
        this.steps.push(step.type === "backward" ? step : this.forward(step));
        this.arrived();
        await pace.step();
        while ((this.bytes >= MOST_BYTES || this.steps.length >= MOST_STEPS) && !this.signal.aborted) {
          await this.roomAgain();
        }
      }
      this.ended = { error: new Error("the network ended the stream of blocks") };
    } catch (error) {
      this.ended = { error };
    }
    this.arrived();
  }

  private forward(step: Exclude<ChainStep, Backward>): Forward {
    const block = step.type === "forward" ? scanBlock(step.block) : step.block;
    const bytes = block.size;
    this.bytes += bytes;
    return { type: "forward", block, tip: step.tip, keys: this.keys(block), bytes };
  }

  private roomAgain(): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => resolve();
      this.signal.addEventListener("abort", stop, { once: true });
      this.room = () => {
        this.signal.removeEventListener("abort", stop);
        resolve();
      };
    });
  }

  /** Leaves out blocks after a point that wait at the end and that nobody applies. */
  private takeBack({ slot }: Point): void {
    for (let last = this.steps.at(-1); this.steps.length > this.begun; last = this.steps.at(-1)) {
      if (last?.type !== "forward" || last.block.slot <= slot) return;
      this.steps.pop();
      this.bytes -= last.bytes;
    }
  }
}
