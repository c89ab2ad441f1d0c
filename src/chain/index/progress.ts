/** The rate at which the index catches up, and the time left. */
import type { Tip } from "#src/cardano/block.ts";

/** A moment of catching up. */
export interface Progress {
  /** Slot that the index has read. */
  readonly slot: number;
  /** Slot of the network's tip. */
  readonly tipSlot: number;
  readonly blocksPerSecond: number;
  /** Seconds until the tip at the current rate, if there is one. */
  readonly secondsLeft: number | undefined;
  /** Blocks read since catching up began. */
  readonly blocks: number;
  /** Seconds since catching up began. */
  readonly seconds: number;
  /** Whether the tip is reached. */
  readonly done: boolean;
}

/** Seconds over which the rate is measured. */
const WINDOW_S = 30;
/** Seconds between two reports; the first comes after as many. */
const REPORT_EVERY_S = 5;
/** Blocks from the tip at which it counts as reached. */
const NEAR = 20;

/** Reports a cursor's progress every few seconds, from when it is far behind until it has caught up. */
export class ProgressMeter {
  private began: { time: number; blocks: number } | undefined;
  private reportedAt = 0;
  private blocks = 0;
  private reported = false;
  private readonly marks: { time: number; blocks: number; slot: number }[] = [];

  /** `now` gives seconds. */
  constructor(
    private readonly report: (progress: Progress) => void,
    private readonly now: () => number = () => performance.now() / 1_000,
  ) {}

  /** `count` more blocks are read, up to `at`; `tip` is the network's. */
  moved(at: Tip, tip: Tip, count: number): void {
    this.blocks += count;
    const time = this.now();
    const far = tip.height - at.height > NEAR;
    if (!this.began) {
      if (!far) return;
      this.began = { time, blocks: this.blocks };
      this.reportedAt = time;
    }
    const mark = { time, blocks: this.blocks, slot: at.slot };
    this.marks.push(mark);
    while (this.marks.length > 2 && time - (this.marks[1] ?? mark).time > WINDOW_S) this.marks.shift();
    if (far && time - this.reportedAt < REPORT_EVERY_S) return;
    this.reportedAt = time;
    const first = this.marks[0] ?? mark;
    const passed = time - first.time;
    const slots = at.slot - first.slot;
    const whole = time - this.began.time;
    const rate = (blocks: number, seconds: number) => seconds > 0 ? blocks / seconds : 0;
    // if nothing was reported on the way, the end is not reported either
    if (far || this.reported) {
      this.report({
        slot: at.slot,
        tipSlot: tip.slot,
        blocksPerSecond: far ? rate(this.blocks - first.blocks, passed) : rate(this.blocks - this.began.blocks, whole),
        secondsLeft: !far ? 0 : slots > 0 && passed > 0 ? (tip.slot - at.slot) / (slots / passed) : undefined,
        blocks: this.blocks - this.began.blocks,
        seconds: whole,
        done: !far,
      });
    }
    this.reported = far;
    if (far) return;
    this.began = undefined;
    this.marks.length = 0;
  }
}

const count = (value: number) => Math.round(value).toLocaleString("en");

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3_600)} h ${Math.round(seconds % 3_600 / 60)} min`;
}

/** The line for people: position, rate and time left. */
export function progressLine(progress: Progress, subject = "The index"): string {
  const { slot, tipSlot, blocksPerSecond, secondsLeft, blocks, seconds, done } = progress;
  if (done) return `${subject} caught up: ${count(blocks)} blocks in ${duration(seconds)}`;
  const share = tipSlot > 0 ? Math.floor(Math.max(0, slot) / tipSlot * 100) : 0;
  const left = secondsLeft === undefined ? "" : `, about ${duration(secondsLeft)} left`;
  return `${subject}: slot ${count(slot)} of ${count(tipSlot)} (${share} %), ${count(blocksPerSecond)} blocks/s${left}`;
}
