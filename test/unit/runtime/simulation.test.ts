/** Seeded schedules of workers and clients with faults: every promise is kept, and planted bugs are found. */
import process from "node:process";
import { expect, test } from "vitest";
import { cases } from "../../support/base/longTests.ts";
import type { Bug } from "../../support/runtime/simulation/faults.ts";
import { runSchedule } from "../../support/runtime/simulation/schedule.ts";

/** Seeds that once failed, and why. A change of the simulation or of the runtime gives them another schedule. */
const FAILED = {
  "a reply was lost when the response to the turn that answers an earlier command was": [62, 208, 431, 437, 552],
  "two workers left a partition to each other when the response of its taking was lost": [408, 590, 750, 958, 1292],
  "an outcome was applied twice when the effect ran twice and both waited for one turn": [3525],
  "an outcome was lost when a state refused it that an unanswered turn had made old": [20363],
};
const SCHEDULES = cases(200, 100_000);
/** Schedules of one test. */
const PART = 1_000;

/** Runs schedules until one breaks a promise; resolves to its seed and what is broken. */
async function firstBroken(seeds: Iterable<number>, bug?: Bug): Promise<string | undefined> {
  for (const seed of seeds) {
    const { broken } = await runSchedule(seed, bug);
    if (broken !== undefined) return `seed ${seed}: ${broken}`;
  }
  return undefined;
}

function* range(from: number, count: number): Generator<number> {
  for (let seed = from; seed < from + count; seed++) yield seed;
}

test("a seed gives the same schedule each time, and another seed another one", async () => {
  const first = await runSchedule(7);
  expect(await runSchedule(7)).toEqual(first);
  expect((await runSchedule(8)).trace).not.toBe(first.trace);
});

test.each(Object.entries(FAILED))("%s", async (_, seeds) => {
  expect(await firstBroken(seeds)).toBeUndefined();
});

const parts = Array.from({ length: Math.ceil(SCHEDULES / PART) }, (_, i) => i * PART + 1);

test.each(parts)("random schedules from seed %i keep every promise", async (from) => {
  const count = Math.min(PART, SCHEDULES);
  const before = process.cpuUsage();
  expect(await firstBroken(range(from, count))).toBeUndefined();
  const { user, system } = process.cpuUsage(before);
  console.log(`${count} schedules from seed ${from}: ${((user + system) / 1_000 / count).toFixed(1)} ms of CPU each`);
});

/** Bugs, and the number of schedules within which each is found. */
const BUGS: readonly [bug: Bug, within: number][] = [
  ["a fence without its lock", 100],
  ["a reply before the commit", 10],
  ["a due time by the worker's clock", 50],
  ["a row marked as published before its confirmation", 10],
  ["a connection reused after a failed row", 300],
];

test.each(BUGS)("%s is found within %i schedules", async (bug, within) => {
  const found = await firstBroken(range(1, within), bug);
  expect(found).toBeDefined();
  console.log(`${bug}: ${found}`);
});
