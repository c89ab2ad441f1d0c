/** As the test of `deno task test`, with more runs and longer ones: PENDING_RUNS, PENDING_STEPS, PENDING_SEED. */
import process from "node:process";
import { describe } from "vitest";
import { pendingProperty } from "../support/wallets/pendingProperty.ts";

const { PENDING_SEED, PENDING_RUNS, PENDING_STEPS } = process.env;

describe("random builds and sends of one owner", () =>
  pendingProperty({
    seed: Number(PENDING_SEED ?? Date.now() % 2 ** 31),
    runs: Number(PENDING_RUNS ?? 50),
    steps: Number(PENDING_STEPS ?? 200),
  }));
