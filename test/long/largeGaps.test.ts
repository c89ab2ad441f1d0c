/**
 * Thirty wallets with the largest possible gap, created at the same time: all become ready, and other requests do not
 * wait for them.
 */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { greatGaps } from "../support/wallets/largeGaps.ts";
import { findPostgres, startInstalledServer } from "../support/infra/postgresServer.ts";

const native = findPostgres();
const WITHIN_MS = 15 * 60_000;
const WALLETS = 30;
const GAP = 100_000;

describe.skipIf(native === undefined)("large gaps", () => {
  it(`${WALLETS} wallets with a gap of ${GAP}`, async () => {
    const server = await startInstalledServer(native!);
    const token = randomBytes(16).toString("hex");
    const nats = await startNatsEndpoint({ port: 0, token, log: createLog("warn") });
    const store = openStore(server.url, { max: 2 });
    const infra = { databaseUrl: server.url, natsUrl: nats.url, natsToken: token, stop: async () => {} };
    const arbor = await Arbor.start({ infra });
    try {
      const found = await greatGaps(arbor, store, { wallets: WALLETS, deleted: 4, gap: GAP, withinMs: WITHIN_MS });
      const share = (times: readonly number[], p: number) =>
        `${Math.round(times[Math.min(times.length - 1, Math.floor(times.length * p))]!)} ms`;
      const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
      console.log(
        `| ${WALLETS} wallets with a gap of ${GAP} | first ready ${seconds(found.firstMs)}, ${found.ready} in ${
          seconds(found.allMs)
        } | ` +
          `builds of others: ${found.builds.length}, ${found.refused.length} refused, p50 ${
            share(found.builds, 0.5)
          }, ` +
          `p95 ${share(found.builds, 0.95)} | small wallets ready: p50 ${share(found.small, 0.5)}, ` +
          `p95 ${share(found.small, 0.95)} |`,
      );
      expect(found.ready).toBe(WALLETS);
      expect(found.refused).toEqual([]);
      expect(found.failed).toBe(0);
    } finally {
      await arbor.end();
      await store.close();
      await nats.stop();
      await server.stop();
    }
  }, WITHIN_MS + 120_000);
});
