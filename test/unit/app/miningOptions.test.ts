/** When a devnet makes blocks, by the options of a start. */
import { expect, test } from "vitest";
import { readOptions } from "#src/app/options.ts";

const read = (args: readonly string[], env: Record<string, string> = {}) => {
  const options = readOptions(args, env);
  if (!options.ok) return options.error.message;
  return options.value === "help" ? "help" : [options.value.mining, options.value.blockMs];
};

test.each([
  [[], ["interval", 1_000]],
  [["--block-ms", "0"], ["manual", 0]],
  [["--mining", "manual"], ["manual", 1_000]],
  [["--mining", "submit"], ["submit", 1_000]],
  [["--mining", "submit", "--block-ms", "0"], ["submit", 0]],
  [["--mining", "interval", "--block-ms", "200"], ["interval", 200]],
])("%j", (args, expected) => {
  expect(read(args)).toEqual(expected);
});

test("the environment, and a mode that does not exist", () => {
  expect(read([], { ARBOR_MINING: "submit" })).toEqual(["submit", 1_000]);
  expect(read(["--mining", "often"])).toBe("--mining is often, not one of interval, submit, manual.");
});
