import process from "node:process";
import { defineConfig } from "vitest/config";
import { ONLY_LONG } from "./test/long/only.ts";
import { Sequencer } from "./test/support/base/sequencer.ts";
import { TOGETHER } from "./test/support/service/togetherFiles.ts";

const TOGETHER_FILES = Object.values(TOGETHER).flatMap(({ files }) =>
  files.map((file) => `test/system/${file}.test.ts`)
);

/**
 * `unit` needs nothing but the source and runs on Deno and on Node; `system` starts PostgreSQL, the NATS endpoint and
 * worker processes, and runs on Deno. The files of `unit` share the processes that run them, and so their modules.
 *
 * Three workers for two cores: a system test waits for blocks, epochs and leases for a third of its time.
 */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    pool: "forks",
    maxWorkers: 3,
    sequence: { sequencer: Sequencer },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          // where a provider is selected, all scenarios run on it, each with a service of its own
          exclude: process.env.ARBOR_SCENARIO_PROVIDER
            ? ["test/system/together/*.test.ts"]
            : [...ONLY_LONG, ...TOGETHER_FILES],
          globalSetup: ["test/support/infra/globalSetup.ts"],
          isolate: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
