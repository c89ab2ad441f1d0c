import process from "node:process";
import { beforeAll, expect, it } from "vitest";
import { initHash } from "#src/forestry/hash.ts";
import { fuzzProofs } from "../../support/contract/proofFuzz.ts";

/** Number of changed proofs to try; by default as many as five seconds allow, and at least two hundred. */
const COUNT = Number(process.env["FUZZ_PROOFS"] ?? 0);
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);

beforeAll(initHash);

it(`no changed proof leads to another root (seed ${SEED})`, () => {
  const end = performance.now() + 5_000;
  const tally = fuzzProofs(SEED, ({ tried }) => COUNT > 0 ? tried >= COUNT : tried >= 200 && performance.now() > end);
  console.log(`seed ${SEED}: ${tally.tried} bent proofs, ${tally.believed} still lead to the root`);
  expect(tally.violations).toEqual([]);
  expect(tally.tried).toBeGreaterThanOrEqual(COUNT || 200);
  expect(tally.believed).toBeGreaterThan(0);
}, Math.max(60_000, COUNT * 50));
