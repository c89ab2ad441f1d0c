/**
 * One PostgreSQL server for a whole run of system tests: the server of DATABASE_URL, or an embedded one in a new
 * folder.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { createLog } from "#src/base/log.ts";
import { startPostgres } from "#src/embedded/postgres.ts";
import type {} from "./providedContext.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  if (given) {
    project.provide("databaseUrl", given);
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), "arbor-test-"));
  const server = await startPostgres({ folder, log: createLog("warn") });
  project.provide("databaseUrl", server.url);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
