import process from "node:process";
import { defineConfig } from "vitest/config";
import { ONLY_LONG } from "./test/long/only.ts";
import { Sequencer } from "./test/support/base/sequencer.ts";
import { TOGETHER } from "./test/support/service/togetherFiles.ts";

const TOGETHER_FILES = Object.values(TOGETHER).flatMap(({ files }) =>
  files.map((file) => `test/system/${file}.test.ts`)
);

/** It replaces the clocks and timers of its process, which no other test may use meanwhile: it has a process of its own. */
const SIMULATION = "test/unit/runtime/simulation.test.ts";

/**
 * `unit` needs nothing but the source and runs on Deno and on Node; `system` starts PostgreSQL, the NATS endpoint and
 * other servers, and runs on Deno. The files of a project share the processes that run them, and so their modules. System
 * tests run first, on four processes for two cores: they wait for blocks, epochs and leases for half of their time. Unit
 * tests wait for nothing.
 */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    pool: "forks",
    reporters: ["default", "./test/support/base/slowestFiles.ts"],
    sequence: { sequencer: Sequencer },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // transformed modules stay in node_modules between runs, by their content; `--clearCache` deletes them. Not for
          // system tests: Vite cannot map errors of the set-up's modules that come from there.
          experimental: { fsModuleCache: true },
          include: ["test/unit/**/*.test.ts"],
          exclude: [SIMULATION],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "simulation",
          include: [SIMULATION],
          testTimeout: 300_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
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
          maxWorkers: 4,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
