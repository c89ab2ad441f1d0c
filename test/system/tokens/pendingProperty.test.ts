/** PENDING_SEED and PENDING_RUNS repeat a run, or make more of them. */
import process from "node:process";
import { describe } from "vitest";
import { pendingProperty } from "../../support/wallets/pendingProperty.ts";

const seed = Number(process.env.PENDING_SEED ?? Date.now() % 2 ** 31);
const runs = Number(process.env.PENDING_RUNS ?? 3);

describe("random builds and sends of one owner", () => pendingProperty({ seed, runs, steps: 40 }));
