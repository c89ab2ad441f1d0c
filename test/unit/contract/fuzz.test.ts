import process from "node:process";
import { beforeAll, expect, it } from "vitest";
import { initHash } from "#src/forestry/hash.ts";
import { fuzzProofs } from "../../support/contract/proofFuzz.ts";
import { cases } from "../../support/base/longTests.ts";

/** Number of changed proofs to try. */
const COUNT = Number(process.env["FUZZ_PROOFS"] ?? cases(200, 5_000));
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);

beforeAll(initHash);

it(`no changed proof leads to another root (seed ${SEED})`, () => {
  const tally = fuzzProofs(SEED, ({ tried }) => tried >= COUNT);
  console.log(`seed ${SEED}: ${tally.tried} bent proofs, ${tally.believed} still lead to the root`);
  expect(tally.violations).toEqual([]);
  expect(tally.tried).toBe(COUNT);
  expect(tally.believed).toBeGreaterThan(0);
}, Math.max(300_000, COUNT * 50));
