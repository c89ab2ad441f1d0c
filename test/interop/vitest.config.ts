import { defineConfig } from "vitest/config";

/** The node's socket with another implementation of the protocol on both ends of it; needs Go. */
export default defineConfig({
  test: {
    name: "interop",
    include: ["test/interop/**/*.test.ts"],
    globalSetup: ["test/support/global.ts", "test/interop/build.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
