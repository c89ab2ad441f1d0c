/** `pool.ts` uses private members of postgres.js: they were checked in exactly one version. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The version that the faults and the private members in `pool.ts` were checked with. */
const CHECKED = "3.4.9";

const versionIn = (file: string): { version: string; dependencies?: { postgres?: string } } =>
  JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"));

test("postgres.js is pinned to the version whose private members are used", () => {
  const advice = "After an upgrade read src/store/pool.ts again, run test/system/store, and then change CHECKED.";
  expect(versionIn("package.json").dependencies?.postgres, advice).toBe(CHECKED);
  expect(versionIn("node_modules/postgres/package.json").version, advice).toBe(CHECKED);
});
