/** Tests of a file of the test command that only `deno task test:long` runs: they take long, and others test much of it. */
import process from "node:process";
import { it } from "vitest";

export const isLong = process.env.LONG_TESTS !== undefined;
export const itLong = it.skipIf(!isLong);

/** How many random cases a test tries: `few` in the test command, `many` in `deno task test:long`. */
export const cases = (few: number, many: number): number => isLong ? many : few;
