/**
 * PostgreSQL is stopped under clients of every service and comes back 4 s later: each answer is 503 with `Retry-After`,
 * or good.
 */
import { describe, expect, it } from "vitest";
import { postgresAway } from "../support/infra/postgresAway.ts";
import { findPostgres, startInstalledServer } from "../support/infra/postgresServer.ts";

const native = findPostgres();

/** How long after the return of PostgreSQL every client has its next good answer, in milliseconds. */
const BACK_MS = 60_000;

describe.skipIf(native === undefined)("PostgreSQL is away for 4 s", () => {
  it.each([
    { name: "all roles in one process", processes: ["edge,worker,devnet,follower"] },
    { name: "roles apart", processes: ["devnet,follower", "worker", "worker", "edge"] },
  ])("$name", async ({ name, processes }) => {
    const server = await startInstalledServer(native!);
    try {
      const found = await postgresAway(server, { processes, senders: 8, awayMs: 4_000, aroundMs: 10_000 });
      const again = [...found.statuses].filter(([status]) => status === 0 || status >= 300)
        .reduce((sum, [, n]) => sum + n, 0);
      const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
      console.log(
        `| PostgreSQL away for 4 s, ${name} | ${found.statuses.get(200) ?? 0} + ${found.sends} payments | ${again} | ` +
          `${seconds(found.longestAnswer)} | ${seconds(found.longestGap)} | longest send ${
            seconds(found.longestSend)
          }, ` +
          `key held ${seconds(found.keyHeld)}`,
      );
      expect(found.broken).toEqual([]);
      expect(found.longestGap).toBeLessThan(found.absence + BACK_MS);
      expect(found.longestSend).toBeLessThan(found.absence + BACK_MS);
      expect(found.keyHeld).toBeLessThan(BACK_MS);
    } finally {
      await server.stop();
    }
  });
});
