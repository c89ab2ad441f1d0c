/** Transactions with random changes: those that are still accepted for the intent have the same effect. */
import { beforeAll, expect, test } from "vitest";
import { initHash } from "#src/cardano/hash.ts";
import { cases } from "../../../support/base/longTests.ts";
import { meantTransactions } from "../../../support/tokens/summaries.ts";
import { judgeMutants } from "../../../support/tokens/summaryMutants.ts";

const ROUNDS = cases(100, 300);

beforeAll(initHash);

test.each(meantTransactions())(`${ROUNDS} mutants of $name`, async (meant) => {
  const { decodable, taken } = await judgeMutants(meant, ROUNDS, meant.transaction.length);
  console.log(`${meant.name}: ${decodable} of ${ROUNDS} are transactions, ${taken} do what was meant`);
  // enough of them are valid transactions, and nearly all of those have another effect
  expect(decodable).toBeGreaterThan(ROUNDS / 10);
  expect(taken).toBeLessThan(decodable / 2);
});
