/**
 * Reads the steps of a chain before the indexer needs them and scans their blocks, up to a bound in bytes.
 *
 * Assumption: a rollback removes waiting blocks that the indexer has not begun to apply; the indexer still gets the
 * rollback itself.
 */
import type { Point, ScannedBlock, Tip } from "#src/cardano/block.ts";
import type { RowQuery } from "#src/chain/index/projection.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { ChainStep } from "#src/chain/provider/port.ts";

/** A block to apply. */
export interface ForwardStep {
  readonly type: "forward";
  readonly block: ScannedBlock;
  readonly tip: Tip;
  /** The queries of each projection (`Projection.keys`), in the projections' order. */
  readonly keys: readonly (readonly RowQuery[])[];
  readonly bytes: number;
}
/** A rollback to apply. */
type BackwardStep = Extract<ChainStep, { type: "backward" }>;

/** Limits of what waits: bytes of blocks, and steps. */
const MOST_BYTES = 8_000_000;
const MOST_STEPS = 2_000;

export class LookAhead {
  private readonly steps: (ForwardStep | BackwardStep)[] = [];
  private bytes = 0;
  /** Number of steps at the front that are being applied. */
  private applying = 0;
  private ended: { readonly error: unknown } | undefined;
  private arrived: () => void = () => {};
  private capacityFreed: () => void = () => {};

  /** Starts to read. `keys` gives the projections' queries for a block. `signal` also ends the source. */
  constructor(
    source: AsyncIterable<ChainStep>,
    private readonly keys: (block: ScannedBlock) => ForwardStep["keys"],
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.capacityFreed(), { once: true });
    void this.pump(source);
  }

  /**
   * The next step, if it has arrived.
   *
   * @throws what ended the source, once all of its steps are taken.
   */
  get first(): ForwardStep | BackwardStep | undefined {
    if (this.steps.length === 0 && this.ended) throw this.ended.error;
    return this.steps[0];
  }

  /** The blocks that have arrived before the next rollback, at most `max`. */
  blocks(max: number): readonly ForwardStep[] {
    const found: ForwardStep[] = [];
    for (const step of this.steps) {
      if (step.type !== "forward" || found.length >= max) break;
      found.push(step);
    }
    return found;
  }

  /** Marks the first `count` steps as being applied: no rollback removes them any more. */
  begin(count: number): void {
    this.applying = count;
  }

  /** Removes the first `count` steps, which were applied. */
  done(count: number): void {
    this.applying = 0;
    for (const step of this.steps.splice(0, count)) if (step.type === "forward") this.bytes -= step.bytes;
    this.capacityFreed();
  }

  /** Resolves when another step has arrived, or the end. */
  more(): Promise<void> {
    return new Promise((resolve) => this.arrived = resolve);
  }

  private async pump(source: AsyncIterable<ChainStep>): Promise<void> {
    const pace = new EventLoopPacer();
    try {
      for await (const step of source) {
        if (this.signal.aborted) break;
        if (step.type === "backward") this.removeAfter(step.point);
        this.steps.push(step.type === "backward" ? step : this.forward(step));
        this.arrived();
        await pace.step();
        while ((this.bytes >= MOST_BYTES || this.steps.length >= MOST_STEPS) && !this.signal.aborted) {
          await new Promise<void>((resolve) => this.capacityFreed = resolve);
        }
      }
      this.ended = { error: new Error("the network ended the stream of blocks") };
    } catch (error) {
      this.ended = { error };
    }
    this.arrived();
  }

  private forward(step: Exclude<ChainStep, BackwardStep>): ForwardStep {
    const block = step.type === "forward" ? scanBlock(step.block) : step.block;
    const bytes = block.size;
    this.bytes += bytes;
    return { type: "forward", block, tip: step.tip, keys: this.keys(block), bytes };
  }

  /** Removes waiting blocks after a point that are not being applied. */
  private removeAfter({ slot }: Point): void {
    for (let last = this.steps.at(-1); this.steps.length > this.applying; last = this.steps.at(-1)) {
      if (last?.type !== "forward" || last.block.slot <= slot) return;
      this.steps.pop();
      this.bytes -= last.bytes;
    }
  }
}
