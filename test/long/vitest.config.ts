import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { ONLY_LONG } from "./only.ts";

/** Unit tests that have more cases here. */
const UNIT = readdirSync("test/unit", { recursive: true, encoding: "utf8" }).map((name) => `test/unit/${name}`)
  .filter((file) => file.endsWith(".test.ts") && readFileSync(file, "utf8").includes('/longTests.ts"'));
/** Other tests of `deno task test` that have more cases here. */
const LONGER = [
  "test/unit/contract/version2.test.ts",
  "test/system/app/docs.test.ts",
  "test/system/cardano-wallet/suite.test.ts",
  "test/system/chain/index/follower.test.ts",
  "test/system/cli/arbor.test.ts",
  "test/system/devnet/page.test.ts",
  "test/system/node/service.test.ts",
  "test/system/operators/{pages,pause,webhooks}.test.ts",
  "test/system/packages/{devnet,runtime}.test.ts",
  "test/system/runtime/memory.test.ts",
  "test/system/scenarios/{sending,snapshots}.test.ts",
  "test/system/signer/suite.test.ts",
  "test/system/{tokens,wallets}/page.test.ts",
  "test/system/tokens/pageVerification.test.ts",
];
const CASES = {
  ALL_PROVIDERS: "1",
  DEVNET_RUNS: "10",
  DEVNET_STARTS: "200",
  FOLLOWER_RUNS: "10",
  LONG_TESTS: "1",
  MODEL_STEPS: "300",
  REPLICA_STEPS: "300",
  SCENARIO_EVERY: "1",
  SIGNER_PROVIDER: "yaci",
  WALLET_RUNS: "10",
};

/** Tests on servers that are installed on the machine, with more load and more time than those of `deno task test`. */
export default defineConfig({
  test: {
    name: "long",
    include: ["test/long/**/*.test.ts", ...UNIT, ...LONGER, ...ONLY_LONG],
    env: CASES,
    globalSetup: ["test/support/infra/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 180_000,
  },
});
