/** Many random histories of governance, in the ledger and in a second, plain model of its rules. */
import { expect, test } from "vitest";
import { Coverage, THRESHOLDS } from "../support/ledger/governanceHistories/coverage.ts";
import { History } from "../support/ledger/governanceHistories/history.ts";
import { KINDS } from "../support/ledger/plainGovernance/types.ts";

const HISTORIES = 100;
const EPOCHS = 40;
/** Protocol versions in which histories begin; some go on to the next one. */
const VERSIONS = [10, 11, 9, 10, 11];

test(`${HISTORIES * EPOCHS} epochs are as in a plain model of governance`, async () => {
  const first = Math.floor(Math.random() * 2 ** 31);
  console.log(`seeds ${first} to ${first + HISTORIES - 1}`);
  const coverage = new Coverage();
  for (let n = 0; n < HISTORIES; n++) {
    await new History(first + n, VERSIONS[n % VERSIONS.length]!, coverage).run(EPOCHS);
  }
  console.log(coverage.text());
  expect(coverage.epochs).toBe(HISTORIES * EPOCHS);
  // a hard fork that finds delegations to no one is rare: seeds of the unit test have one
  expect(coverage.missing().filter((what) => what !== "votes lost with version 10")).toEqual([]);
  for (const kind of KINDS) {
    // information is never enacted
    if (kind !== "info") expect(coverage.count(`enacted ${kind}`), `enacted ${kind}`).toBeGreaterThanOrEqual(100);
    expect(coverage.count(`expired ${kind}`), `expired ${kind}`).toBeGreaterThanOrEqual(100);
  }
  for (const name of THRESHOLDS) {
    expect(coverage.count(`below ${name}`), `below ${name}`).toBeGreaterThanOrEqual(5);
    expect(coverage.count(`at ${name}`), `at ${name}`).toBeGreaterThanOrEqual(5);
  }
}, 1_200_000);
