/** Log lines, and the limit for repeated ones. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLog } from "#src/base/log.ts";

let lines: { message: string; level: string; n?: number; repeated?: number; room?: string }[];
const log = (level: "debug" | "warn" = "debug") => createLog(level, {}, (line) => void lines.push(JSON.parse(line)));

beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test("many repetitions of one warning become a few lines that state the number; other lines are unaffected", () => {
  const storm = log();
  const parts = [storm, storm.with({ room: "a" }), storm.with({ room: "b" })];
  const STORM = 19_000;
  for (let n = 0; n < STORM; n++) {
    parts[n % 3]!.warn("a turn will be retried", { n });
    if (n % 1_000 === 0) storm.warn(`another ${n}`);
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(30_000);
  const mine = lines.filter(({ message }) => message === "a turn will be retried");
  // 190 seconds with a line every ten milliseconds.
  expect(mine.length).toBeLessThan(40);
  expect(mine.reduce((sum, { repeated = 1 }) => sum + repeated, 0)).toBe(STORM);
  expect(mine.at(-1)).toMatchObject({ n: STORM - 1, level: "warn" });
  expect(lines.filter(({ message }) => message.startsWith("another"))).toHaveLength(19);
});

test("rare lines are all written, and so are all below a warning", () => {
  const calm = log();
  for (let n = 0; n < 100; n++) {
    calm.error("a request failed", { n });
    vi.advanceTimersByTime(2_000);
  }
  for (let n = 0; n < 100; n++) calm.info("served");
  expect(lines).toHaveLength(200);
  expect(lines.some(({ repeated }) => repeated !== undefined)).toBe(false);
});

test("lines below the level are neither written nor counted", () => {
  const quiet = log("warn");
  for (let n = 0; n < 100; n++) quiet.info("served");
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([]);
});
