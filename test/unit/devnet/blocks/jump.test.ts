/** Jumps over slots: targets, the slots of blocks on the way, limits. */
import { describe, expect, test } from "vitest";
import {
  checkAhead,
  checkJump,
  checkReach,
  type JumpBlocks,
  MOST_BLOCKS,
  MOST_SLOTS,
  nextInJump,
  targetSlot,
} from "#src/devnet/blocks/jump.ts";

const slots = { zeroTime: 1_000, zeroSlot: 0, slotLength: 200 };
const terms = { slots, epochLength: 50, forecast: 12 };

test.each([
  [{ slots: 3 }, 63],
  [{ seconds: 0.4 }, 62],
  [{ seconds: 0.41 }, 63],
  [{ epochs: 1 }, 100],
  [{ epochs: 3 }, 200],
  [{ toSlot: 61 }, 61],
  [{ toTime: 1_000 + 70 * 200 }, 70],
  [{ toTime: 1_001 + 70 * 200 }, 71],
  [{ toEpoch: 2 }, 100],
])("from slot 60, %j leads to slot %i", (to, slot) => {
  expect(targetSlot(to, 60, terms)).toBe(slot);
});

describe("the blocks of a jump", () => {
  const walk = (from: number, target: number, blocks: JumpBlocks, forecast = 12) => {
    const made: number[] = [];
    for (let at = from; at < target;) made.push(at = nextInJump(at, target, blocks, { ...terms, forecast }));
    return made;
  };

  test.each<[JumpBlocks, number[]]>([
    ["one", [50, 100, 110]],
    ["sparse", [41, 50, 61, 72, 83, 94, 100, 110]],
    ["every", Array.from({ length: 80 }, (_, i) => 31 + i)],
  ])("%s", (blocks, made) => {
    expect(walk(30, 110, blocks)).toEqual(made);
  });

  test("begin in the first epoch before there is a block", () => {
    expect(walk(-1, 60, "one")).toEqual([50, 60]);
    expect(walk(-1, 2, "every")).toEqual([0, 1, 2]);
  });

  test("go on where 3k/f leaves no room between them, and where it is no integer", () => {
    expect(walk(0, 3, "sparse", 1)).toEqual([1, 2, 3]);
    expect(walk(0, 9, "sparse", 4.5)).toEqual([4, 8, 9]);
  });
});

test("a jump is limited by its blocks, however many slots it has", () => {
  expect(checkJump(10, 10, "one", terms)).toMatchObject({ error: { code: "slot_not_after_tip" } });
  expect(checkJump(0, MOST_BLOCKS * 50, "one", terms).ok).toBe(true);
  expect(checkJump(0, MOST_BLOCKS * 50 + 1, "one", terms)).toMatchObject({
    error: { code: "too_many_blocks", details: { epochs: MOST_BLOCKS, limit: MOST_BLOCKS } },
  });
  expect(checkJump(7, 7 + MOST_BLOCKS, "every", terms).ok).toBe(true);
  expect(checkJump(7, 8 + MOST_BLOCKS, "every", terms)).toMatchObject({ error: { code: "too_many_blocks" } });
  expect(checkJump(-1, 90 * 86_400, "one", { ...terms, epochLength: 432_000 }).ok).toBe(true);
});

test("limits: after the newest block, within so many slots of it, within a century of the clock", () => {
  expect(checkReach(10, 10)).toMatchObject({ error: { code: "slot_not_after_tip" } });
  expect(checkReach(11, 10).ok).toBe(true);
  expect(checkReach(10 + MOST_SLOTS, 10).ok).toBe(true);
  expect(checkReach(11 + MOST_SLOTS, 10)).toMatchObject({ error: { code: "too_many_slots" } });
  const century = 100 * 365 * 86_400 * 5;
  expect(checkAhead(7 + century, 7, slots).ok).toBe(true);
  expect(checkAhead(8 + century, 7, slots)).toMatchObject({ error: { code: "too_far_ahead" } });
});
