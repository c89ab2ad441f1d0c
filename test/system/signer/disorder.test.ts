/** A short form of `test/long/disorder.test.ts`: one rollback, and a kill -9 of the process with the signing instances. */
import { describe } from "vitest";
import { disorder } from "../../support/tokens/disorder.ts";

describe("ten users and five tokens in disorder", () => {
  disorder({
    seed: 1,
    operations: 30,
    phases: [[{ type: "rollback", blocks: 5 }], [{ type: "kill", process: "signers", rollback: 2 }]],
    processes: { service: "edge,worker,follower,devnet", signers: "signer 3" },
  });
});
