/** Random histories of governance, in the ledger and in a second, plain model of its rules; more of them in `test/long`. */
import { expect, it } from "vitest";
import { Coverage } from "../../support/ledger/governanceHistories/coverage.ts";
import { History } from "../../support/ledger/governanceHistories/history.ts";

/** Seeds of histories that together contain everything, and the protocol version in which each begins. */
const HISTORIES = [[13, 10], [107, 9], [126, 11], [26, 11], [12, 9]] as const;
const EPOCHS = 25;

it("governance is as in a plain model of it: verdicts, states, and what undoing restores", async () => {
  const coverage = new Coverage();
  for (const [seed, major] of HISTORIES) await new History(seed, major, coverage).run(EPOCHS);
  expect(coverage.missing(), coverage.text()).toEqual([]);
  expect(coverage.epochs).toBe(HISTORIES.length * EPOCHS);
  expect(coverage.accepted).toBeGreaterThan(5 * coverage.epochs);
  expect(coverage.undone).toBeGreaterThan(coverage.epochs / 2);
});
