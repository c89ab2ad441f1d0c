import { defineConfig } from "vitest/config";

/** Tests on servers that are installed on the machine, with more load and more time than those of `deno task test`. */
export default defineConfig({
  test: {
    name: "long",
    include: ["test/long/**/*.test.ts"],
    globalSetup: ["test/support/global.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 180_000,
  },
});
