import { defineConfig } from "vitest/config";

/**
 * `unit` needs nothing but the source and runs on Deno and on Node; `system` starts PostgreSQL, the NATS endpoint and
 * worker processes, and runs on Deno.
 */
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    // postgres.js writes the rollback of a transaction whose connection the server cut, one tick after the socket is gone, and throws where
    // nobody can catch it; some tests cut connections
    onUnhandledError: (error) =>
      !(/reading 'write'/.test(error.message) && /postgres\/src\/connection\.js/.test(error.stack ?? "")),
    projects: [
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 300_000 } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          globalSetup: ["test/support/global.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
