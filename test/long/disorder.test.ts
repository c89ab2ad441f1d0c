/**
 * Ten users, five tokens, three signing instances and 1,000 operations, with rollbacks of up to 20 blocks, kill -9 of
 * every process, and coins that a rollback takes out of the ledger for good. DISORDER_SEED and DISORDER_OPERATIONS set
 * the seed and the number of operations.
 */
import process from "node:process";
import { describe } from "vitest";
import { disorder, type Fault } from "../support/tokens/disorder.ts";

const SEED = Number(process.env.DISORDER_SEED ?? Date.now() % 1_000_000);
const OPERATIONS = Number(process.env.DISORDER_OPERATIONS ?? 1_000);

const PHASES: readonly (readonly Fault[])[] = [
  [{ type: "rollback", blocks: 1 }, { type: "rollback", blocks: 20 }, { type: "rollback", blocks: 2 }],
  [{ type: "kill", process: "charlie" }, { type: "kill", process: "bob" }, { type: "kill", process: "charlie" }],
  [{ type: "rollback", blocks: 20, drop: true }],
  [{ type: "kill", process: "one", rollback: 3 }, { type: "kill", process: "two", rollback: 12 }],
  [{ type: "lost root" }],
  [{ type: "kill", process: "front" }, { type: "rollback", blocks: 9 }],
  [{ type: "kill", process: "bob", rollback: 20 }, { type: "lost root" }],
  [{ type: "kill", process: "two" }, { type: "rollback", blocks: 3, drop: true }, { type: "kill", process: "front" }],
];
const ROUNDS = 2;

describe("ten users and five tokens in disorder", () => {
  disorder({
    seed: SEED,
    operations: Math.ceil(OPERATIONS / PHASES.length / ROUNDS),
    phases: Array.from({ length: ROUNDS }, () => PHASES).flat(),
    processes: {
      front: "edge,devnet",
      one: "worker",
      two: "worker,follower",
      charlie: "signer 1",
      bob: "signer 1",
      alice: "signer 1",
    },
  });
});
