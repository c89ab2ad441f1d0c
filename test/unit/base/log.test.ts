/** Log lines, and the limit for repeated ones. */
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
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

describe("thresholds of components", () => {
  const levels = ["debug", "info", "warn", "error"] as const;
  /** The lines that get through, as `component level`. */
  function written(thresholds: Parameters<typeof createLog>[0]): string[] {
    const seen: string[] = [];
    const all = createLog(thresholds, {}, (line) => {
      const { component = "none", level } = JSON.parse(line);
      seen.push(`${component} ${level}`);
    });
    for (const component of [undefined, "node", "edge", "__proto__"]) {
      const part = component === undefined ? all : all.with({ component });
      for (const level of levels) {
        const before = seen.length;
        // each message is another one, so that none is held back as a repetition
        part[level](`${component} ${level}`);
        expect(part.on(level)).toBe(seen.length > before);
      }
    }
    return seen;
  }

  it("apply beside the threshold of all lines, and one is for components without their own", () => {
    expect(written("off")).toEqual([]);
    expect(written({ all: "info", components: { node: "error", edge: "debug", "": "off" } })).toEqual([
      "node error",
      "edge info",
      "edge warn",
      "edge error",
    ]);
    expect(written({ all: "error", components: { node: "debug" } })).toEqual([
      "none error",
      "node error",
      "edge error",
      "__proto__ error",
    ]);
  });
});
