import { defineConfig } from "vitest/config";

/**
 * The node's socket with other implementations of the protocol on the other end of it; needs Go, Rust and npm, each for
 * its own tests.
 */
export default defineConfig({
  test: {
    name: "interop",
    include: ["test/interop/**/*.test.ts"],
    globalSetup: ["test/support/infra/globalSetup.ts", "test/interop/build.ts", "test/interop/libraries.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
