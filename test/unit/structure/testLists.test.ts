/** Lists of test files name files that exist: under another name a file would run twice, or never. */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import longConfig from "../../long/vitest.config.ts";
import { ONLY_LONG } from "../../long/only.ts";
import { FIRST } from "../../support/base/sequencer.ts";
import { TOGETHER } from "../../support/service/togetherFiles.ts";

/** The paths that a pattern with alternatives in braces stands for. */
function expanded(pattern: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(pattern);
  if (!braces) return [pattern];
  return braces[1]!.split(",").flatMap((one) => expanded(pattern.replace(braces[0], one)));
}

it("every listed file exists", () => {
  const together = Object.values(TOGETHER).flatMap(({ files }) => files.map((file) => `test/system/${file}.test.ts`));
  const long = (longConfig.test?.include ?? []).filter((pattern) => !pattern.includes("*"));
  const listed = [...together, ...[...ONLY_LONG, ...long].flatMap(expanded), ...FIRST.map((file) => `${file}.test.ts`)];
  expect(listed.length).toBeGreaterThan(100);
  expect(listed.filter((file) => !existsSync(new URL(`../../../${file}`, import.meta.url)))).toEqual([]);
});
