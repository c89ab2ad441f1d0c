/**
 * PostgreSQL is stopped under clients of every service: each answer is good, or 503 with `Retry-After`, and every
 * payment is made once.
 */
import { expect, it } from "vitest";
import { postgresAway } from "../../support/infra/postgresAway.ts";
import { startEmbeddedServer } from "../../support/infra/postgresServer.ts";

it("without PostgreSQL every service answers 503 with Retry-After, and its keys are free afterwards", async () => {
  const server = await startEmbeddedServer();
  try {
    const found = await postgresAway(server, {
      processes: ["edge,worker,devnet,follower"],
      senders: 3,
      awayMs: 1_500,
      aroundMs: 1_500,
    });
    expect(found.broken).toEqual([]);
    expect(found.statuses.get(503)).toBeGreaterThan(0);
    expect(found.sends).toBeGreaterThan(0);
    // A key that is not released stays taken for a minute.
    expect(found.keyHeld).toBeLessThan(30_000);
  } finally {
    await server.stop();
  }
});
