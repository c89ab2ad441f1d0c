/** A service of its own for the commands in this folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import type { Infra } from "../support/infra/infra.ts";
import { Arbor } from "../support/service/arbor.ts";

/** Starts a PostgreSQL and a NATS endpoint, uses them and ends them. */
export async function withServers(use: (infra: Infra) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-docs-"));
  const log = createLog("warn");
  const postgres = await startPostgres({ folder, log });
  const nats = await startNatsEndpoint({ port: 0, token: "documentation", log });
  try {
    await use({ databaseUrl: postgres.url, natsUrl: nats.url, natsToken: "documentation", stop: async () => {} });
  } finally {
    await nats.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a service with these options, uses it and ends it. */
export async function withService(
  use: (arbor: Arbor) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withServers(async (infra) => {
    const arbor = await Arbor.start({ infra, env });
    try {
      await use(arbor);
    } finally {
      await arbor.end();
    }
  });
}
