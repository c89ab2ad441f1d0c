/** When progress of the index is reported, and how. */
import { describe, expect, it } from "vitest";
import type { Tip } from "#src/cardano/block.ts";
import { type Progress, progressLine, ProgressMeter } from "#src/chain/index/progress.ts";

const at = (height: number): Tip => ({ height, slot: height * 20, hash: `${height}` });

/** Advances a meter in steps of a second. */
function travel(heights: readonly number[], tip = 10_000): Progress[] {
  const reports: Progress[] = [];
  let time = 0;
  const meter = new ProgressMeter((progress) => reports.push(progress), () => time);
  let before = heights[0]!;
  for (const height of heights) {
    meter.moved(at(height), at(tip), height - before);
    before = height;
    time++;
  }
  return reports;
}

const upTo = (count: number, step: number) => Array.from({ length: count }, (_, i) => i * step);

describe("progress", () => {
  it("is reported every five seconds from far behind to the tip, with the rate and the time left", () => {
    const reports = travel(upTo(21, 500));
    expect(reports.map(({ slot, done }) => [slot, done])).toEqual([
      [50_000, false],
      [100_000, false],
      [150_000, false],
      [200_000, true],
    ]);
    expect(reports[0]).toMatchObject({ blocksPerSecond: 500, secondsLeft: 15, tipSlot: 200_000 });
    expect(reports.at(-1)).toMatchObject({ blocks: 10_000, seconds: 20, blocksPerSecond: 500, secondsLeft: 0 });
  });

  it("uses the recent rate", () => {
    const slow = upTo(60, 10), fast = upTo(40, 100).map((height) => 600 + height);
    expect(travel([...slow, ...fast], 100_000).at(-1)!.blocksPerSecond).toBeCloseTo(100, 0);
  });

  it("is not reported at the tip, nor for a short distance", () => {
    expect(travel(upTo(15, 1), 15)).toEqual([]);
    expect(travel([9_999, 10_000])).toEqual([]);
    expect(travel([9_000, 9_500, 10_000])).toEqual([]);
  });

  it("is reported again when the index falls behind again", () => {
    expect(
      travel([...upTo(11, 1_000), 5_000, ...upTo(11, 500).map((height) => 5_000 + height)]).filter(({ done }) => done),
    )
      .toHaveLength(2);
  });

  it("is readable", () => {
    const progress = { tipSlot: 84_000_000, blocks: 7, seconds: 3_700, slot: 39_679_163, blocksPerSecond: 1_840.4 };
    expect(progressLine({ ...progress, secondsLeft: 4_321, done: false })).toBe(
      "The index: slot 39,679,163 of 84,000,000 (47 %), 1,840 blocks/s, about 72 min left",
    );
    expect(progressLine({ ...progress, secondsLeft: 7_150, done: false }, "2 things of wallets")).toContain(
      "2 things of wallets: slot 39,679,163 of 84,000,000 (47 %), 1,840 blocks/s, about 1 h 59 min left",
    );
    expect(progressLine({ ...progress, secondsLeft: undefined, done: false })).toMatch(/blocks\/s$/);
    expect(progressLine({ ...progress, secondsLeft: 0, done: true })).toBe("The index caught up: 7 blocks in 62 min");
  });
});
